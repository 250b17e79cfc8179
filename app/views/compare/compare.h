// The parts of the view that compares two heads, sentences, models, or what is before and after changes.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// What is shown of both.
enum class ComparedShow { pattern, delta, next };

struct CompareState {
    ComparedShow show = ComparedShow::pattern;
    Viewport seen{.across = 80};              // of the two rows of tied tokens
    std::optional<int> tied;                  // a token of A that waits for its partner
    std::optional<std::pair<int, int>> cell;  // row and column that are pointed at
    void visit(FieldVisitor& v) {
        v.choose("compare_show", show,
                 {"compare show",
                  "Compare: show",
                  "what is shown of both: patterns, ΔE or predictions",
                  {"pattern", "delta", "next"}},
                 {"show",
                  "the head's pattern, ‖ΔE‖, or the next tokens; with interventions only, before and after"});
    }
};

void draw_compare(Scene& scene, Rect area);
void draw_compare_list(Scene& scene, Rect area);
std::vector<Question> ask_compare(const Scene& scene);
std::vector<NumberTable> compare_numbers(const Scene& scene);

/// What is compared, as questions name it.
RunPair compared_runs(const Session& session);

/// "Head 2.0", "Head 2.0 before", "Head 2.0, the other sentence": B of the pair that is shown.
std::string name_of_b(const Scene& scene, const HeadPairRequest& asked);

/// Which tokens of two sentences stand for each other: both rows with lines between them; a click on one of A
/// and one of B ties or parts them by hand. Returns the height it took.
float draw_ties(Scene& scene, Rect area);

/// A, B and A − B under one crosshair; returns where they end. `names`: of A and B.
float draw_paired_maps(Scene& scene, Rect area, const PairedMap& map, const std::array<std::string, 2>& names,
                       float most_high);

/// Under the maps: the cells that differ most.
void draw_largest(Scene& scene, Rect area, const PairedMap& map);
/// … the rows of two heads one by one, or another value of each token.
void draw_by_token(Scene& scene, Rect area, const char* title, const char* unit,
                   const std::vector<float>& values, const std::vector<std::string>& labels, int highlighted);

/// The predictions of both, and how far they are apart at each position.
void draw_prediction_pair(Scene& scene, Rect area, const PredictionPair& pair);

View compare_view();

}  // namespace headlight
