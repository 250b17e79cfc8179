// Influence: ‖∂ output / ∂E‖ of every output and token next to the attention, and a score of each token for
// the metric.
#pragma once

#include <array>

#include "analysis/attribution/influence_map.h"
#include "analysis/comparison/text_parts.h"
#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

enum class InfluenceProbes { automatic, exact, eight, many };

struct InfluenceState {
    InfluenceOf of = InfluenceOf::hidden;
    int layer = -1;  // whose output is the hidden state; −1: the last
    InfluenceProbes probes = InfluenceProbes::automatic;
    InfluenceBeside beside = InfluenceBeside::head;
    InfluenceMethod method = InfluenceMethod::input_x_gradient;
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int steps = 50;
    bool written = false;                        // score for the generated text instead of the metric
    TextPart part = TextPart::token;             // the unit of a score
    bool measures = true;                        // in the background while the view is shown
    std::optional<std::pair<int, int>> pointed;  // row and column of the maps
    std::optional<int> part_pointed;
    float strip_scroll = 0;
    void visit(FieldVisitor& visitor);
    void visit_map(FieldVisitor& visitor);
    void visit_scores(FieldVisitor& visitor);
};

/// Numbers of points for integrated gradients.
inline constexpr std::array<int, 3> kInfluenceSteps{10, 50, 300};

InfluenceMapRequest influence_map_request(const Scene& scene);
TokenScoresRequest token_scores_request(const Scene& scene);
/// Return the answers so far.
InfluenceMapFound influence_map_found(const Scene& scene);
TokenScores token_scores_found(const Scene& scene);
/// Returns the attention shown next to the map; null until it is answered.
const AttentionBeside* attention_beside(const Scene& scene);
/// Returns the number of generated tokens that the shown run has read.
int written_tokens(const Scene& scene);

/// "log p ball", "log p of the 3 generated tokens".
std::string explained_name(const Scene& scene);
/// "Influence on the output of layer 3", "Influence on log p of each next token".
std::string influence_map_name(const Scene& scene);
/// "influence" or "relevance".
const char* influence_word(const Scene& scene);
std::string attention_beside_name(const Scene& scene);

/// Returns the scored parts of the text; for generated tokens, only those before them.
std::vector<ScoredPart> shown_parts(const Scene& scene, const Influence& found);

void draw_influence_toolbar(Scene& scene, Toolbar& bar);
void draw_influence_progress(Scene& scene, Rect line);
void draw_influence_maps(Scene& scene, Rect area);
void draw_influence_strip(Scene& scene, Rect area);
void draw_influence(Scene& scene, Rect area);
void draw_influence_inspector(Scene& scene, Rect area);
std::vector<NumberTable> influence_numbers(const Scene& scene);

View influence_view();

}  // namespace headlight
