// Prints scores of tokens and norms of the Jacobian as CSV, JSON and tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "analysis/attribution/contribution.h"
#include "analysis/comparison/text_parts.h"
#include "cli/attribution/attribute.h"
#include "cli/progress.h"
#include "figure/file_formats.h"
#include "io/json.h"

namespace headlight {

const InfluenceMethodRow& method_of(const AttributeOptions& o) {
    const auto methods = influence_methods();
    return *std::find_if(methods.begin(), methods.end(), [&](const InfluenceMethodRow& row) {
        return o.method == row.word || (o.method == kGradient && row.method == InfluenceMethod::gradient);
    });
}

TextPart part_of(const AttributeOptions& o) {
    return static_cast<TextPart>(
        std::find(std::begin(kAttributedParts), std::end(kAttributedParts), o.parts) - kAttributedParts);
}

namespace {

std::string influence_csv(const Trace& trace, const std::vector<ScoredPart>& parts) {
    const bool several = trace.config().stacks.size() > 1;
    std::string out = several ? "stack,position,token,score" : "position,token,score";
    for (const ScoredPart& part : parts)
        out += "\n" + (several ? trace.config().stacks[part.stack].name + "," : "") +
               std::to_string(part.tokens.first) + "," + csv_field(part.label) + "," + csv_number(part.score);
    return out + "\n";
}

/// Adds the parts of all stacks and a score for each.
void add_scores(const Trace& trace, const std::vector<ScoredPart>& parts, nlohmann::ordered_json& root) {
    auto tokens = nlohmann::ordered_json::array(), stacks = tokens, positions = tokens, scores = tokens;
    for (const ScoredPart& part : parts) {
        tokens.push_back(part.label);
        stacks.push_back(trace.config().stacks[part.stack].name);
        positions.push_back(part.tokens.first);
        scores.push_back(part.score);
    }
    const bool grouped =
        std::any_of(parts.begin(), parts.end(), [](const ScoredPart& p) { return p.tokens.size() > 1; });
    root["tokens"] = std::move(tokens);
    if (grouped) root["positions"] = std::move(positions);
    if (trace.config().stacks.size() > 1) root["stacks"] = std::move(stacks);
    root["scores"] = std::move(scores);
}

/// Writes the value that the scores should sum to, how far they miss it, and whether that is within a tenth;
/// null if their sum is no test.
void add_completeness(const Influence& found, const InfluenceMethodRow& method,
                      nlohmann::ordered_json& root) {
    if (!method.no_sum) {
        root["due"] = found.due;
        root["gap"] = found.gap();  // NaN becomes null
    }
    root["adds_up"] = nullptr;
    if (!method.no_sum) root["adds_up"] = !found.misses();
    root["note"] = adds_up_text(found, method.method);
}

/// The probability of what is explained, and without each part; NaN becomes null.
void add_left_out(const Influence& found, const std::vector<ScoredPart>& parts,
                  nlohmann::ordered_json& root) {
    root["p"] = found.before.probability;
    auto without = nlohmann::ordered_json::array();
    for (const ScoredPart& part : parts) {
        const LeftOut* left = found.without(part.stack, part.tokens.first);
        without.push_back(left ? left->without.probability : std::numeric_limits<float>::quiet_NaN());
    }
    root["p_without"] = std::move(without);
}

std::string influence_json(const AttributeOptions& o, const Trace& trace, const Influence& found,
                           const std::vector<ScoredPart>& parts, int written) {
    nlohmann::ordered_json root{{"method", o.method}};
    if (written) {
        const std::vector<std::string> labels = token_labels(trace, isize(trace.config().stacks) - 1);
        root["metric"] = metric_row(found.metric.kind).word;
        root["over"] = "written";
        root["written"] = std::vector<std::string>(labels.end() - written, labels.end());
    } else if (trace.model->has_logits()) {
        root["metric"] = metric_name(*trace.model, found.metric);
    }
    if (trace.model->has_logits()) root["value"] = found.value;
    if (method_of(o).method == InfluenceMethod::attribution_patching)
        root["clean_value"] = found.baseline_value;
    root["position"] = found.metric.position;
    if (method_of(o).method == InfluenceMethod::integrated_gradients) {
        root["baseline"] = o.baseline;
        root["baseline_value"] = found.baseline_value;
        root["steps"] = found.passes;
    }
    root["sum"] = found.sum;
    add_completeness(found, method_of(o), root);
    add_scores(trace, parts, root);
    if (!found.left_out.empty()) add_left_out(found, parts, root);
    return json_answer(root);
}

std::vector<NumberTable> influence_tables(const Trace& trace, const std::vector<ScoredPart>& parts,
                                          const std::string& method) {
    std::vector<NumberTable> out;
    for (int s = 0; s < isize(trace.config().stacks); ++s) {
        const std::string stack = trace.config().stacks.size() > 1 ? trace.config().stacks[s].name + "_" : "";
        std::vector<std::string> labels;
        std::vector<float> values;
        for (const ScoredPart& part : parts)
            if (part.stack == s) {
                labels.push_back(part.label);
                values.push_back(part.score);
            }
        out.push_back({stack + method,
                       "token",
                       "score",
                       labels,
                       {"score"},
                       Eigen::Map<const Vector>(values.data(), isize(values))});
    }
    return out;
}

/// Labels the tokens of all stacks, in the order of the stacks.
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

}  // namespace

namespace {

/// Computes a row for each output of the last stack, by the methods that have one.
Result<Matrix> rows_of_outputs(const AttributeOptions& o, const InfluenceRuns& runs, const Metric& metric,
                               ThreadPool& pool) {
    const Trace& trace = runs.trace;
    const int stack = isize(trace.config().stacks) - 1, layer = trace.config().stacks[stack].depth() - 1;
    const InfluenceMethod method = method_of(o).method;
    if (method == InfluenceMethod::contribution)
        return shares_through(trace, stack, layer, contribution_shares(trace, {}, pool), pool);
    if (method == InfluenceMethod::rollout)
        return shares_through(trace, stack, layer, rollout_shares(trace, {}), pool);
    if (method != InfluenceMethod::gradient && method != InfluenceMethod::relevance)
        return Error{
            "--over outputs makes tables of jacobian, contribution, relevance or rollout; choose one of "
            "these with --method."};
    InfluenceMapRequest request;
    request.of = method == InfluenceMethod::relevance ? InfluenceOf::relevance : InfluenceOf::metric;
    request.stack = stack;
    request.metric = metric;
    Progress progress(trace.output().size(), o.input.quiet);
    int told = 0;
    TRY(const InfluenceMap map, influence_map(runs, request, pool, nullptr, [&](const InfluenceMap& now) {
            for (; told < now.done; ++told) progress.step();
        }));
    return map.norms;
}

Status say_rows(const AttributeOptions& o, const Trace& trace, const Matrix& rows,
                nlohmann::ordered_json root) {
    const std::vector<std::string> labels = all_labels(trace);
    const std::vector<NumberTable> tables{{method_of(o).word, "output", "token",
                                           token_labels(trace, isize(trace.config().stacks) - 1), labels,
                                           rows}};
    if (!o.output.empty()) return write_numbers(o.output, tables);
    root["tokens"] = labels;
    root["matrix"] = json_rows(rows);
    return o.json ? print_json(json_answer(root)) : print(as_tsv(tables.front()));
}

}  // namespace

Status say_outputs(const AttributeOptions& o, const InfluenceRuns& runs, const Metric& metric,
                   ThreadPool& pool) {
    TRY_STATUS(check_followed_back(runs.trace));
    if (metric.position >= 0)
        return Error{"--over outputs takes the metric at every output; leave @" +
                     std::to_string(metric.position) + " out."};
    TRY(const Matrix rows, rows_of_outputs(o, runs, metric, pool));
    nlohmann::ordered_json root{{"method", method_of(o).word}};
    if (method_of(o).of_metric) {
        const std::string name = metric_name(*runs.trace.model, metric);
        root["metric"] = name.empty() ? metric_row(metric.kind).word : name;
    }
    return say_rows(o, runs.trace, rows, std::move(root));
}

Status say_jacobian(const AttributeOptions& o, const Trace& trace, ThreadPool& pool) {
    TRY_STATUS(check_followed_back(trace));
    Progress progress(trace.output().size(), o.input.quiet);
    TRY(const JacobianNorms found,
        jacobian_norms(trace, o.probes, pool, nullptr, [&](const Influence*) { progress.step(); }));
    nlohmann::ordered_json root{{"method", "jacobian"}};
    if (o.probes) root["probes"] = o.probes;
    if (found.standard_error.size()) root["standard_error"] = json_rows(found.standard_error);
    return say_rows(o, trace, found.norms, std::move(root));
}

namespace {

/// Prints a line on how complete the scores are, unless JSON has it.
void note_gap(const AttributeOptions& o, const Influence& found) {
    if (o.input.quiet || !(found.gap() > float(kPathTolerance))) return;
    std::fprintf(stderr, "headlight: %s: %s.\n", method_of(o).name,
                 adds_up_text(found, method_of(o).method).c_str());
}

}  // namespace

Status say_influence(const AttributeOptions& o, const Trace& trace, const Influence& found, int written) {
    if (!o.json || !o.output.empty()) note_gap(o, found);
    const int stays = method_of(o).method == InfluenceMethod::leave_out ? written : 0;
    const std::vector<ScoredPart> parts = scored_parts(trace, found.tokens, part_of(o), stays);
    if (!o.output.empty()) return write_numbers(o.output, influence_tables(trace, parts, o.method));
    return o.json ? print_json(influence_json(o, trace, found, parts, written))
                  : print(influence_csv(trace, parts));
}

}  // namespace headlight
