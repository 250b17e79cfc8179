// What heads do by their weights alone: which read what others write, and what the chosen head seeks and
// promotes over the vocabulary.
#pragma once

#include "analysis/circuits.h"
#include "analysis/composition.h"
#include "views/parts.h"

namespace headlight {

struct View;

/// The first tokens of the vocabulary, among which pairs are looked for; 0: all.
inline constexpr std::array<int, 3> kCircuitTokenValues{2048, 8192, 0};
inline constexpr std::span<const int> kCircuitTokens = kCircuitTokenValues;

struct CircuitsState {
    CompositionKind kind = CompositionKind::k;
    int tokens = 8192;
    std::optional<std::pair<int, int>> pointed;  // heads that read and write, by ModelConfig::head_index
    void visit(FieldVisitor& v) {
        v.choose("circuits_kind", kind,
                 {"circuits composition",
                  "Circuits: composition",
                  "what of the later head reads: its queries, keys or values",
                  {"q", "k", "v"}});
        v.integer("circuits_tokens", tokens, 0, 8192);
        v.choose_among(tokens, kCircuitTokens,
                       {"circuits tokens",
                        "Circuits: tokens",
                        "the first tokens of the vocabulary, among which pairs are looked for",
                        {"2048", "8192", "all"}});
    }
};

void draw_circuits(Scene& scene, Rect area);
/// Scores of the chosen head, the strongest pairs of heads, and its pairs of tokens.
void draw_circuits_side(Scene& scene, Rect area);

View circuits_view();

}  // namespace headlight
