// Declares the parts of the view that compares two heads, sentences or models, or before and after
// interventions.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

enum class ComparedShow { pattern, delta, next, encoding };

/// Says by what the heads that an adapter changes are ranked.
enum class AdaptedRank { pattern, qk, ov };

/// Says what the curve over strengths of an adapter shows.
enum class StrengthShow { next, metric };

struct CompareState {
    ComparedShow show = ComparedShow::pattern;
    Viewport seen{.across = 80};              // of the two rows of paired tokens
    std::optional<int> selected;              // selected token of A, to be paired
    std::optional<std::pair<int, int>> cell;  // hovered row and column
    bool opens = false;                       // before and after selects the head that moved most
    AdaptedRank adapted_rank = AdaptedRank::pattern;
    StrengthShow curve = StrengthShow::next;
    float matrix_offset = 0;      // of the list of matrices that are encoded
    bool strength_below = false;  // the slider of the strength stands below the maps of this frame
    void visit(FieldVisitor& v) {
        v.choose("compare_show", show,
                 {"compare show",
                  "Compare: show",
                  "patterns, ΔE or predictions of both, or what the encoding of one model costs",
                  {"pattern", "delta", "next", "encoding"}},
                 {"show",
                  "the head's pattern, ‖ΔE‖, the next tokens, or, of one model in two encodings, what the "
                  "narrower one costs; with interventions only, before and after"});
        v.choose("compare_rank", adapted_rank,
                 {"compare rank",
                  "Base and adapted: rank heads by",
                  "how far the adapter moves each head's pattern, or changes W_Q W_K or W_V W_O",
                  {"pattern", "qk", "ov"}});
        v.choose("compare_curve", curve,
                 {"compare curve",
                  "Base and adapted: curve over strengths",
                  "p of the tokens that are predicted at strengths from −1 to 2, or the metric there",
                  {"next", "metric"}});
    }
};

void draw_compare(Scene& scene, Rect area);
void draw_compare_list(Scene& scene, Rect area);
std::vector<Question> ask_compare(const Scene& scene);
std::vector<NumberTable> compare_numbers(const Scene& scene);

/// Names A and B in sentences: "A" and "B", or "adapted" and "base".
std::array<std::string, 2> names_of_sides(const Scene& scene);

/// Lists the heads that the adapter changes: their patterns, and their matrices.
void draw_adapted_list(Scene& scene, Rect area);

/// Asks for the prediction over the strengths of the adapter.
StrengthsRequest strengths_request(const Scene& scene);
/// Whether it is part of what is compared.
bool shows_strengths(const Scene& scene);
/// Decides whether it stands below the maps of this frame, in a center of this height.
bool has_strength_below(Scene& scene, float height);
/// Draws its curve above the slider, and the next tokens of both sides.
void draw_strengths(Scene& scene, Rect area);
std::vector<NumberTable> strength_numbers(const Scene& scene);

/// Asks what the encoding of the narrower of the two models costs.
EncodingsRequest encodings_request(const Scene& scene);
bool shows_encodings(const Scene& scene);
/// Why there are no costs yet, or "".
std::string why_no_encodings(const Scene& scene);
void draw_encodings(Scene& scene, Rect area);
std::vector<NumberTable> encoding_numbers(const Scene& scene);
std::vector<Command> compare_commands();

/// The runs to compare, for questions.
RunPair compared_runs(const Session& session);

/// "Head 2.0", "Head 2.0 before", "Head 2.0 in sentence B".
std::string name_of_b(const Scene& scene, const Found<HeadPairRequest>& pair);

/// Draws the tokens of both sentences with lines between pairs; clicking one of A and one of B pairs or
/// unpairs them. Returns the height.
float draw_token_pairing(Scene& scene, Rect area);

/// The maps of A and B, and their names; `alone`: B's own, of heads over different tokens.
struct MapPair {
    const PairedMap *map, *alone;
    std::array<std::string, 2> names;
};
/// Draws A, B and A − B with one crosshair, or two maps over different tokens; returns the bottom.
float draw_paired_maps(Scene& scene, Rect area, const MapPair& maps, float max_high);

inline constexpr const char* kNoChanges = "No interventions yet. Ablate a head or mask a cell.";
/// Draws that, with a button for each.
void draw_no_changes(Scene& scene, Rect rest);
/// Selects the head that moved most, once, when before and after opens.
void open_on_moved(Scene& scene);
/// Draws the result of the interventions, unless a panel does, and what they changed in the head; returns the
/// height.
float draw_what_changed(Scene& scene, Rect area, bool result);
/// The cell that changed most in the row of the prediction, else of the map; none: nothing changed.
std::optional<std::pair<int, int>> changed_cell(const Scene& scene, const PairedMap& map);
/// Draws a row's weights before and after.
void draw_row_changed(Scene& scene, Rect area, const PairedMap& map, int row);

/// The highlighted row and column of the maps.
std::optional<std::pair<int, int>> lit_cell(const Scene& scene, const PairedMap& map, bool of_cells);

/// Lists the cells that differ most.
void draw_largest(Scene& scene, Rect area, const PairedMap& map);
/// Draws a bar per token.
void draw_by_token(Scene& scene, Rect area, const char* title, const char* unit,
                   const std::vector<float>& values, const std::vector<std::string>& labels, int highlighted);

/// Draws what A and B predict and the head that differs most, in a sentence; returns the height.
float draw_what_differs(Scene& scene, Rect area);
/// Draws the predictions of both, and their divergence at each position.
void draw_prediction_pair(Scene& scene, Rect area, const PredictionPair& pair);

View compare_view();

}  // namespace headlight
