// Analyzes heads by weights alone: composition, and the selected head's QK and OV circuits.
#pragma once

#include "analysis/circuits/circuits.h"
#include "analysis/circuits/composition.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// The number of vocabulary tokens searched for pairs; 0: all.
inline constexpr std::array<int, 3> kCircuitTokenValues{2048, 8192, 0};
inline constexpr std::span<const int> kCircuitTokens = kCircuitTokenValues;

/// The reader's inputs, by kind of composition.
inline constexpr std::array<const char*, kCompositionKinds> kReadBy{"queries", "keys", "values"};

/// Limits of the number of compositions in the graph.
inline constexpr int kLeastComposed = 5, kMaxComposed = kRankedCompositions;

struct CircuitsState {
    CompositionKind kind = CompositionKind::k;                    // of the map
    bool graph = false;                                           // not the map
    int strongest = 60;                                           // number of compositions in the graph
    std::array<bool, kCompositionKinds> kinds{true, true, true};  // shown in the graph
    int tokens = 8192;
    std::optional<std::pair<int, int>> pointed;  // reader and writer, by ModelConfig::head_index
    void visit(FieldVisitor& visitor);
};

/// "2.1 reads 0.3: 0.123".
std::string composed_text(const ModelConfig& config, int reader, int writer, float value);

/// Compositions of all pairs, or null until known.
std::shared_ptr<const Composition> composition_found(const Scene& scene);

void draw_circuits(Scene& scene, Rect area);
/// Draws scores of the selected head, the strongest pairs of heads, and its pairs of tokens.
void draw_circuits_side(Scene& scene, Rect area);
/// Draws heads as nodes by layer, the strongest compositions as edges.
void draw_circuits_graph(Scene& scene, Rect area, const Composition& of);
void choose_composed(Scene& scene, Toolbar& bar);

View circuits_view();

}  // namespace headlight
