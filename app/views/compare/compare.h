// Declares the parts of the view that compares two heads, sentences or models, or before and after
// interventions.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

enum class ComparedShow { pattern, delta, next };

struct CompareState {
    ComparedShow show = ComparedShow::pattern;
    Viewport seen{.across = 80};              // of the two rows of paired tokens
    std::optional<int> selected;              // selected token of A, to be paired
    std::optional<std::pair<int, int>> cell;  // hovered row and column
    void visit(FieldVisitor& v) {
        v.choose("compare_show", show,
                 {"compare show",
                  "Compare: show",
                  "patterns, ΔE or predictions of both",
                  {"pattern", "delta", "next"}},
                 {"show",
                  "the head's pattern, ‖ΔE‖, or the next tokens; with interventions only, before and after"});
    }
};

void draw_compare(Scene& scene, Rect area);
void draw_compare_list(Scene& scene, Rect area);
std::vector<Question> ask_compare(const Scene& scene);
std::vector<NumberTable> compare_numbers(const Scene& scene);

/// The runs to compare, for questions.
RunPair compared_runs(const Session& session);

/// "Head 2.0", "Head 2.0 before", "Head 2.0 in sentence B".
std::string name_of_b(const Scene& scene, const HeadPairRequest& asked);

/// Draws the tokens of both sentences with lines between pairs; clicking one of A and one of B pairs or
/// unpairs them. Returns the height.
float draw_token_pairing(Scene& scene, Rect area);

/// Draws A, B and A − B with one crosshair; returns the bottom. `names`: of A and B.
float draw_paired_maps(Scene& scene, Rect area, const PairedMap& map, const std::array<std::string, 2>& names,
                       float max_high);

/// Lists the cells that differ most.
void draw_largest(Scene& scene, Rect area, const PairedMap& map);
/// Draws a bar per token.
void draw_by_token(Scene& scene, Rect area, const char* title, const char* unit,
                   const std::vector<float>& values, const std::vector<std::string>& labels, int highlighted);

/// Draws the predictions of both, and their divergence at each position.
void draw_prediction_pair(Scene& scene, Rect area, const PredictionPair& pair);

View compare_view();

}  // namespace headlight
