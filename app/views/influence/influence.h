// The view of influence: how strongly every output answers to every token, beside the attention that the
// model shows; and how much each token counts for the metric.
#pragma once

#include <array>

#include "analysis/attribution/influence_map.h"
#include "analysis/comparison/text_parts.h"
#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// How the rows of the map are made.
enum class InfluenceProbes { automatic, exact, eight, many };

struct InfluenceState {
    InfluenceOf of = InfluenceOf::hidden;
    int layer = -1;  // after which; −1: the last
    InfluenceProbes probes = InfluenceProbes::automatic;
    InfluenceBeside beside = InfluenceBeside::head;
    InfluenceMethod method = InfluenceMethod::input_x_gradient;
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int steps = 50;
    bool written = false;                        // scores for what was written, not for the metric
    TextPart part = TextPart::token;             // that a score is of
    bool measures = true;                        // in the background while the view is shown
    std::optional<std::pair<int, int>> pointed;  // row and column of the maps
    std::optional<int> part_pointed;
    float strip_scroll = 0;
    void visit(FieldVisitor& visitor);
    void visit_map(FieldVisitor& visitor);
    void visit_scores(FieldVisitor& visitor);
};

/// Points of integrated gradients that can be chosen.
inline constexpr std::array<int, 3> kInfluenceSteps{10, 50, 300};

/// What the view asks for: the map, its attention, the scores.
InfluenceMapRequest influence_map_request(const Scene& scene);
TokenScoresRequest token_scores_request(const Scene& scene);
/// What is known of these.
InfluenceMapFound influence_map_found(const Scene& scene);
TokenScores token_scores_found(const Scene& scene);
/// The attention that stands beside the map; null until it is answered.
const AttentionBeside* attention_beside(const Scene& scene);
/// How many written tokens the run that is shown has read.
int written_tokens(const Scene& scene);

/// "log p ball", "log p of what was written".
std::string explained_name(const Scene& scene);
/// "After layer 3", "Of log p at each token".
std::string influence_map_name(const Scene& scene);
/// What a cell of the map is: "influence", "relevance".
const char* influence_word(const Scene& scene);
std::string attention_beside_name(const Scene& scene);

/// The parts that are shown; of what explains the written tokens those before them alone.
std::vector<ScoredPart> shown_parts(const Scene& scene, const Influence& found);

void draw_influence_toolbar(Scene& scene, Toolbar& bar);
/// How far map and scores are, with a way to end them and to begin again.
void draw_influence_progress(Scene& scene, Rect line);
void draw_influence_maps(Scene& scene, Rect area);
void draw_influence_strip(Scene& scene, Rect area);
void draw_influence(Scene& scene, Rect area);
void draw_influence_inspector(Scene& scene, Rect area);
std::vector<NumberTable> influence_numbers(const Scene& scene);

View influence_view();

}  // namespace headlight
