#include "analysis/comparison/compare.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>

#include "analysis/attention/head_stats.h"
#include "analysis/circuits/adapter_changes.h"
#include "analysis/comparison/strengths.h"
#include "analysis/prediction/metric.h"
#include "cli/options.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "hub/adapted.h"
#include "io/json.h"
#include "io/numbers.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

struct CompareOptions {
    InputOptions input;
    std::string text_b, model_b, trace_b, align = "token", metric;
    bool json = false, strengths = false;
};

constexpr int kTokens = 10;

struct ComparedRuns {
    std::shared_ptr<const Trace> a, b;
    std::vector<float> distances;
    AdapterChanges adapter;               // of B, if A is its base
    std::vector<ProbabilityChange> next;  // at the end of both; empty if they predict nothing
    std::optional<Metric> metric;         // resolved in A
    MetricValues metric_a, metric_b;
    std::optional<StrengthCurve> curve;
};

/// Evaluates the metric in both runs; without a chosen position, at the last of each.
Status compare_metric(const CompareOptions& o, ComparedRuns& c, ThreadPool& pool) {
    if (o.metric.empty()) return success();
    if (!o.model_b.empty() || !o.input.trace.empty() || !o.trace_b.empty())
        return Error{
            "A metric is compared between two runs of one model; leave --metric out, or the other "
            "model or trace."};
    TRY(const Metric wanted, parse_metric(*c.a->model, o.metric, c.a.get()));
    TRY(Metric metric, resolved(wanted, *c.a, pool));
    c.metric = metric;
    c.metric_a = evaluate(metric, *c.a, *c.a, pool);
    TRY(const Metric of_b, resolved({metric.kind, metric.a, metric.b, wanted.position}, *c.b, pool));
    const Vector logits_a = logits_at(*c.a, metric.position, pool);
    c.metric_b = evaluate(of_b, logits_at(*c.b, of_b.position, pool), logits_a);
    return success();
}

bool changes_anything(const InputOptions& o) {
    return o.mask != "own" || !o.ablate.empty() || !o.changes.empty() || !o.temperature.empty();
}

/// Returns whether B differs from A by its adapter, or by nothing.
bool nothing_else(const CompareOptions& o) {
    return o.text_b.empty() && o.model_b.empty() && o.trace_b.empty() && !changes_anything(o.input);
}

/// Spells the adapter that leaves the model as it is.
Result<std::string> at_strength_0(const std::string& adapter) {
    TRY(AdaptedModel out, read_adapter(adapter));
    out.strength = 0;
    return out.spelled();
}

/// Opens the other trace, or runs the other text, model or changes; if A is a trace, on its tokens.
Result<std::shared_ptr<const Trace>> run_b(const CompareOptions& o, const Trace& a, ThreadPool& pool) {
    if (!o.trace_b.empty()) {
        if (changes_anything(o.input))
            return Error{
                "A trace is a recording: masks and changes need the model; leave --trace-b out and "
                "give --model-b."};
        return open_trace(o.trace_b);
    }
    InputOptions other = o.input;
    other.trace.clear();
    if (!o.text_b.empty()) read_instead(other, o.text_b, "--text-b");
    if (!o.model_b.empty()) {
        other.model = o.model_b;
        other.adapter.clear();  // B has the one that it is spelled with
    }
    if (!o.input.trace.empty() && other.typed.text.empty() && other.typed.ids.empty() && other.chat.empty()) {
        TRY(const auto sequences, recorded_sequences(a));
        other.typed.ids = sequences[0].ids;
        if (sequences.size() > 1) other.typed.target_ids = sequences[1].ids;
    }
    const bool same = o.model_b.empty() && o.input.trace.empty() && o.input.adapter.empty();
    if (!same) return run_input(other, pool);
    return run_on(a.model, other, pool);
}

/// Follows the adapter's strength on B's text.
Status follow_strengths(const CompareOptions& o, ComparedRuns& c, ThreadPool& pool) {
    if (!o.strengths) return success();
    if (!o.input.trace.empty() || !nothing_else(o) || o.input.adapter.empty())
        return Error{
            "--strengths follows an adapter on one text; give --adapter FOLDER, and leave out what else B "
            "differs by."};
    TRY(const Metric wanted, parse_metric(*c.a->model, o.metric, c.a.get()));
    TRY(c.curve, strength_curve(*c.b, wanted, pool));
    return success();
}

/// Runs A, the text without interventions or a trace, and B.
Result<ComparedRuns> compare(const CompareOptions& o, ThreadPool& pool) {
    ComparedRuns c;
    if (!o.input.trace.empty()) {
        TRY(c.a, open_trace(o.input.trace));
    } else {
        if (nothing_else(o) && o.input.adapter.empty())
            return Error{
                "There is nothing to compare with; give --text-b, --model-b, --trace-b, --adapter, or a "
                "change such as --ablate 1.2."};
        InputOptions plain = o.input;
        clear_changes(plain);
        if (nothing_else(o)) {
            TRY(plain.adapter, at_strength_0(o.input.adapter));
        }
        TRY(c.a, run_input(plain, pool));
    }
    TRY(c.b, run_b(o, *c.a, pool));
    if (o.input.trace.empty() && nothing_else(o)) {
        TRY(c.adapter, adapter_changes(*c.b->model, pool));
    }
    TRY(c.distances,
        head_distances(*c.a, *c.b, {o.align == "token" ? AlignBy::token : AlignBy::position, {}}, pool));
    const auto last_a = predicting_positions(*c.a), last_b = predicting_positions(*c.b);
    if (!last_a.empty() && !last_b.empty())
        c.next = probability_changes(*c.a, last_a[0], *c.b, last_b[0], kTokens, pool);
    TRY_STATUS(compare_metric(o, c, pool));
    TRY_STATUS(follow_strengths(o, c, pool));
    return c;
}

/// A line for each strength: the metric there, and p of each token that is predicted somewhere.
std::string curve_csv(const StrengthCurve& curve, const Model& model) {
    std::string out = "strength," + csv_field(metric_name(model, curve.metric));
    for (const StrengthToken& token : curve.tokens) out += "," + csv_field("p(" + token.label + ")");
    for (int i = 0; i < StrengthCurve::kCount; ++i) {
        out += "\n" + csv_number(StrengthCurve::strength(i)) + "," + csv_number(curve.values[size_t(i)]);
        for (const StrengthToken& token : curve.tokens)
            out += "," + csv_number(token.probabilities[size_t(i)]);
    }
    return out + "\n";
}

nlohmann::ordered_json curve_json(const StrengthCurve& curve, const Model& model) {
    nlohmann::ordered_json out{{"metric", metric_name(model, curve.metric)},
                               {"strengths", nlohmann::ordered_json::array()},
                               {"values", curve.values},
                               {"tokens", nlohmann::ordered_json::array()}};
    for (int i = 0; i < StrengthCurve::kCount; ++i)
        out["strengths"].push_back(std::round(double(StrengthCurve::strength(i)) * 10) / 10);
    for (const StrengthToken& token : curve.tokens)
        out["tokens"].push_back({{"token", token.label}, {"id", token.id}, {"p", token.probabilities}});
    return out;
}

std::string as_csv(const ComparedRuns& c) {
    if (c.curve) return curve_csv(*c.curve, *c.b->model);
    const ModelConfig& config = c.a->config();
    const bool adapted = !c.adapter.qk.empty();
    std::string out = std::string("layer,head,distance") + (adapted ? ",qk_change,ov_change" : "");
    for (const int i : order_by(c.distances, false)) {
        const auto [block, head] = config.head_at(i);
        out +=
            "\n" + block_path(config, block) + "," + std::to_string(head) + "," + csv_number(c.distances[i]);
        if (adapted)
            out += "," + csv_number(c.adapter.qk[size_t(i)]) + "," + csv_number(c.adapter.ov[size_t(i)]);
    }
    return out + "\n";
}

std::string as_json(const ComparedRuns& c) {
    const ModelConfig& config = c.a->config();
    nlohmann::ordered_json root{{"heads", nlohmann::ordered_json::array()},
                                {"next", nlohmann::ordered_json::array()}};
    for (const int i : order_by(c.distances, false)) {
        const auto [block, head] = config.head_at(i);
        root["heads"].push_back(
            {{"layer", block_path(config, block)}, {"head", head}, {"distance", c.distances[i]}});
        if (c.adapter.qk.empty()) continue;
        root["heads"].back()["qk_change"] = c.adapter.qk[size_t(i)];
        root["heads"].back()["ov_change"] = c.adapter.ov[size_t(i)];
    }
    for (const ProbabilityChange& p : c.next)
        root["next"].push_back({{"token", p.label},
                                {"id", p.id >= 0 ? nlohmann::ordered_json(p.id) : nlohmann::ordered_json()},
                                {"a", p.a},
                                {"b", p.b},
                                {"delta_p", p.b - p.a},
                                {"delta_logit", p.logit},
                                {"delta_log_p", p.log_probability}});
    if (c.metric) {
        const MetricValues change = c.metric_b - c.metric_a;
        root["metric"] = {{"metric", metric_name(*c.a->model, *c.metric)},
                          {"a", c.metric_a.value},
                          {"b", c.metric_b.value},
                          {"change", change.value},
                          {"delta_p", change.probability},
                          {"delta_logit", change.logit},
                          {"delta_log_p", change.log_probability}};
    }
    if (c.curve) root["strengths"] = curve_json(*c.curve, *c.b->model);
    return json_answer(root);
}

Status run(const CompareOptions& o) {
    ThreadPool pool(o.input.threads);
    TRY(const ComparedRuns c, compare(o, pool));
    return o.json ? print_json(as_json(c)) : print(as_csv(c));
}

}  // namespace

std::function<Status()> declare_compare(CLI::App& app) {
    auto o = std::make_shared<CompareOptions>();
    add_input_options(app, o->input);
    add_trace_option(app, o->input);
    auto* trace = app.add_option("--trace-b", o->trace_b, "the other run, as a trace file");
    app.add_option("--text-b", o->text_b, "the other sentence")->excludes(trace);
    app.add_option("--model-b", o->model_b, "the other model")->excludes(trace);
    app.add_option("--align", o->align,
                   "how to pair tokens of two sentences: equal tokens (token), or equal positions "
                   "(position)")
        ->check(one_of({"token", "position"}))
        ->capture_default_str();
    add_metric_option(app, o->metric, "with --json: the metric, in both runs; with --strengths, at each");
    app.add_flag(
        "--strengths", o->strengths,
        "with --adapter: the metric and p of the next tokens at 31 strengths from -1 to 2, instead of "
        "the heads; with --json, beside them");
    app.add_flag("--json", o->json, "JSON, with the next tokens of both, instead of CSV");
    return [o, &app]() -> Status {
        if (!o->json && !o->strengths) TRY_STATUS(refuse_given(given_options(app), {"metric"}, "--json"));
        return run(*o);
    };
}

}  // namespace headlight
