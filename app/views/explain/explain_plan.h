// Places the circuit: words on the left, heads by layer, the answer on the right, paths around what they
// pass.
#pragma once

#include <set>

#include "views/explain/explain.h"

namespace headlight {

struct HeadNode {
    AttentionHead head;
    Rect place;
    int column;
    Rect tag = {};  // under it; no height where there is no room
};

using CircuitWord = ExplanationStep::Word;
struct WordNode {
    CircuitWord word;
    Rect place;
};

/// A path as it is drawn: through `knots` from left to right, level at each.
struct DrawnPath {
    const PathEdge& edge;
    std::vector<ImVec2> knots;
    int from_column, to_column;  // −1: words; the number of columns: the answer
    bool solid, on, dim;
    ImVec2 at(float t) const;
};

struct CircuitPlan {
    std::vector<HeadNode> heads;
    std::vector<std::pair<int, std::string>> columns;  // block and its name
    std::vector<float> column_x;
    float column_wide = 0;
    std::vector<WordNode> words;
    Rect answer;
    Rect between;  // words and answer, where paths run

    const HeadNode* of_head(AttentionHead head) const;
    const Rect* of_word(CircuitWord word) const;
};

inline constexpr float kNodeWide = 100, kNodeHigh = 60, kColumnName = 28, kWordIndex = 26;
inline constexpr int kPathPieces = 28;

CircuitPlan plan_circuit(const Scene& scene, const Explanation& of, Rect area);
/// Spreads the ends of paths along each side of a node, and leads them around nodes of other columns.
std::vector<DrawnPath> drawn_paths(const Scene& scene, const Explanation& of, const CircuitPlan& plan);

CircuitWord word_of(const Scene& scene, const PathEdge& edge);
std::set<std::pair<int, int>> words_used(const Scene& scene, const Explanation& of);
/// The token at which the answer is predicted.
CircuitWord predicting(const Scene& scene, const Explanation& of);

}  // namespace headlight
