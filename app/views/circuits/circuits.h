// What heads do by their weights alone: which read what others write, and what the chosen head seeks and
// promotes over the vocabulary.
#pragma once

#include "analysis/circuits/circuits.h"
#include "analysis/circuits/composition.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// The first tokens of the vocabulary, among which pairs are looked for; 0: all.
inline constexpr std::array<int, 3> kCircuitTokenValues{2048, 8192, 0};
inline constexpr std::span<const int> kCircuitTokens = kCircuitTokenValues;

/// What a kind of composition reads with: "queries", "keys", "values".
inline constexpr std::array<const char*, kCompositionKinds> kReadBy{"queries", "keys", "values"};

/// How many compositions the graph shows: at least, at most.
inline constexpr int kLeastComposed = 5, kMaxComposed = kRankedCompositions;

struct CircuitsState {
    CompositionKind kind = CompositionKind::k;                    // of the map
    bool graph = false;                                           // in place of the map
    int strongest = 60;                                           // compositions in the graph
    std::array<bool, kCompositionKinds> kinds{true, true, true};  // that it shows
    int tokens = 8192;
    std::optional<std::pair<int, int>> pointed;  // heads that read and write, by ModelConfig::head_index
    void visit(FieldVisitor& visitor);
};

/// "2.1 reads 0.3: 0.123".
std::string composed_text(const ModelConfig& config, int reader, int writer, float value);

/// Compositions of all pairs, or null while they are not known.
const Composition* composition_found(const Scene& scene);

void draw_circuits(Scene& scene, Rect area);
/// Scores of the chosen head, the strongest pairs of heads, and its pairs of tokens.
void draw_circuits_side(Scene& scene, Rect area);
/// Heads as nodes by layer, the strongest compositions as edges; and how many, and of which kinds.
void draw_circuits_graph(Scene& scene, Rect area, const Composition& of);
void choose_composed(Scene& scene, Toolbar& bar);

View circuits_view();

}  // namespace headlight
