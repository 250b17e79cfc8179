#include "views/explain/explain_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "paint/ribbon.h"

namespace headlight {

namespace {

constexpr float kAnswerWide = 116, kAnswerHigh = 64, kWordWide = 96, kMaxWordRow = 26, kLeastNode = 56,
                kNodeGap = 46, kTagUnder = 18, kBetweenNodes = 10, kMinWordRow = 16;

/// All words if they fit, else those that a path starts from and the one that predicts.
std::vector<CircuitWord> words_shown(const Scene& s, const Explanation& of, float high) {
    std::vector<CircuitWord> all;
    for (int stack = 0; stack < isize(s.sentence()->labels); ++stack)
        for (int token = 0; token < isize(s.sentence()->labels[size_t(stack)]); ++token)
            all.push_back({stack, token});
    if (high / float(all.size()) >= kMinWordRow) return all;
    std::set<std::pair<int, int>> used = words_used(s, of);
    const CircuitWord last = predicting(s, of);
    used.insert({last.stack, last.token});
    all.clear();
    for (const auto& [stack, token] : used) all.push_back({stack, token});
    return all;
}

void place_words(const Scene& s, const Explanation& of, Rect column, CircuitPlan& plan) {
    const std::vector<CircuitWord> words = words_shown(s, of, column.h);
    const float row = std::min(kMaxWordRow, column.h / float(std::max<size_t>(1, words.size())));
    for (size_t i = 0; i < words.size(); ++i)
        plan.words.push_back({words[i],
                              {column.x + kWordIndex, column.y + row * float(i),
                               std::min(kWordWide, column.w) - kWordIndex, row - 2}});
}

/// Places the heads of a column about `middle`, in slots of this height.
void place_column(Rect column, const std::vector<AttentionHead>& own, int number, float top, float slot,
                  CircuitPlan& plan) {
    const float wide = std::clamp(column.w - kNodeGap, kLeastNode, kNodeWide);
    const float tag = wide >= kNodeWide && slot >= kNodeHigh + kTagUnder + gap::tight ? kTagUnder : 0;
    const float high = std::clamp(slot - tag - kBetweenNodes, size::line, kNodeHigh);
    for (size_t i = 0; i < own.size(); ++i) {
        const float y = top + slot * (float(i) + 0.5f);
        const Rect place{column.middle_x() - wide / 2, y - (high + tag) / 2, wide, high};
        plan.heads.push_back({own[i], place, number, {place.x, place.bottom(), column.w, tag}});
    }
}

/// The first column stands in the middle; later ones go down like stairs, so that paths to the answer pass
/// above them. Where there are too many heads for that, each column is spread over the height.
void place_heads(const Scene& s, const Explanation& of, Rect area, CircuitPlan& plan) {
    constexpr float kLeastSlot = 52, kMaxSlot = 92;
    std::vector<std::vector<AttentionHead>> columns;
    for (const AttentionHead head : of.heads) {
        if (columns.empty() || columns.back().front().block != head.block) columns.emplace_back();
        columns.back().push_back(head);
    }
    const int count = isize(columns);
    int later = 0;
    for (int b = 1; b < count; ++b) later += isize(columns[size_t(b)]);
    const float stair = std::min(kMaxSlot, area.h / float(std::max(1, later)));
    float top = area.y + std::max(0.0f, (area.h - stair * float(later)) * 0.25f);
    for (int b = 0; b < count; ++b) {
        const auto& own = columns[size_t(b)];
        const Rect column = nth_column(area, b, count);
        const int block = own.front().block;
        plan.column_wide = column.w;
        plan.columns.push_back({block, block_name(s.model()->config, block)});
        const float even = std::min(kMaxSlot, area.h / float(own.size()));
        const bool stairs = b > 0 && stair >= kLeastSlot;
        place_column(column, own, b, stairs ? top : area.middle_y() - even * float(own.size()) / 2,
                     stairs ? stair : even, plan);
        plan.column_x.push_back(plan.heads.back().place.x);
        if (stairs) top += stair * float(own.size());
    }
}

Rect inflated(Rect r, float by) { return {r.x - by, r.y - by, r.w + 2 * by, r.h + 2 * by}; }

bool runs_through(const DrawnPath& path, Rect r) {
    for (int i = 0; i <= 2 * kPathPieces; ++i)
        if (r.contains(path.at(float(i) / (2 * kPathPieces)))) return true;
    return false;
}

/// A node with its tag.
Rect node_with_tag(const HeadNode& node) {
    return {node.place.x, node.place.y, node.place.w, node.place.h + node.tag.h};
}

/// Lanes between the nodes of each column, of which each serves a path.
class Lanes {
public:
    explicit Lanes(const CircuitPlan& plan) : plan_(plan) {}

    /// Leads a path through the columns in which it would pass behind a node.
    void lead(DrawnPath& path) {
        constexpr float kClear = 5;
        const ImVec2 from = path.knots.front(), to = path.knots.back();
        std::vector<ImVec2> knots{from};
        for (int column = path.from_column + 1; column < path.to_column; ++column) {
            const bool hit = std::any_of(plan_.heads.begin(), plan_.heads.end(), [&](const HeadNode& n) {
                return n.column == column && runs_through(path, inflated(node_with_tag(n), kClear));
            });
            if (!hit) continue;
            const Rect place = std::find_if(plan_.heads.begin(), plan_.heads.end(), [&](const HeadNode& n) {
                                   return n.column == column;
                               })->place;
            const float share = (place.middle_x() - from.x) / std::max(1.0f, to.x - from.x);
            const float y = free_lane(column, from.y + share * (to.y - from.y));
            knots.push_back({place.x - gap::close, y});
            knots.push_back({place.right() + gap::close, y});
        }
        knots.push_back(to);
        path.knots = std::move(knots);
    }

private:
    /// The height nearest to y at which no node stands and no path runs yet.
    float free_lane(int column, float y) {
        constexpr float kStep = 3, kApart = 7, kClear = 9;
        constexpr int kMost = 200;
        auto& taken = taken_[column];
        const auto is_free = [&](float at) {
            if (at < plan_.between.y || at > plan_.between.bottom()) return false;
            for (const HeadNode& n : plan_.heads) {
                const Rect r = inflated(node_with_tag(n), kClear);
                if (n.column == column && at > r.y && at < r.bottom()) return false;
            }
            return std::none_of(taken.begin(), taken.end(),
                                [&](float other) { return std::abs(other - at) < kApart; });
        };
        for (int i = 0; i < kMost; ++i) {
            const float at = y + (i % 2 ? 1.0f : -1.0f) * kStep * float((i + 1) / 2);
            if (!is_free(at)) continue;
            taken.push_back(at);
            return at;
        }
        return y;
    }

    const CircuitPlan& plan_;
    std::map<int, std::vector<float>> taken_;
};

void spread_ends(std::vector<DrawnPath>& paths, bool at_end) {
    const auto end = [&](DrawnPath* p) -> ImVec2& { return at_end ? p->knots.back() : p->knots.front(); };
    const auto other = [&](DrawnPath* p) -> ImVec2& { return at_end ? p->knots.front() : p->knots.back(); };
    std::vector<DrawnPath*> all;
    for (DrawnPath& path : paths) all.push_back(&path);
    std::stable_sort(all.begin(), all.end(), [&](DrawnPath* a, DrawnPath* b) {
        return std::tuple(end(a).x, end(a).y, other(a).y) < std::tuple(end(b).x, end(b).y, other(b).y);
    });
    for (size_t first = 0; first < all.size();) {
        size_t last = first;
        const ImVec2 at = end(all[first]);
        while (last < all.size() && end(all[last]).x == at.x && end(all[last]).y == at.y) ++last;
        const float apart = std::min(10.0f, 40.0f / float(last - first));
        for (size_t i = first; i < last; ++i)
            end(all[i]).y = at.y + apart * (float(i - first) - float(last - first - 1) / 2);
        first = last;
    }
}

}  // namespace

const HeadNode* CircuitPlan::of_head(AttentionHead head) const {
    for (const HeadNode& node : heads)
        if (node.head == head) return &node;
    return nullptr;
}

const Rect* CircuitPlan::of_word(CircuitWord word) const {
    for (const WordNode& node : words)
        if (node.word == word) return &node.place;
    return nullptr;
}

/// Each piece between two knots has its share of t by its width.
ImVec2 DrawnPath::at(float t) const {
    const float x = knots.front().x + t * (knots.back().x - knots.front().x);
    for (size_t i = 1; i < knots.size(); ++i) {
        const ImVec2 a = knots[i - 1], b = knots[i];
        if (x > b.x && i + 1 < knots.size()) continue;
        const CurvePoint c = curve_at(std::clamp((x - a.x) / std::max(1e-3f, b.x - a.x), 0.0f, 1.0f));
        return {a.x + c.across * (b.x - a.x), a.y + c.rise * (b.y - a.y)};
    }
    return knots.back();
}

CircuitWord word_of(const Scene& s, const PathEdge& edge) {
    return {s.model()->config.block(edge.to.block).key_stack, edge.token};
}

CircuitWord predicting(const Scene& s, const Explanation& of) {
    return {isize(s.sentence()->labels) - 1, of.metric.position};
}

std::set<std::pair<int, int>> words_used(const Scene& s, const Explanation& of) {
    std::set<std::pair<int, int>> out;
    for (const PathEdge& edge : of.edges)
        if (edge.token >= 0) out.insert({word_of(s, edge).stack, edge.token});
    return out;
}

CircuitPlan plan_circuit(const Scene& s, const Explanation& of, Rect area) {
    constexpr float kAnswerAt = 0.3f;
    CircuitPlan plan;
    take_top(area, kColumnName);
    place_words(s, of, take_left(area, kWordWide, gap::large), plan);
    const Rect right = take_right(area, kAnswerWide, gap::large);
    plan.answer = {right.x, right.y + kAnswerAt * right.h - kAnswerHigh / 2, right.w, kAnswerHigh};
    place_heads(s, of, area, plan);
    plan.between = area;
    return plan;
}

std::vector<DrawnPath> drawn_paths(const Scene& s, const Explanation& of, const CircuitPlan& plan) {
    std::vector<DrawnPath> out;
    const float solid = edges_from(s, of);
    const ExplanationStep* step = shown_step(s);
    for (const PathEdge& edge : of.edges) {
        const HeadNode *sender = edge.token >= 0 ? nullptr : plan.of_head(edge.from),
                       *receiver = edge.to_answer ? nullptr : plan.of_head(edge.to);
        const Rect* from = edge.token >= 0 ? plan.of_word(word_of(s, edge))
                           : sender        ? &sender->place
                                           : nullptr;
        const Rect* to = edge.to_answer ? &plan.answer : receiver ? &receiver->place : nullptr;
        if (!from || !to) continue;
        out.push_back({edge,
                       {{from->right(), from->middle_y()}, {to->x, to->middle_y()}},
                       sender ? sender->column : -1,
                       receiver ? receiver->column : isize(plan.columns),
                       std::abs(edge.effect) >= solid,
                       is_highlighted(s, edge),
                       step && !step->holds(edge)});
    }
    spread_ends(out, false);
    spread_ends(out, true);
    Lanes lanes(plan);
    for (DrawnPath& path : out) lanes.lead(path);  // the strongest first
    return out;
}

}  // namespace headlight
