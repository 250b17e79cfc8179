#include "views/influence/influence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/cast.h"
#include "parts/metric.h"
#include "session/commands/commands.h"
#include "session/commands/word_parsers.h"
#include "views/views.h"

namespace headlight {

void InfluenceState::visit(FieldVisitor& v) {
    visit_map(v);
    visit_scores(v);
}

void InfluenceState::visit_map(FieldVisitor& v) {
    v.choose(
        "influence_maps", maps,
        {"influence of",
         "Words that matter: map",
         "map of the output that tokens influence: none, a hidden state, the metric at each token, or the "
         "metric's relevance there (patterns weighted by its gradients)",
         {"none", "hidden", "metric", "relevance"}},
        {"influence"});
    v.integer("influence_layer", layer, -1, 4096,
              {"after", "the layer whose output is the hidden state; -1: the last", "influence hidden"});
    v.choose(
        "influence_probes", probes,
        {"influence probes",
         "Words that matter: random probes of the map",
         "auto: exact if that takes at most half a minute, else 8 probes; exact; or 8 or 32 random probes "
         "per output",
         {"auto", "exact", "8", "32"}},
        {"probes",
         "exact, or estimated from this many random probes per output; auto: exact if that takes at "
         "most half a minute, else 8",
         "influence hidden"});
    v.choose("influence_beside", beside,
             {"influence beside",
              "Words that matter: attention beside the map",
              "attention next to the map: the head's, the layer's mean, rollout or contributions",
              {"head", "layer", "rollout", "contribution"}},
             {"beside"});
}

void InfluenceState::visit_scores(FieldVisitor& v) {
    constexpr const char *kIntegrated = "method integrated-gradients",
                         *kPoints = "number of points for integrated gradients; auto: as needed";
    std::vector<std::string> words;
    for (const InfluenceMethodRow& row : influence_methods()) words.emplace_back(row.word);
    v.choose("influence_second", second,
             {"influence by", "Words that matter: second method",
              "the method beside leaving out; leave-out: none", words},
             {"method", "the method beside leaving out, as in attribute; leave-out: none"});
    v.choose("influence_baseline", baseline,
             {"influence baseline",
              "Words that matter: baseline",
              "where integrated gradients start: the mean embedding, zeros, or another text",
              {"mean", "zero", "text"}},
             {"baseline", "where integrated gradients start: the mean embedding, zeros, or --text-b",
              kIntegrated});
    v.integer("influence_points", points, kAsNeeded, 10000,
              {"points", "number of points for integrated gradients; 0: as needed", kIntegrated});
    v.choose_among(points, std::span<const int>(kInfluencePoints),
                   {"influence steps", "Words that matter: steps", kPoints, {"auto", "10", "50", "300"}});
    v.choose("influence_written", written,
             {"influence over",
              "Words that matter: what is explained",
              "the metric, or the generated text",
              {"metric", "written"}});
    v.choose(
        "influence_part", part,
        {"influence parts",
         "Words that matter: parts of the text",
         "tokens, words, sentences or paragraphs: what is left out at a time, and what the second method's "
         "scores are added up over",
         {"tokens", "words", "sentences", "paragraphs"}},
        {"parts", "units to leave out, and to sum scores over"});
    v.choose(nullptr, measures,
             {"influence measure",
              "Words that matter: measure",
              "measure scores and map, or cancel",
              {"off", "on"}});
}

InfluenceMapRequest influence_map_request(const Scene& s) {
    constexpr int kOf[] = {InfluenceMapRequest::kChosenByCost, 0, 8, 32};
    const InfluenceState& state = s.of<InfluenceState>();
    InfluenceMapRequest out;
    out.of = static_cast<InfluenceOf>(std::max(0, static_cast<int>(state.maps) - 1));
    out.stack = s.model()->config.block(s.block()).stack;
    out.layer = state.layer;
    out.probes = kOf[static_cast<int>(state.probes)];
    out.metric = s.session.document.metric.metric;
    out.clamp_to(*s.sentence()->trace);
    return out;
}

int written_tokens(const Scene& s) { return s.sentence()->written ? s.sentence()->step : 0; }

bool explains_written(const Scene& s) { return s.of<InfluenceState>().written && written_tokens(s) > 0; }

namespace {

InfluenceRequest scores_request(const Scene& s, InfluenceMethod method) {
    const InfluenceState& state = s.of<InfluenceState>();
    InfluenceRequest out;
    out.method = method;
    out.metric = s.session.document.metric.metric;
    if (method == InfluenceMethod::integrated_gradients) {
        out.baseline = state.baseline;
        out.steps = state.points == kAsNeeded ? kWithinBudget : state.points;
    }
    if (method == InfluenceMethod::leave_out) out.part = state.part;
    if (explains_written(s)) {
        out.metric = {};  // log p of each token
        out.written = written_tokens(s);
    }
    return out;
}

}  // namespace

FirstScoresRequest first_scores_request(const Scene& s) {
    return {scores_request(
        s, s.model()->has_logits() ? InfluenceMethod::leave_out : InfluenceMethod::contribution)};
}

std::optional<SecondScoresRequest> second_scores_request(const Scene& s) {
    InfluenceMethod method = s.of<InfluenceState>().second;
    if (method == InfluenceMethod::leave_out) return std::nullopt;
    const bool has_metric = s.model()->has_logits();
    if (!has_metric && (row_of(influence_methods(), method).of_metric ||
                        method == InfluenceMethod::contribution))  // which stands first
        method = InfluenceMethod::rollout;
    return SecondScoresRequest{scores_request(s, method)};
}

InfluenceMapFound influence_map_found(const Scene& s) {
    return s.sentence() ? measured(s, influence_map_request(s)) : InfluenceMapFound{};
}

namespace {

/// Sorts by size, unknown last.
/// Returns the part whose last token predicts, if parts are left out and others remain.
int asking_word(const Scene& s, const ScoredWords& words) {
    if (words.first_method->method != InfluenceMethod::leave_out || !words.first.found ||
        explains_written(s) || words.all.size() < 2)
        return -1;
    const int output = isize(s.sentence()->labels) - 1, position = words.first.found->metric.position;
    for (int i = 0; i < isize(words.all); ++i) {
        const ScoredPart& part = words.all[i].part;
        if (part.stack == output && part.tokens.first <= position && position < part.tokens.end &&
            words.all[i].left)
            return i;
    }
    return -1;
}

std::vector<int> order_of(const ScoredWords& words) {
    std::vector<int> out(words.all.size());
    std::iota(out.begin(), out.end(), 0);
    if (words.asks >= 0) out.erase(out.begin() + words.asks);
    const auto size = [&](int i) {
        const float score = words.shown(i);
        return std::isnan(score) ? -1 : std::abs(score);
    };
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return size(a) > size(b); });
    return out;
}

}  // namespace

ScoredWords words_of(const Scene& s) {
    constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
    ScoredWords out{};
    const FirstScoresRequest first = first_scores_request(s);
    out.first = measured(s, first);
    out.first_method = &row_of(influence_methods(), first.how.method);
    if (const auto second = second_scores_request(s)) {
        out.second = measured(s, *second);
        out.second_method = &row_of(influence_methods(), second->how.method);
    }
    const Trace& trace = *s.sentence()->trace;
    std::vector<Vector> unknown;
    for (const Sequence& text : trace.request.inputs)
        unknown.push_back(Vector::Constant(text.size(), kUnknown));
    const auto parts = [&](const TokenScores& scores) {
        return scored_parts(trace, scores.found ? scores.found->tokens : unknown, s.of<InfluenceState>().part,
                            first.how.written);
    };
    const std::vector<ScoredPart> firsts = parts(out.first), seconds = parts(out.second);
    for (size_t i = 0; i < firsts.size(); ++i) {
        const ScoredPart& part = firsts[i];
        const LeftOut* left =
            out.first.found ? out.first.found->without(part.stack, part.tokens.first) : nullptr;
        out.all.push_back({part, part.score, seconds[i].score, left});
    }
    const auto widen = [](ScoreRange& range, float score) {
        if (std::isnan(score)) return;
        range.low = std::max(range.low, -score);
        range.high = std::max(range.high, score);
    };
    out.asks = asking_word(s, out);
    for (int i = 0; i < isize(out.all); ++i) {
        if (i != out.asks) widen(out.first_range, out.all[i].first);
        widen(out.second_range, out.all[i].second);
    }
    out.order = order_of(out);
    return out;
}

namespace {

AttentionBesideRequest attention_request(const Scene& s) {
    const InfluenceMapRequest map = influence_map_request(s);
    AttentionBesideRequest out{s.of<InfluenceState>().beside, s.block(), s.head(),
                               map.of == InfluenceOf::hidden ? map.layer : -1, nullptr};
    const InfluenceMapFound found = influence_map_found(s);
    if (found.map && found.map->whole()) out.map = found.map;
    out.clamp_to(*s.sentence()->trace);
    return out;
}

}  // namespace

const AttentionBeside* attention_beside(const Scene& s) {
    const auto* found = s.found<AttentionBesideRequest>();
    if (!found || !s.sentence()) return nullptr;
    const AttentionBesideRequest request = attention_request(s);
    const bool same = found->asked.beside == request.beside && found->asked.block == request.block &&
                      found->asked.head == request.head && found->asked.layer == request.layer;
    return same && found->answer.weights.size() ? &found->answer : nullptr;
}

std::string explained_name(const Scene& s) {
    if (explains_written(s)) {
        const int count = written_tokens(s);
        return std::string(metric_row(MetricKind::log_probability).word) + " of the " +
               (count == 1 ? "generated token" : std::to_string(count) + " generated tokens");
    }
    return s.model()->has_logits() ? metric_text(s)
                                   : token_at(s.sentence()->labels.back(), shown_metric(s).position);
}

std::string influence_map_name(const Scene& s) {
    const InfluenceMapRequest request = influence_map_request(s);
    if (request.of != InfluenceOf::hidden) {
        const bool of_next = request.metric.a < 0 && request.metric.kind != MetricKind::divergence;
        return (request.of == InfluenceOf::metric ? "Influence on " : "Relevance for ") +
               (of_next ? metric_row(request.metric.kind).word + std::string(" of each next token")
                        : metric_text(s) + " at each token");
    }
    const bool several = s.model()->config.stacks.size() > 1;
    return "Influence on the output of " +
           (several ? s.model()->config.stacks[request.stack].name + " " : "") + "layer " +
           std::to_string(request.layer);
}

const char* influence_word(const Scene& s) {
    return s.of<InfluenceState>().maps == InfluenceMaps::relevance ? "relevance" : "influence";
}

std::string attention_beside_name(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    const AttentionBesideRequest request = attention_request(s);
    const std::string through = " through layer " + std::to_string(request.layer);
    switch (request.beside) {
        case InfluenceBeside::head:
            return "Attention of head " + head_name(c, request.block, request.head);
        case InfluenceBeside::layer:
            return "Mean attention of layer " + block_name(c, request.block);
        case InfluenceBeside::rollout:
            return "Rollout" + through;
        case InfluenceBeside::contribution:
            break;
    }
    return "Contributions" + through;
}

void draw_influence(Scene& s, Rect area) {
    if (!s.sentence() || !s.answer->picture) return;
    Ui& ui = s.ui;
    auto& state = s.of<InfluenceState>();
    state.word = std::exchange(state.next_word, std::nullopt);
    const std::optional<int> lit = state.word;
    const bool has_maps = state.maps != InfluenceMaps::none;
    const ScoredWords words = words_of(s);
    if (!ui.on_page()) state.scroll = scrolled(ui, area, state.high, state.scroll);
    Rect rest = inset(area, size::center_pad, gap::large);
    const float bottom = rest.bottom();
    if (!ui.on_page()) {
        ui.scroll_area(area);
        rest.y -= state.scroll;
    }
    const float top = rest.y;
    const auto below = [&](float high, float apart) {
        if (high <= 0) return;
        rest.y += high + apart;
        rest.h = bottom - rest.y;
    };
    below(draw_answer(s, rest, words), gap::large);
    if (!ui.on_page() || state.maps == InfluenceMaps::none) below(draw_word_bars(s, rest, words), gap::large);
    below(draw_word_list(s, rest, words), gap::medium);
    const float maps_at = rest.y - top;
    below(draw_maps_fold(s, rest), gap::tight);
    below(draw_method_fold(s, rest), gap::tight);
    if (ui.on_page()) return;
    ui.end_scroll_area();
    state.high = rest.y - top + 2 * gap::large;
    const bool scrolls = has_maps && std::exchange(state.opens_maps, false);
    if (scrolls) state.scroll = maps_at;
    if (scrolls || state.next_word != lit) ui.wake_after = 0.001f;  // every part lights the word
}

namespace {

std::vector<Question> ask_influence(const Scene& s) {
    if (!s.sentence()) return {};
    const bool maps = s.of<InfluenceState>().maps != InfluenceMaps::none;
    std::vector<Question> out;
    if (maps) out.emplace_back(attention_request(s));
    if (!s.ui.on_page()) return out;
    if (maps) out.emplace_back(influence_map_request(s));
    out.emplace_back(first_scores_request(s));
    if (const auto second = second_scores_request(s)) out.emplace_back(*second);
    return out;
}

std::vector<JobRequest> measured_influence(const Scene& s, bool shown) {
    const InfluenceState& state = s.of<InfluenceState>();
    if (!shown || !s.sentence() || !state.measures) return {};
    const FirstScoresRequest first = first_scores_request(s);
    std::vector<JobRequest> out{Measuring<FirstScoresRequest>::Request{first}};
    if (!measured(s, first).ended()) return out;  // the answer first
    if (const auto second = second_scores_request(s))
        out.emplace_back(Measuring<SecondScoresRequest>::Request{*second});
    if (state.maps != InfluenceMaps::none)
        out.emplace_back(Measuring<InfluenceMapRequest>::Request{influence_map_request(s)});
    return out;
}

/// Returns why there are no numbers, or "".
std::string not_scored(const Scene& s) {
    const ScoredWords words = words_of(s);
    const bool some = words.first.found || words.second.found;
    return some || s.of<InfluenceState>().maps != InfluenceMaps::none ? "" : words.first.refusal;
}

Status choose_layer(CommandContext& c, const std::string& words) {
    const auto layer = whole_of(words);
    if (words != "last" && (!layer || *layer < 0))
        return Error{"That is not a layer; write last, or a layer's number from 0."};
    auto& state = c.session.of<InfluenceState>();
    state.layer = words == "last" ? -1 : *layer;
    state.maps = InfluenceMaps::hidden;
    return success();
}

std::vector<Command> influence_commands() {
    return {opens_view("influence", row({"influence layer last|LAYER", "Words that matter: layer of the map",
                                         "layer whose output is the hidden state: influence layer 2"},
                                        choose_layer))};
}

}  // namespace

View influence_view() {
    return {.key = "influence",
            .name = "Words that matter",
            .answers = ViewGroup::explain,
            .synonyms = "saliency, attribution, influence, integrated gradients, gradient",
            .letter = 'G',
            .draw = draw_influence,
            .offered = reads_text,
            .missing = cannot_run,
            .ask = ask_influence,
            .beside = {.inspect = always<draw_influence_inspector>},
            .page_w = 1000,
            .page_h = 820,
            .second_run = true,
            .jobs = measured_influence,
            .title = words_title,
            .numbers = influence_numbers,
            .silent = not_scored,
            .visit = visit_state<InfluenceState>,
            .commands = influence_commands};
}

}  // namespace headlight
