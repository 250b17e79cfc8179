// Draws the circuit: words, heads, the answer, and paths as labeled curves.
#include <algorithm>
#include <cmath>

#include "paint/matrix.h"
#include "parts/head_tags.h"
#include "views/explain/explain_plan.h"

namespace headlight {

namespace {

constexpr float kPattern = 46, kLogitWide = 1.8f, kDimmed = 0.45f;

/// Returns what leaving a word out costs, as a share of the most; 0: not measured.
float share_left_out(const Explanation& of, CircuitWord word) {
    float largest = 1e-6f, own = 0;
    for (const LeftOutWord& one : of.words) {
        largest = std::max(largest, std::abs(one.effect));
        if (one.stack == word.stack && one.token == word.token) own = one.effect;
    }
    return own / largest;
}

/// Dims what is outside the shown step.
void dim_outside(Ui& ui, Rect r, bool outside) {
    if (outside) ui.fill(inset(r, -1, -1), faded(ui.colors->bg1, 1 - kDimmed), size::corner);
}

ImU32 path_ink(const Ui& ui, const DrawnPath& path, ImU32 highlighted) {
    return path.on ? highlighted : path.edge.effect >= 0 ? ui.colors->plus : ui.colors->minus;
}

void draw_path(Ui& ui, const DrawnPath& path) {
    constexpr float kMaxWide = 14, kOutside = 0.3f;
    const float width = std::clamp(std::abs(path.edge.effect) * kLogitWide, 1.0f, kMaxWide);
    const float strength = (path.on ? 1 : path.solid ? 0.6f : 0.45f) * (path.dim && !path.on ? kOutside : 1);
    const ImU32 ink = faded(path_ink(ui, path, ui.colors->accent), strength);
    if (path.solid) {
        for (size_t i = 1; i < path.knots.size(); ++i) ui.curve(path.knots[i - 1], path.knots[i], ink, width);
        return;
    }
    for (int i = 0; i < kPathPieces; i += 2)
        ui.stroke(path.at(float(i) / kPathPieces), path.at(float(i + 1) / kPathPieces), ink, 1);
}

/// Writes a path's value where it covers neither another value nor a node; of a solid path beside it if
/// there is no room on it.
void label_path(Ui& ui, const DrawnPath& path, std::vector<Rect>& taken) {
    constexpr float kHigh = 16, kPad = 3;
    const std::string text = signed_number(path.edge.effect, 2);
    const float wide = ui.text.width(kCaptionMono, text) + 2 * kPad;
    std::vector<float> beside{0};
    if (path.solid || path.on) beside = {0, -12, 12, -22, 22, -34, 34};
    for (const float off : beside)
        for (const float t : {0.5f, 0.62f, 0.38f, 0.72f, 0.28f, 0.8f, 0.2f, 0.88f, 0.12f, 0.95f, 0.05f}) {
            const ImVec2 at = path.at(t);
            const Rect box{at.x - wide / 2, at.y + off - kHigh / 2, wide, kHigh};
            if (std::any_of(taken.begin(), taken.end(), [&](Rect r) { return overlap(r, box); })) continue;
            taken.push_back(box);
            ui.fill(box, faded(ui.colors->bg1, 0.85f), size::corner);
            const ImU32 ink = path.dim && !path.on    ? ui.colors->l2
                              : path.on || path.solid ? path_ink(ui, path, ui.colors->accent_text)
                                                      : ui.colors->t3;
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
                    s.sentence()->trace->is_mixing(head.block)
                        ? MatrixCells{signed_places_of(small, largest_entry(small)),
                                      signed_colormap(ui.colors->dark), true}
                        : MatrixCells{places_of(small, std::max(1e-6f, small.maxCoeff())),
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

/// Draws the head's pattern beside its name, or below it where the column is narrow.
void fill_node(Scene& s, const HeadNode& node, ImU32 ink) {
    constexpr float kLeastPattern = 22;
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const std::string short_name =
        std::to_string(c.block(node.head.block).layer) + "." + std::to_string(node.head.head);
    const auto tags = tags_of(s, node.head);
    const std::string glyph = tags.empty() ? "" : tags.front().row->glyph;
    const float pad = (kNodeHigh - kPattern) / 2;
    Rect inside = inset(node.place, gap::tight + 2, gap::tight);
    if (node.place.w >= kNodeWide && node.place.h >= kPattern + 2 * gap::tight) {
        inside = inset(node.place, pad, pad);
        const float side =
            std::clamp(inside.w - ui.text.width(kBodyMono, short_name) - gap::small, kPattern / 2, kPattern);
        draw_pattern(s, node.head, band(take_left(inside, side, gap::small), side));
        Rect line = take_top(inside, size::line);
        write(ui, line, kBodyMono, ink,
              first_that_fits(ui, kBodyMono, {head_name(c, node.head), short_name}, line.w));
        write(ui, inside, kBody, ui.colors->t2, glyph);
        return;
    }
    const bool pictured = inside.h >= size::line + kLeastPattern;
    const Rect line = pictured ? take_top(inside, size::line) : inside;
    write(ui, line, kBodyMono, ink, short_name);
    write(ui, line, kCaption, ui.colors->t2, glyph, Flush::right);
    if (pictured) draw_pattern(s, node.head, square_at(inside.middle(), std::min(inside.h, inside.w)));
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
    fill_node(s, node, selected ? ui.colors->accent_text : ui.colors->t1);
    const auto tags = tags_of(s, node.head);
    float wide = node.place.w;
    if (node.tag.h > 0 && !tags.empty())
        wide =
            std::max(wide, write(ui, node.tag, kCaption, ui.colors->t2,
                                 std::string(tags.front().row->word) + " " + number(tags.front().value, 2)));
    const ExplanationStep* step = shown_step(s);
    dim_outside(ui, {node.place.x, node.place.y, wide, node.place.h + node.tag.h},
                step && !step->holds(node.head) && !hit.hovered);
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
    const auto used = words_used(s, of);
    const ExplanationStep* step = shown_step(s);
    float free = -1e9f;  // below the last label: in a low window those that would stand over it are left out
    for (const auto& [word, place] : plan.words) {
        const bool on = used.count({word.stack, word.token}) > 0, last = word == predicting(s, of);
        if (on || last) ui.fill(place, last ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
        if (const float share = share_left_out(of, word); share != 0) {
            const float wide = place.w * std::abs(share);
            ui.fill({place.x, place.bottom() - 2, wide, 2}, share > 0 ? ui.colors->plus : ui.colors->minus);
        }
        const bool room = place.middle_y() >= free;
        if (room) free = place.middle_y() + size::line * 0.75f;
        const Rect index{place.x - kWordIndex, place.y, kWordIndex - gap::small, place.h};
        const ImU32 ink = last ? ui.colors->accent_text : on ? ui.colors->t1 : ui.colors->t3;
        if (room) {
            write(ui, index, kCaptionMono, on ? ui.colors->t2 : ui.colors->t3, std::to_string(word.token),
                  Flush::right);
            write(ui, inset(place, gap::small, 0), kCaptionMono, ink,
                  s.sentence()->labels[size_t(word.stack)][size_t(word.token)]);
        }
        dim_outside(ui, place, step && (on || last) && !contains(step->words, word));
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
    const ExplanationStep* step = shown_step(s);
    dim_outside(ui, at, step && !step->writes);
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
    constexpr int kLookedAt = 3 * kPathPieces;
    auto& state = s.of<ExplainState>();
    state.pointed.reset();
    const Hit hit = s.ui.hit("explain/paths", area);
    if (!hit.hovered) return;
    for (const HeadNode& node : plan.heads)
        if (node.place.contains(hit.mouse)) return;
    float nearest = kNearby;
    for (const DrawnPath& path : paths)
        for (int i = 0; i <= kLookedAt; ++i) {
            const ImVec2 at = path.at(float(i) / kLookedAt);
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
        const HeadNode *from = plan.of_head(edge.from), *to = plan.of_head(edge.to);
        if (from && to)
            s.ui.curve({from->place.right(), from->place.middle_y()}, {to->place.x, to->place.middle_y()},
                       s.ui.colors->l2, 1);
    }
}

void label_paths(Scene& s, Rect area, const std::vector<DrawnPath>& paths, const CircuitPlan& plan) {
    constexpr float kAround = 400;  // names of columns, and what stands above and below the drawing
    std::vector<Rect> taken{plan.answer,
                            {area.x, area.y - kAround, area.w, kAround + kColumnName},
                            {area.x, area.bottom(), area.w, kAround}};
    for (const HeadNode& node : plan.heads)
        taken.push_back({node.place.x, node.place.y, node.place.w, node.place.h + node.tag.h});
    for (const WordNode& node : plan.words) taken.push_back(node.place);
    std::vector<const DrawnPath*> by_strength;
    for (const DrawnPath& path : paths) by_strength.push_back(&path);
    std::stable_sort(by_strength.begin(), by_strength.end(), [](const DrawnPath* a, const DrawnPath* b) {
        const float x = std::abs(a->edge.effect), y = std::abs(b->edge.effect);
        return a->on != b->on ? a->on : x > y;
    });
    for (const DrawnPath* path : by_strength) label_path(s.ui, *path, taken);
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
    draw_words(s, of, plan);
    for (const HeadNode& node : plan.heads) draw_node(s, node, of);
    draw_answer(s, of, plan.answer);
    label_paths(s, area, paths, plan);
}

}  // namespace headlight
