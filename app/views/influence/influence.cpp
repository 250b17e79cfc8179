#include "views/influence/influence.h"

#include <algorithm>

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
    v.choose("influence_of", of,
             {"influence of",
              "Influence: rows of the map",
              "the output that tokens influence: a hidden state, the metric at each token, or the metric's "
              "relevance there (patterns weighted by its gradients)",
              {"hidden", "metric", "relevance"}},
             {"influence"});
    v.integer("influence_layer", layer, -1, 4096,
              {"after", "the layer whose output is the hidden state; -1: the last", "influence hidden"});
    v.choose(
        "influence_probes", probes,
        {"influence probes",
         "Influence: random probes",
         "exact, or estimated from 8 or 32 random probes per output; auto: exact if that takes at most "
         "half a minute, else 8",
         {"auto", "exact", "8", "32"}},
        {"probes",
         "exact, or estimated from this many random probes per output; auto: exact if that takes at most "
         "half a minute, else 8",
         "influence hidden"});
    v.choose("influence_beside", beside,
             {"influence beside",
              "Influence: attention beside the map",
              "attention next to the map: the head's, the layer's mean, rollout or contributions",
              {"head", "layer", "rollout", "contribution"}},
             {"beside"});
}

void InfluenceState::visit_scores(FieldVisitor& v) {
    constexpr const char *kIntegrated = "method integrated-gradients",
                         *kPoints = "number of points for integrated gradients";
    std::vector<std::string> words;
    for (const InfluenceMethodRow& row : influence_methods()) words.emplace_back(row.word);
    v.choose("influence_by", method,
             {"influence by", "Influence: scores by", "the method that scores the tokens", words},
             {"method", "how to score tokens, as in attribute"});
    v.choose("influence_baseline", baseline,
             {"influence baseline",
              "Influence: baseline",
              "where integrated gradients start: the mean embedding, zeros, or another text",
              {"mean", "zero", "text"}},
             {"baseline", "where integrated gradients start: the mean embedding, zeros, or --text-b",
              kIntegrated});
    v.integer("influence_steps", steps, 1, 10000, {"points", kPoints, kIntegrated});
    v.choose_among(steps, std::span<const int>(kInfluenceSteps),
                   {"influence steps", "Influence: steps", kPoints, {"10", "50", "300"}});
    v.choose("influence_written", written,
             {"influence over",
              "Influence: what the scores explain",
              "the metric, or the generated text",
              {"metric", "written"}});
    v.choose("influence_part", part,
             {"influence parts",
              "Influence: parts of the text",
              "units to sum scores over",
              {"tokens", "words", "sentences", "paragraphs"}},
             {"parts", "units to sum scores over"});
    v.choose(nullptr, measures,
             {"influence measure", "Influence: measure", "measure map and scores, or cancel", {"off", "on"}});
}

InfluenceMapRequest influence_map_request(const Scene& s) {
    constexpr int kOf[] = {InfluenceMapRequest::kChosenByCost, 0, 8, 32};
    const InfluenceState& state = s.of<InfluenceState>();
    InfluenceMapRequest out;
    out.of = state.of;
    out.stack = s.model()->config.block(s.block()).stack;
    out.layer = state.layer;
    out.probes = kOf[static_cast<int>(state.probes)];
    out.metric = s.session.document.metric.metric;
    out.clamp_to(*s.sentence()->trace);
    return out;
}

int written_tokens(const Scene& s) { return s.sentence()->written ? s.sentence()->step : 0; }

TokenScoresRequest token_scores_request(const Scene& s) {
    const InfluenceState& state = s.of<InfluenceState>();
    TokenScoresRequest out;
    out.how = {state.method, s.session.document.metric.metric, InfluenceBaseline::mean, 1, 0};
    if (state.method == InfluenceMethod::integrated_gradients) {
        out.how.baseline = state.baseline;
        out.how.steps = state.steps;
    }
    const bool of_metric = row_of(influence_methods(), state.method).of_metric;
    if (of_metric && !s.model()->has_logits()) out.how.method = InfluenceMethod::contribution;
    if (state.written && written_tokens(s) > 0) {
        out.how.metric = {};  // log p of each token
        out.how.written = written_tokens(s);
    }
    return out;
}

namespace {

template <class Sweep>
typename Sweep::Found found_in_background(const Scene& s, const typename Sweep::Request& request) {
    const auto* job = s.answer->job<Sweep>();
    const auto sweep = Sweep::of(&request, inputs_shown(s));
    return job && sweep && job->is_of(*sweep) ? job->found() : typename Sweep::Found{};
}

}  // namespace

InfluenceMapFound influence_map_found(const Scene& s) {
    if (!s.sentence()) return {};
    const InfluenceMapRequest request = influence_map_request(s);
    if (const auto* asked = s.found<InfluenceMapRequest>(); asked && asked->asked == request)
        return asked->answer;
    return found_in_background<InfluenceMapSweep>(s, request);
}

TokenScores token_scores_found(const Scene& s) {
    if (!s.sentence()) return {};
    const TokenScoresRequest request = token_scores_request(s);
    if (const auto* asked = s.found<TokenScoresRequest>(); asked && asked->asked == request)
        return asked->answer;
    return found_in_background<TokenScoresSweep>(s, request);
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

std::vector<ScoredPart> shown_parts(const Scene& s, const Influence& found) {
    return scored_parts(*s.sentence()->trace, found.tokens, s.of<InfluenceState>().part,
                        token_scores_request(s).how.written);
}

std::string explained_name(const Scene& s) {
    const TokenScoresRequest request = token_scores_request(s);
    if (request.how.written > 0) {
        const int count = request.how.written;
        return std::string(metric_row(request.how.metric.kind).word) + " of the " +
               (count == 1 ? "generated token" : std::to_string(count) + " generated tokens");
    }
    return s.model()->has_logits() ? metric_text(s) : "last token";
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
    return s.of<InfluenceState>().of == InfluenceOf::relevance ? "relevance" : "influence";
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
    constexpr float kProgressHigh = 34, kStripShare = 0.34f, kLeastStrip = 132, kMaxStrip = 260;
    if (!s.sentence() || !s.answer->picture) return;
    Rect rest = area;
    if (!s.ui.on_page()) {
        Toolbar bar(s.ui, inset(take_top(rest, size::view_header), size::center_pad, 0),
                    Toolbar::Lines::many);
        const float before = bar.bottom();
        draw_influence_toolbar(s, bar);
        take_top(rest, bar.bottom() - before);
    }
    rest = inset(rest, size::center_pad, gap::small);
    const InfluenceMapFound map = influence_map_found(s);
    const TokenScores scores = token_scores_found(s);
    const bool mapped = (map.map && map.map->whole()) || !map.refusal.empty(),
               scored = scores.found || !scores.refusal.empty();
    if (!s.ui.on_page() && !(mapped && scored))
        draw_influence_progress(s, take_top(rest, kProgressHigh, gap::small));
    Rect strip = take_bottom(rest, std::clamp(rest.h * kStripShare, kLeastStrip, kMaxStrip), gap::medium);
    draw_influence_maps(s, rest);
    draw_influence_strip(s, strip);
}

namespace {

std::vector<Question> ask_influence(const Scene& s) {
    if (!s.sentence()) return {};
    std::vector<Question> out{attention_request(s)};
    if (!s.ui.on_page()) return out;
    out.emplace_back(influence_map_request(s));
    out.emplace_back(token_scores_request(s));
    return out;
}

std::vector<JobRequest> measured_influence(const Scene& s, bool shown) {
    if (!shown || !s.sentence() || !s.of<InfluenceState>().measures) return {};
    return {influence_map_request(s), token_scores_request(s)};
}

Status choose_layer(CommandContext& c, const std::string& words) {
    const auto layer = whole_of(words);
    if (words != "last" && (!layer || *layer < 0))
        return Error{"That is not a layer; write last, or a layer's number from 0."};
    c.session.of<InfluenceState>().layer = words == "last" ? -1 : *layer;
    return success();
}

std::vector<Command> influence_commands() {
    return {opens_view("influence", row({"influence layer last|LAYER", "Influence: layer",
                                         "layer whose output is the hidden state: influence layer 2"},
                                        choose_layer))};
}

}  // namespace

View influence_view() {
    return {.key = "influence",
            .name = "Influence",
            .digit = 'G',
            .draw = draw_influence,
            .offered = reads_text,
            .missing = no_weights,
            .ask = ask_influence,
            .beside = {.inspect = always<draw_influence_inspector>},
            .page_w = 1000,
            .page_h = 760,
            .second_run = true,
            .jobs = measured_influence,
            .numbers = influence_numbers,
            .visit = visit_state<InfluenceState>,
            .commands = influence_commands};
}

}  // namespace headlight
