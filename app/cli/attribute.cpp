#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "analysis/influence.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "io/json.h"
#include "io/numbers.h"

namespace headlight {

namespace {

struct AttributeOptions {
    InputOptions input;
    std::string metric, method = "gradient", baseline = "mean", output, gradients;
    int steps = 50, probes = 0;
    bool json = false;
    /// How every output answers to every token, whatever is said.
    bool wants_matrix() const { return method == "jacobian" && metric.empty() && gradients.empty(); }
};

constexpr std::string_view kPrompt = "text:";

const InfluenceMethodRow& method_of(const AttributeOptions& o) {
    const auto methods = influence_methods();
    return *std::find_if(methods.begin(), methods.end(), [&](const InfluenceMethodRow& row) {
        return o.method == row.word || (row.other && o.method == row.other);
    });
}

/// The run that is explained, the unchanged one where something is changed, and the baseline's.
struct AttributedRuns {
    std::shared_ptr<const Trace> trace, own, prompt;
};

Result<AttributedRuns> run_attributed(const AttributeOptions& o, ThreadPool& pool) {
    AttributedRuns out;
    TRY(out.trace, run_input(o.input, pool));
    if (out.trace->request.intervention != Intervention{}) {
        TRY(out.own, run_trace(out.trace->model, {out.trace->request.inputs, {}}, pool));
    }
    if (!o.baseline.starts_with(kPrompt)) return out;
    if (out.trace->config().can.read_image)
        return Error{out.trace->model->name +
                     " reads images, so no text can be its baseline; give --baseline "
                     "mean or zero."};
    InputOptions other = o.input;
    clear_changes(other);
    other.typed.ids.clear();
    other.typed.types.clear();
    other.text_file.clear();
    other.typed.text = o.baseline.substr(kPrompt.size());
    TRY(ForwardRequest request, read_request(other, out.trace->model, pool));
    if (request.inputs.size() > 1) request.inputs.back() = out.trace->output();
    TRY(out.prompt, run_trace(out.trace->model, std::move(request), pool));
    return out;
}

Result<InfluenceWanted> read_wanted(const AttributeOptions& o, const Model& model) {
    InfluenceWanted out;
    out.method = method_of(o).method;
    out.steps = o.steps;
    out.baseline = o.baseline == "mean"   ? InfluenceBaseline::mean
                   : o.baseline == "zero" ? InfluenceBaseline::zero
                                          : InfluenceBaseline::prompt;
    if (model.has_logits() || method_of(o).of_metric || !o.metric.empty()) {
        TRY(out.metric, parse_metric(model, o.metric));
    }
    return out;
}

/// A field of a CSV line.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

std::string influence_csv(const Trace& trace, const Influence& found) {
    const bool several = found.tokens.size() > 1;
    std::string out = several ? "stack,position,token,score" : "position,token,score";
    for (int s = 0; s < isize(found.tokens); ++s) {
        const std::vector<std::string> labels = token_labels(trace, s);
        for (int i = 0; i < isize(labels); ++i) {
            char value[32];
            std::snprintf(value, sizeof value, ",%.6g", double(found.tokens[s][i]));
            out += "\n" + (several ? trace.config().stacks[s].name + "," : "") + std::to_string(i) + "," +
                   csv_field(labels[i]) + value;
        }
    }
    return out + "\n";
}

/// Adds the tokens of all stacks and a score for each.
void add_scores(const Trace& trace, const Influence& found, nlohmann::ordered_json& root) {
    auto tokens = nlohmann::ordered_json::array(), stacks = tokens, scores = tokens;
    for (int s = 0; s < isize(found.tokens); ++s)
        for (const std::string& label : token_labels(trace, s)) {
            const Index i = isize(scores) - (s ? found.tokens[0].size() : 0);
            tokens.push_back(label);
            stacks.push_back(trace.config().stacks[s].name);
            scores.push_back(found.tokens[s][i]);
        }
    root["tokens"] = std::move(tokens);
    if (found.tokens.size() > 1) root["stacks"] = std::move(stacks);
    root["scores"] = std::move(scores);
}

std::string influence_json(const AttributeOptions& o, const Trace& trace, const Influence& found) {
    nlohmann::ordered_json root{{"method", method_of(o).word}};
    if (trace.model->has_logits()) {
        root["metric"] = metric_name(*trace.model, found.metric);
        root["value"] = found.value;
    }
    root["position"] = found.metric.position;
    if (method_of(o).method == InfluenceMethod::integrated_gradients) {
        root["baseline"] = o.baseline;
        root["baseline_value"] = found.baseline_value;
        root["steps"] = o.steps;
        root["gap"] = found.gap();  // NaN becomes null
    }
    root["sum"] = found.sum;
    add_scores(trace, found, root);
    return json_text(root, 2) + "\n";
}

std::vector<NumberTable> influence_tables(const Trace& trace, const Influence& found,
                                          const std::string& method) {
    std::vector<NumberTable> out;
    for (int s = 0; s < isize(found.tokens); ++s) {
        const std::string stack = found.tokens.size() > 1 ? trace.config().stacks[s].name + "_" : "";
        out.push_back({stack + method, "token", "score", token_labels(trace, s), {"score"}, found.tokens[s]});
    }
    return out;
}

/// Tokens of all stacks, those of the last behind the others.
std::vector<std::string> all_labels(const Trace& trace) {
    std::vector<std::string> out;
    for (int s = 0; s < isize(trace.config().stacks); ++s)
        for (std::string& label : token_labels(trace, s)) out.push_back(std::move(label));
    return out;
}

nlohmann::ordered_json json_rows(const Matrix& m) {
    auto out = nlohmann::ordered_json::array();
    for (Index i = 0; i < m.rows(); ++i) out.push_back(std::vector<float>(m.row(i).begin(), m.row(i).end()));
    return out;
}

/// [outputs, tokens]: every output's answer to every token.
Status run_matrix(const AttributeOptions& o, const Trace& trace, ThreadPool& pool) {
    if (!trace.has_weights())
        return Error{"A trace holds no weights, so nothing can be followed back in it; open the model."};
    Progress progress(trace.output().size(), o.input.quiet);
    TRY(const JacobianNorms found, jacobian_norms(trace, o.probes, pool, nullptr, [&] { progress.step(); }));
    const std::vector<std::string> labels = all_labels(trace);
    std::vector<NumberTable> tables{{"jacobian", "output", "token",
                                     token_labels(trace, isize(trace.config().stacks) - 1), labels,
                                     found.norms}};
    if (!o.output.empty()) return write_numbers(o.output, tables);
    nlohmann::ordered_json root{
        {"method", "jacobian"}, {"tokens", labels}, {"matrix", json_rows(found.norms)}};
    if (o.probes) root["probes"] = o.probes;
    if (found.standard_error.size()) root["standard_error"] = json_rows(found.standard_error);
    return o.json ? print_json(json_text(root, 2) + "\n") : print(as_tsv(tables.front()));
}

Status run(const AttributeOptions& o) {
    if (!o.output.empty() && !is_numbers_path(o.output))
        return Error{in_quotes(shortened(o.output)) +
                     " does not end in .csv, .tsv, .json, .npy or .safetensors; change its ending."};
    ThreadPool pool(o.input.threads);
    TRY(const AttributedRuns runs, run_attributed(o, pool));
    const Trace& trace = *runs.trace;
    if (o.wants_matrix()) return run_matrix(o, trace, pool);
    TRY(const InfluenceWanted wanted, read_wanted(o, *trace.model));
    Progress progress(o.steps, o.input.quiet);
    TRY(const Influence found, influence({trace, runs.own.get(), runs.prompt.get()}, wanted, pool, nullptr,
                                         [&] { progress.step(); }));
    if (!o.gradients.empty()) {
        if (!trace.model->has_logits())
            return Error{trace.model->name +
                         " has no head that predicts tokens, so there is no metric whose "
                         "gradients could be written; leave --gradients out."};
        TRY(const GradientSeed seed, metric_seed(found.metric, trace, runs.own.get(), pool));
        TRY_STATUS(write_gradients(o.gradients, trace, {&seed, 1}, pool));
    }
    if (!o.output.empty()) return write_numbers(o.output, influence_tables(trace, found, method_of(o).word));
    return o.json ? print_json(influence_json(o, trace, found)) : print(influence_csv(trace, found));
}

}  // namespace

std::function<Status()> declare_attribute(CLI::App& app) {
    auto o = std::make_shared<AttributeOptions>();
    add_input_options(app, o->input);
    add_metric_option(app, o->metric,
                      "what is explained; without it --method jacobian gives a table: the Frobenius norm of "
                      "the last layer's output at each token by the embedding of each");
    std::vector<std::string> names;
    std::string help;
    for (const InfluenceMethodRow& row : influence_methods()) {
        names.emplace_back(row.word);
        if (row.other) names.emplace_back(row.other);
        help += std::string(help.empty() ? "" : "; ") + row.word +
                (row.other ? " or " + std::string(row.other) : "") + ": " + row.help;
    }
    app.add_option("--method", o->method, help)->check(one_of(names))->capture_default_str();
    const auto check_baseline = [](const std::string& text) {
        const bool known = text == "mean" || text == "zero" || text.starts_with(kPrompt);
        return known ? "" : in_quotes(shortened(text)) + " is not mean, zero or text:A PROMPT";
    };
    app.add_option("--baseline", o->baseline,
                   "where integrated gradients begin: every token the mean of the vocabulary (mean), zeros "
                   "(zero), or a prompt of as many tokens (text:A PROMPT)")
        ->check(check_baseline, "BASELINE")
        ->capture_default_str();
    app.add_option("--steps", o->steps, "points at which integrated gradients are taken (Gauss–Legendre)")
        ->check(within(1, 10000))
        ->capture_default_str();
    app.add_option("--probes", o->probes,
                   "the jacobian of every output, estimated from so many random directions each, with its "
                   "standard error in --json; 0: exact")
        ->check(within(0, 1000))
        ->capture_default_str();
    app.add_option("-o,--output", o->output,
                   "write the values as .csv, .tsv, .json, .npy or .safetensors in place of standard output");
    app.add_option("--gradients", o->gradients,
                   "also write the metric's gradient by everything inside (residual stream, q, k, v, z, "
                   "scores, patterns) to a .safetensors file, named as 'headlight trace' names it");
    app.add_flag("--json", o->json, "JSON, with the metric's value and what the values add up to");
    return [o] { return run(*o); };
}

}  // namespace headlight
