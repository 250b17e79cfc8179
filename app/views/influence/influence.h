// The view "Words that matter": what the metric is without each word, beside a second method; folded below,
// maps of how strongly every output answers to every token, and the settings.
#pragma once

#include <array>

#include "analysis/attribution/influence_map.h"
#include "analysis/comparison/text_parts.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "parts/token_place.h"

namespace headlight {

struct View;

/// What the rows of the map are: none is drawn, or InfluenceOf.
enum class InfluenceMaps { none, hidden, metric, relevance };

/// How the rows of the map are made.
enum class InfluenceProbes { automatic, exact, eight, many };

struct InfluenceState {
    InfluenceMaps maps = InfluenceMaps::none;
    int layer = -1;  // after which; −1: the last
    InfluenceProbes probes = InfluenceProbes::automatic;
    InfluenceBeside beside = InfluenceBeside::head;
    InfluenceMethod second = InfluenceMethod::integrated_gradients;  // leave_out: no second method
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int points = kAsNeeded;
    bool written = false;                        // scores for what was written, not for the metric
    TextPart part = TextPart::token;             // that a score is of
    bool measures = true;                        // in the background while the view is shown
    bool lists_all = false, sets = false;        // words that hardly matter; settings
    std::optional<std::pair<int, int>> pointed;  // row and column of the maps
    std::optional<int> word, next_word;          // under the mouse: in the last frame, and in this one
    std::optional<TokenPlace> locked;            // where the locked word begins
    float scroll = 0, high = 0;                  // of the view; its content
    void visit(FieldVisitor& visitor);
    void visit_map(FieldVisitor& visitor);
    void visit_scores(FieldVisitor& visitor);
};

/// Points of integrated gradients that can be chosen.
inline constexpr std::array<int, 4> kInfluencePoints{kAsNeeded, 10, 50, 300};

/// What the view asks for: the map, the scores of the two methods.
InfluenceMapRequest influence_map_request(const Scene& scene);
FirstScoresRequest first_scores_request(const Scene& scene);
/// None if no second method is chosen.
std::optional<SecondScoresRequest> second_scores_request(const Scene& scene);
/// What is known of the map.
InfluenceMapFound influence_map_found(const Scene& scene);
/// The attention that stands beside the map; null until it is answered.
const AttentionBeside* attention_beside(const Scene& scene);
/// How many written tokens the run that is shown has read.
int written_tokens(const Scene& scene);
/// Whether scores explain what was written.
bool explains_written(const Scene& scene);

/// "log p ball", "log p of what was written".
std::string explained_name(const Scene& scene);
/// "After layer 3", "Of log p at each token".
std::string influence_map_name(const Scene& scene);
/// What a cell of the map is: "influence", "relevance".
const char* influence_word(const Scene& scene);
std::string attention_beside_name(const Scene& scene);

/// A word, or another part of the text, and what the two methods say of it; NaN: not known.
struct Word {
    ScoredPart part;
    float first, second;
    const LeftOut* left;  // null: not left out, or not yet
};

/// Holds what is known of the words.
struct Words {
    TokenScores first, second;
    const InfluenceMethodRow* first_method;
    const InfluenceMethodRow* second_method;  // null: none
    std::vector<Word> all;                    // in the order of the text
    std::vector<int> order;                   // by |first|, or |second| if there is no first; unknown last
    bool ranks_by_second() const { return !first.found && second_method && second.found; }
    /// What bars, chips and the order show.
    float shown(int word) const { return ranks_by_second() ? all[word].second : all[word].first; }
    const InfluenceMethodRow& shown_method() const {
        return ranks_by_second() ? *second_method : *first_method;
    }
    /// The largest |score| of a method.
    float largest_first() const;
    float largest_second() const;
    /// Whether the second method's scores are drawn pale.
    bool pale() const { return second.found && second.found->misses(); }
};
Words words_of(const Scene& scene);
/// "ball 4", "“Lily had a red ball.”".
std::string word_name(const Scene& scene, const Word& word);
/// "Leave it out".
std::string method_title(const InfluenceMethodRow& method);
/// "word", "sentence".
const char* word_unit(const Scene& scene);
/// The word under the mouse, else the locked one, else the first of the order.
std::optional<int> shown_word(const Scene& scene, const Words& words);
/// Light, lock and mask a word where it is drawn.
void answer_word(Scene& scene, const Words& words, int word, Rect r, const std::string& path);
/// Masks a word for later tokens (of what cannot see ahead; else for all), or takes the mask away.
void mask_word(Scene& scene, const ScoredPart& part);
bool is_masked_word(const Scene& scene, const ScoredPart& part);
/// The value of what is explained, as the view says it: "85.4 %", "3.21".
std::string explained_value(const Scene& scene, const MetricValues& values);

/// Return how high they are.
float draw_answer(Scene& scene, Rect area, const Words& words);
float draw_word_bars(Scene& scene, Rect area, const Words& words);
float draw_word_list(Scene& scene, Rect area, const Words& words);
float draw_maps_fold(Scene& scene, Rect area);
float draw_method_fold(Scene& scene, Rect area);
void draw_influence_maps(Scene& scene, Rect area);
void draw_influence(Scene& scene, Rect area);
void draw_influence_inspector(Scene& scene, Rect area);
std::vector<NumberTable> influence_numbers(const Scene& scene);

View influence_view();

}  // namespace headlight
