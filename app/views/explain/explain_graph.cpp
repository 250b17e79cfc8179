// Draws the circuit: words on the left, heads by layer, the answer on the right, paths as labeled curves.
#include <algorithm>
#include <cmath>
#include <set>

#include "paint/matrix.h"
#include "paint/ribbon.h"
#include "views/explain/explain.h"

namespace headlight {

namespace {

constexpr float kNodeWide = 100, kNodeHigh = 60, kPattern = 46, kAnswerWide = 116, kAnswerHigh = 64,
                kWordWide = 96, kWordIndex = 26, kLogitWide = 1.8f, kColumnName = 28, kMaxWordRow = 26;

struct HeadNode {
    AttentionHead head;
    Rect place;
};

struct DrawnPath {
    const PathEdge& edge;
    ImVec2 from, to;
    bool solid, on;
};

struct Word {
    int stack, token;
    auto operator<=>(const Word&) const = default;
};
struct WordNode {
    Word word;
    Rect place;
};

struct CircuitPlan {
    std::vector<HeadNode> heads;
    std::vector<std::pair<int, std::string>> columns;  // block and its name
    std::vector<float> column_x;
    float column_wide = 0;
    std::vector<WordNode> words;
    Rect answer;

    const Rect* of_head(AttentionHead head) const {
        for (const HeadNode& node : heads)
            if (node.head == head) return &node.place;
        return nullptr;
    }
    const Rect* of_word(Word word) const {
        for (const WordNode& node : words)
            if (node.word == word) return &node.place;
        return nullptr;
    }
};

Word word_of(const Scene& s, const PathEdge& edge) {
    return {s.model()->config.block(edge.to.block).key_stack(), edge.token};
}

/// Returns what leaving a word out costs, as a share of the most; 0: not measured.
float share_left_out(const Explanation& of, Word word) {
    float largest = 1e-6f, own = 0;
    for (const LeftOutWord& one : of.words) {
        largest = std::max(largest, std::abs(one.effect));
        if (one.stack == word.stack && one.token == word.token) own = one.effect;
    }
    return own / largest;
}

/// The token at which the answer is predicted.
Word predicting(const Scene& s, const Explanation& of) {
    return {isize(s.sentence()->labels) - 1, of.metric.position};
}

std::set<Word> words_used(const Scene& s, const Explanation& of) {
    std::set<Word> out;
    for (const PathEdge& edge : of.edges)
        if (edge.token >= 0) out.insert(word_of(s, edge));
    return out;
}

/// All words if they fit, else those that a path starts from and the one that predicts.
std::vector<Word> words_shown(const Scene& s, const Explanation& of, float high) {
    constexpr float kMinRow = 16;
    std::vector<Word> all;
    for (int stack = 0; stack < isize(s.sentence()->labels); ++stack)
        for (int token = 0; token < isize(s.sentence()->labels[size_t(stack)]); ++token)
            all.push_back({stack, token});
    if (high / float(all.size()) >= kMinRow) return all;
    std::set<Word> used = words_used(s, of);
    used.insert(predicting(s, of));
    return {used.begin(), used.end()};
}

void place_words(const Scene& s, const Explanation& of, Rect column, CircuitPlan& plan) {
    const std::vector<Word> words = words_shown(s, of, column.h);
    const float row = std::min(kMaxWordRow, column.h / float(std::max<size_t>(1, words.size())));
    for (size_t i = 0; i < words.size(); ++i)
        plan.words.push_back({words[i],
                              {column.x + kWordIndex, column.y + row * float(i),
                               std::min(kWordWide, column.w) - kWordIndex, row - 2}});
}

/// Places one column per block with heads of the circuit.
void place_heads(const Scene& s, const Explanation& of, Rect area, CircuitPlan& plan) {
    std::vector<int> blocks;
    for (const AttentionHead head : of.heads)
        if (blocks.empty() || blocks.back() != head.block) blocks.push_back(head.block);
    for (size_t b = 0; b < blocks.size(); ++b) {
        const Rect column = nth_column(area, narrow<int>(b), isize(blocks));
        plan.column_wide = column.w;
        std::vector<AttentionHead> own;
        for (const AttentionHead head : of.heads)
            if (head.block == blocks[b]) own.push_back(head);
        plan.columns.push_back({blocks[b], block_name(s.model()->config, blocks[b])});
        plan.column_x.push_back(column.middle_x() - std::min(kNodeWide, column.w) / 2);
        const float high = std::clamp(column.h / float(own.size()) - gap::close, size::line, kNodeHigh),
                    wide = std::min(kNodeWide, column.w - gap::tight);
        // Lowers later layers, so that edges into the answer do not overlap.
        const float crowded = (high + gap::close) * float(own.size()) / column.h,
                    lean = 0.14f * column.h * std::max(0.0f, 1 - 1.4f * crowded) *
                           (float(b) / float(std::max<size_t>(1, blocks.size() - 1)) - 0.5f);
        for (size_t i = 0; i < own.size(); ++i) {
            const float share = (float(i) + 0.5f) / float(own.size());
            const float inset = crowded > 0.7f ? 0 : high;
            const float y = column.y + inset + (column.h - 2 * inset) * share + lean;
            plan.heads.push_back({own[i], {column.middle_x() - wide / 2, y - high / 2, wide, high}});
        }
    }
}

CircuitPlan plan_circuit(const Scene& s, const Explanation& of, Rect area) {
    CircuitPlan plan;
    take_top(area, kColumnName);
    place_words(s, of, take_left(area, kWordWide, gap::wide), plan);
    const Rect right = take_right(area, kAnswerWide, gap::wide);
    plan.answer = {right.x, right.middle_y() - kAnswerHigh / 2, right.w, kAnswerHigh};
    place_heads(s, of, area, plan);
    return plan;
}

/// Spreads the ends of paths along each side of a node, ordered by their other ends.
std::vector<DrawnPath> drawn_paths(const Scene& s, const Explanation& of, const CircuitPlan& plan) {
    std::vector<DrawnPath> out;
    const float solid = edges_from(s, of);
    for (const PathEdge& edge : of.edges) {
        const Rect* from = edge.token >= 0 ? plan.of_word(word_of(s, edge)) : plan.of_head(edge.from);
        const Rect* to = edge.to_answer ? &plan.answer : plan.of_head(edge.to);
        if (!from || !to) continue;
        out.push_back({edge,
                       {from->right(), from->middle_y()},
                       {to->x, to->middle_y()},
                       std::abs(edge.effect) >= solid,
                       is_highlighted(s, edge)});
    }
    const auto spread = [&](ImVec2 DrawnPath::*end, ImVec2 DrawnPath::*other) {
        std::vector<DrawnPath*> all;
        for (DrawnPath& path : out) all.push_back(&path);
        std::stable_sort(all.begin(), all.end(), [&](const DrawnPath* a, const DrawnPath* b) {
            return std::tuple((a->*end).x, (a->*end).y, (a->*other).y) <
                   std::tuple((b->*end).x, (b->*end).y, (b->*other).y);
        });
        for (size_t first = 0; first < all.size();) {
            size_t last = first;
            const ImVec2 at = all[first]->*end;
            while (last < all.size() && (all[last]->*end).x == at.x && (all[last]->*end).y == at.y) ++last;
            const float apart = std::min(10.0f, 40.0f / float(last - first));
            for (size_t i = first; i < last; ++i)
                (all[i]->*end).y = at.y + apart * (float(i - first) - float(last - first - 1) / 2);
            first = last;
        }
    };
    spread(&DrawnPath::from, &DrawnPath::to);
    spread(&DrawnPath::to, &DrawnPath::from);
    return out;
}

ImVec2 along(const DrawnPath& path, float t) {
    const CurvePoint at = curve_at(t);
    return {path.from.x + at.across * (path.to.x - path.from.x),
            path.from.y + at.rise * (path.to.y - path.from.y)};
}

constexpr int kPieces = 28;

ImU32 path_ink(const Ui& ui, const DrawnPath& path, ImU32 highlighted) {
    return path.on ? highlighted : path.edge.effect >= 0 ? ui.colors->plus : ui.colors->minus;
}

void draw_path(Ui& ui, const DrawnPath& path) {
    constexpr float kMaxWide = 14;
    const float width = std::clamp(std::abs(path.edge.effect) * kLogitWide, 1.0f, kMaxWide);
    const ImU32 ink = faded(path_ink(ui, path, ui.colors->accent), path.on ? 1 : path.solid ? 0.6f : 0.45f);
    if (path.solid) return ui.curve(path.from, path.to, ink, width);
    for (int i = 0; i < kPieces; i += 2)
        ui.stroke(along(path, float(i) / kPieces), along(path, float(i + 1) / kPieces), ink, 1);
}

bool overlap(Rect a, Rect b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// Writes a path's value where it covers neither another value nor a node.
void label_path(Ui& ui, const DrawnPath& path, std::vector<Rect>& taken) {
    constexpr float kHigh = 20, kPad = 3;
    const std::string text = signed_number(path.edge.effect, 2);
    const float wide = ui.text.width(kCaptionMono, text) + 2 * kPad;
    for (const float t :
         {0.5f, 0.62f, 0.38f, 0.72f, 0.28f, 0.8f, 0.2f, 0.56f, 0.44f, 0.67f, 0.33f, 0.88f, 0.12f}) {
        const ImVec2 at = along(path, t);
        const Rect box{at.x - wide / 2, at.y - kHigh / 2, wide, kHigh};
        if (std::any_of(taken.begin(), taken.end(), [&](Rect r) { return overlap(r, box); })) continue;
        taken.push_back(box);
        ui.fill(box, ui.colors->bg1, size::corner);
        const ImU32 ink = path.on || path.solid ? path_ink(ui, path, ui.colors->accent_text) : ui.colors->t3;
        write(ui, inset(box, kPad, 0), kCaptionMono, ink, text);
        return;
    }
}

void draw_pattern(Scene& s, AttentionHead head, Rect at) {
    Ui& ui = s.ui;
    const int index = s.model()->config.head_index(head);
    ui.fill(at, ui.colors->bg0);
    if (ui.on_page()) {
        const Matrix& small = s.sentence()->heads[size_t(index)].thumbnail;
        draw_matrix(ui, at,
                    {places_of(small, std::max(1e-6f, small.maxCoeff())),
                     colormap(s.session.preferences.colormap, ui.colors->dark)});
        return;
    }
    if (!s.pictures.thumbnails) return;
    GridDraw d = thumbnail_grid(s, at.w);
    d.across = 1;
    d.slots = {{index, 0, s.pictures.largest}};
    d.pitch = ui.pixels(ImVec2{at.w, at.h});
    const Rect r = ui.pixels(at);
    d.rect = {r.x, r.y, r.w, r.h};
    ui.heat->draw(*ui.list, d);
}

void draw_node(Scene& s, const HeadNode& node, const Explanation& of) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const std::string name = head_name(c, node.head), path = "explain/head/" + head_path(c, node.head);
    const bool selected = !ui.on_page() && node.head == AttentionHead{s.block(), s.head()};
    const Hit hit = ui.control(path, node.place);
    ui.fill(node.place, ui.colors->bg2, size::corner);
    ui.frame(node.place,
             hit.hovered ? ui.colors->hover
             : selected  ? ui.colors->accent
                         : ui.colors->l2,
             selected ? 2 : 1, size::corner);
    const float pad = (kNodeHigh - kPattern) / 2;
    const bool roomy = node.place.h >= kPattern + 2 * gap::tight && node.place.w >= kNodeWide;
    Rect inside = roomy ? inset(node.place, pad, pad) : inset(node.place, gap::tight, 0);
    const std::string short_name =
        std::to_string(c.block(node.head.block).layer) + "." + std::to_string(node.head.head);
    if (roomy) {  // the picture gives way to the number
        const float side =
            std::clamp(inside.w - ui.text.width(kBodyMono, short_name) - gap::small, kPattern / 2, kPattern);
        draw_pattern(s, node.head, band(take_left(inside, side, gap::small), side));
    }
    write(ui, roomy ? take_top(inside, size::line) : inside, kBodyMono,
          selected ? ui.colors->accent_text : ui.colors->t1,
          first_that_fits(ui, kBodyMono, {name, short_name}, inside.w));
    const float ablated = of.ablated[node.head];
    ui.tooltip(
        path, hit,
        "Head " + name + ": " + signed_number(of.direct[node.head], 2) + " directly to the answer; " +
            (std::isnan(ablated) ? "" : "ablating the head lowers it by " + number(ablated, 2) + ". ") +
            "Click to select it.");
    if (!hit.clicked) return;
    s.select(node.head.block, node.head.head);
    s.leave_text();
}

void draw_words(Scene& s, const Explanation& of, const CircuitPlan& plan) {
    Ui& ui = s.ui;
    const std::set<Word> used = words_used(s, of);
    for (const auto& [word, place] : plan.words) {
        const bool on = used.count(word) > 0, last = word == predicting(s, of);
        if (on || last) ui.fill(place, last ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
        if (const float share = share_left_out(of, word); share != 0) {
            const float wide = place.w * std::abs(share);
            ui.fill({place.x, place.bottom() - 2, wide, 2}, share > 0 ? ui.colors->plus : ui.colors->minus);
        }
        const Rect index{place.x - kWordIndex, place.y, kWordIndex - gap::small, place.h};
        write(ui, index, kCaptionMono, on ? ui.colors->t2 : ui.colors->t3, std::to_string(word.token),
              Flush::right);
        write(ui, inset(place, gap::small, 0), kCaptionMono,
              last ? ui.colors->accent_text
              : on ? ui.colors->t1
                   : ui.colors->t3,
              s.sentence()->labels[size_t(word.stack)][size_t(word.token)]);
    }
}

void draw_answer(Scene& s, const Explanation& of, Rect at) {
    Ui& ui = s.ui;
    ui.fill(at, ui.colors->accent_fill, size::corner);
    ui.frame(at, ui.colors->accent, 1, size::corner);
    Rect rest = inset(at, gap::small, gap::small);
    write(ui, take_top(rest, size::line + gap::tight), kTitleMono, ui.colors->accent_text, answer_name(s, of),
          Flush::center);
    write(ui, rest, kBodyMono, ui.colors->accent_text,
          of.metric.kind == MetricKind::difference ? signed_number(of.clean.value, 2)
                                                   : percent(of.clean.probability),
          Flush::center);
}

void name_columns(Scene& s, const CircuitPlan& plan, Rect area) {
    Ui& ui = s.ui;
    const float middle = area.y + kColumnName / 2;
    ui.text.draw(area.x + kWordIndex, middle, kCaption, ui.colors->t3, "word");
    for (size_t i = 0; i < plan.columns.size(); ++i) {
        const std::string& block = plan.columns[i].second;
        ui.text.draw(
            plan.column_x[i], middle, kCaption, ui.colors->t3,
            first_that_fits(ui, kCaption,
                            {(s.model()->config.stacks.size() > 1 ? "" : "layer ") + block, block, ""},
                            plan.column_wide));
    }
    ui.text.draw(plan.answer.x, middle, kCaption, ui.colors->t3, "answer");
}

/// Finds the path under the mouse; a click holds it.
void answer_paths(Scene& s, Rect area, const std::vector<DrawnPath>& paths, const CircuitPlan& plan) {
    constexpr float kNearby = 7;
    auto& state = s.of<ExplainState>();
    state.pointed.reset();
    const Hit hit = s.ui.hit("explain/paths", area);
    if (!hit.hovered) return;
    for (const HeadNode& node : plan.heads)
        if (node.place.contains(hit.mouse)) return;
    float nearest = kNearby;
    for (const DrawnPath& path : paths)
        for (int i = 0; i <= 2 * kPieces; ++i) {
            const ImVec2 at = along(path, float(i) / (2 * kPieces));
            const float away = std::hypot(at.x - hit.mouse.x, at.y - hit.mouse.y);
            if (away >= nearest) continue;
            nearest = away;
            state.pointed = path.edge;
        }
    if (!hit.clicked) return;
    const bool again = state.held && state.pointed && state.held->same_path(*state.pointed);
    state.held = again ? std::nullopt : state.pointed;
    s.leave_text();
}

/// Draws the paths that are not measured yet, thin and without a number.
void draw_waiting(Scene& s, const Explanation& of, const CircuitPlan& plan) {
    for (const PathEdge& edge : of.waiting) {
        const Rect *from = plan.of_head(edge.from), *to = plan.of_head(edge.to);
        if (from && to)
            s.ui.curve({from->right(), from->middle_y()}, {to->x, to->middle_y()}, s.ui.colors->l2, 1);
    }
}

}  // namespace

void draw_explanation(Scene& s, Rect area, const Explanation& of) {
    const CircuitPlan plan = plan_circuit(s, of, area);
    const std::vector<DrawnPath> paths = drawn_paths(s, of, plan);
    name_columns(s, plan, area);
    if (!s.ui.on_page()) answer_paths(s, area, paths, plan);
    draw_waiting(s, of, plan);
    for (const bool on : {false, true})
        for (const DrawnPath& path : paths)
            if (path.on == on) draw_path(s.ui, path);
    std::vector<Rect> taken{plan.answer};
    for (const HeadNode& node : plan.heads) taken.push_back(node.place);
    for (const WordNode& node : plan.words) taken.push_back(node.place);
    std::vector<const DrawnPath*> by_strength;
    for (const DrawnPath& path : paths) by_strength.push_back(&path);
    std::stable_sort(by_strength.begin(), by_strength.end(), [](const DrawnPath* a, const DrawnPath* b) {
        const float x = std::abs(a->edge.effect), y = std::abs(b->edge.effect);
        return a->on != b->on ? a->on : x > y;
    });
    for (const DrawnPath* path : by_strength) label_path(s.ui, *path, taken);
    draw_words(s, of, plan);
    for (const HeadNode& node : plan.heads) draw_node(s, node, of);
    draw_answer(s, of, plan.answer);
}

}  // namespace headlight
