// The view "Words that matter": scores of words by leaving each out, next to a second method; maps of
// influence and settings, folded.
#pragma once

#include <algorithm>
#include <array>

#include "analysis/attribution/influence_map.h"
#include "analysis/comparison/text_parts.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "parts/token_place.h"

namespace headlight {

struct View;

/// none: no map; else InfluenceOf.
enum class InfluenceMaps { none, hidden, metric, relevance };

enum class InfluenceProbes { automatic, exact, eight, many };

struct InfluenceState {
    InfluenceMaps maps = InfluenceMaps::none;
    int layer = -1;  // whose output is the hidden state; −1: the last
    InfluenceProbes probes = InfluenceProbes::automatic;
    InfluenceBeside beside = InfluenceBeside::head;
    InfluenceMethod second = InfluenceMethod::integrated_gradients;  // leave_out: no second method
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int points = kAsNeeded;
    bool written = false;                        // score for the generated text instead of the metric
    TextPart part = TextPart::token;             // the unit of a score
    bool measures = true;                        // in the background while the view is shown
    bool lists_all = false, sets = false;        // unfolded: all words, the settings
    std::optional<std::pair<int, int>> pointed;  // row and column of the maps
    std::optional<int> word, next_word;          // hovered in the last frame, and in this one
    std::optional<TokenPlace> locked;            // first token of the locked word
    bool opens_maps = false;                     // scrolls to the maps once they are drawn
    float scroll = 0, high = 0;                  // offset and height of the content
    void visit(FieldVisitor& visitor);
    void visit_map(FieldVisitor& visitor);
    void visit_scores(FieldVisitor& visitor);
};

/// Numbers of points for integrated gradients.
inline constexpr std::array<int, 4> kInfluencePoints{kAsNeeded, 10, 50, 300};

InfluenceMapRequest influence_map_request(const Scene& scene);
FirstScoresRequest first_scores_request(const Scene& scene);
/// Returns null if no second method is chosen.
std::optional<SecondScoresRequest> second_scores_request(const Scene& scene);
/// Returns the map so far.
InfluenceMapFound influence_map_found(const Scene& scene);
/// Returns the attention shown next to the map; null until it is answered.
const AttentionBeside* attention_beside(const Scene& scene);
/// Returns the number of generated tokens that the shown run has read.
int written_tokens(const Scene& scene);
/// Returns whether scores explain the generated text.
bool explains_written(const Scene& scene);

/// "log p ball", "log p of the 3 generated tokens".
std::string explained_name(const Scene& scene);
/// "Influence on the output of layer 3", "Influence on log p of each next token".
std::string influence_map_name(const Scene& scene);
/// "influence" or "relevance".
const char* influence_word(const Scene& scene);
std::string attention_beside_name(const Scene& scene);

/// Holds a part of the text and its score by each method; NaN: not known.
struct ScoredWord {
    ScoredPart part;
    float first, second;
    const LeftOut* left;  // null: not left out, or not yet
};

/// Holds the largest |score| below and above 0.
struct ScoreRange {
    float low = 0, high = 0;
    float largest() const { return std::max({low, high, 1e-12f}); }
};

/// Holds all parts of the text.
struct ScoredWords {
    TokenScores first, second;
    const InfluenceMethodRow* first_method;
    const InfluenceMethodRow* second_method;  // null: none
    std::vector<ScoredWord> all;              // in the order of the text
    ScoreRange first_range, second_range;
    std::vector<int> order;  // by |first|, or |second| if there is no first; unknown last; without `asks`
    int asks = -1;  // holds the token that predicts: leaving it out asks a different question; −1: none
    bool ranks_by_second() const { return !first.found && second_method && second.found; }
    /// Return the score that bars, chips and the order show, and its method.
    float shown(int word) const { return ranks_by_second() ? all[word].second : all[word].first; }
    const InfluenceMethodRow& shown_method() const {
        return ranks_by_second() ? *second_method : *first_method;
    }
    /// Whether the second method's scores are drawn pale.
    bool pale() const { return second.found && second.found->misses(); }
};
ScoredWords words_of(const Scene& scene);
/// Names the text of a word where there are two: "source", "target", else "".
const char* side_of_word(const Scene& scene, const ScoredWord& word);
/// "ball 4", "“Lily had a red ball.”", ". 7 of the target".
std::string word_name(const Scene& scene, const ScoredWord& word);
/// "Leave it out".
std::string method_title(const InfluenceMethodRow& method);
/// "word", "sentence".
const char* word_unit(const Scene& scene);
/// Returns the hovered word, else the locked one, else the first of the order.
std::optional<int> shown_word(const Scene& scene, const ScoredWords& words);
/// Highlights, locks or masks a word drawn in a rectangle, by hover, click and right click.
void answer_word(Scene& scene, const ScoredWords& words, int word, Rect r, const std::string& path);
/// Masks a word as a key for later tokens, in bidirectional models for all; or removes the mask.
void mask_word(Scene& scene, const ScoredPart& part);
/// Returns whether a word is highlighted: on a page, the locked one.
bool is_lit_word(const Scene& scene, const ScoredWords& words, int word);
bool is_masked_word(const Scene& scene, const ScoredPart& part);
/// Formats the explained value: "91.5 %", "3.21".
std::string explained_value(const Scene& scene, const MetricValues& values);

/// "Why ball?".
std::string words_title(const Scene& scene);
/// Return the height drawn.
float draw_answer(Scene& scene, Rect area, const ScoredWords& words);
float draw_word_bars(Scene& scene, Rect area, const ScoredWords& words);
float draw_word_list(Scene& scene, Rect area, const ScoredWords& words);
float draw_maps_fold(Scene& scene, Rect area);
float draw_method_fold(Scene& scene, Rect area);
void draw_influence_maps(Scene& scene, Rect area);
void draw_influence(Scene& scene, Rect area);
void draw_influence_inspector(Scene& scene, Rect area);
std::vector<NumberTable> influence_numbers(const Scene& scene);

View influence_view();

}  // namespace headlight
