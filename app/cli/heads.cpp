#include <CLI/CLI.hpp>
#include <array>
#include <cmath>

#include "analysis/attention/head_summary.h"
#include "analysis/circuits/adapter_changes.h"
#include "analysis/corpus/dossier.h"
#include "cli/corpus.h"
#include "cli/effects.h"
#include "cli/options.h"
#include "cli/prompts.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "io/numbers.h"

namespace headlight {

namespace {

struct HeadsOptions {
    InputOptions input;
    std::set<std::string> given;  // names of options, "seed" for --seed
    CorpusOptions corpus;
    PromptOptions prompts;
    std::string sort;
    bool json = false;
    std::string metric, effect_on;
    bool measures() const { return !metric.empty() || !effect_on.empty(); }
    std::string effect_metric() const { return metric.empty() && measures() ? "p " + effect_on : metric; }
    int random_repeat = 0;
    uint64_t seed = 0;
};

/// Orders heads by a statistic; undefined values come last.
std::vector<int> ordered(const std::vector<HeadSummary>& heads, const std::string& key) {
    const HeadStatistic* by = find_statistic(key);
    std::vector<float> values(heads.size(), 0.0f);
    if (!by) return order_by(values, true);  // the order of the model
    const size_t column = by - head_statistics().data();
    for (size_t i = 0; i < heads.size(); ++i) values[i] = heads[i].statistics[column];
    return order_by(values, by->ascending);
}

/// ‖ΔQK‖ ÷ ‖QK‖ and ‖ΔOV‖ ÷ ‖OV‖, with --adapter.
constexpr const char *kQkChange = "qk_change", *kOvChange = "ov_change";
constexpr const char* kEffectColumns[] = {"delta_p", "delta_logit", "delta_log_p", "effect"};

std::array<float, 4> effect_columns(const HeadEffects& effects, size_t head) {
    const MetricValues change = effects.of(head);
    return {change.probability, change.logit, change.log_probability, change.value};
}

/// Holds what stands beside the statistics, if it was measured.
struct Beside {
    HeadEffects effects;
    AdapterChanges adapter;
    std::vector<int> order;
};

std::string as_csv(const ModelConfig& c, const std::vector<HeadSummary>& heads, const Beside& beside) {
    const HeadEffects& effects = beside.effects;
    std::string out = "layer,head";
    for (const auto& s : head_statistics()) out += "," + std::string(s.key);
    if (!effects.empty())
        for (const char* name : kEffectColumns) out += "," + std::string(name);
    if (!beside.adapter.qk.empty()) out += std::string(",") + kQkChange + "," + kOvChange;
    const auto add = [&out](double value) { out += "," + csv_number(value); };
    for (const int i : beside.order) {
        const auto [block, head] = c.head_at(i);
        out += "\n" + block_path(c, block) + "," + std::to_string(head);
        for (const float value : heads[i].statistics) add(value);
        if (!effects.empty())
            for (const float value : effect_columns(effects, i)) add(value);
        if (!beside.adapter.qk.empty()) {
            add(beside.adapter.qk[size_t(i)]);
            add(beside.adapter.ov[size_t(i)]);
        }
    }
    return out + "\n";
}

std::string as_json(const Trace& trace, const std::vector<HeadSummary>& heads, const Beside& beside) {
    const HeadEffects& effects = beside.effects;
    const ModelConfig& c = trace.config();
    auto list = nlohmann::ordered_json::array();
    for (const int i : beside.order) {
        const AttentionHead head = c.head_at(i);
        const AttentionBlock block = c.block(head.block);
        nlohmann::ordered_json row{{"layer", block.layer}, {"head", head.head}};
        if (c.decoder().beside()) row["attention"] = block.is_second() ? "mamba" : "attention";
        if (c.stacks.size() > 1)
            row["attention"] = block.kind == AttentionKind::encoder   ? "encoder"
                               : block.kind == AttentionKind::decoder ? "decoder"
                                                                      : "cross";
        for (int s = 0; s < kStatistics; ++s)
            row[head_statistics()[s].key] = heads[i].statistics[s];  // NaN becomes null
        if (!effects.empty()) {
            row["metric"] = metric_name(*trace.model, effects.metric);
            const auto values = effect_columns(effects, i);
            for (size_t k = 0; k < values.size(); ++k) row[kEffectColumns[k]] = values[k];
        }
        if (!beside.adapter.qk.empty()) {
            row[kQkChange] = beside.adapter.qk[size_t(i)];
            row[kOvChange] = beside.adapter.ov[size_t(i)];
        }
        list.push_back(std::move(row));
    }
    nlohmann::ordered_json out{{"model", trace.model->name}};
    for (int stack = 0; stack < isize(c.stacks); ++stack)
        out[stack + 1 < isize(c.stacks) ? "source" : "tokens"] = token_labels(trace, stack);
    out["heads"] = std::move(list);
    return json_answer(out);
}

std::vector<int> order_of(const HeadsOptions& o, const std::vector<HeadSummary>& heads,
                          const Beside& beside) {
    if (o.sort == "effect") return order_by_size(beside.effects.change);
    if (o.sort == kQkChange) return order_by(beside.adapter.qk, false);
    if (o.sort == kOvChange) return order_by(beside.adapter.ov, false);
    return ordered(heads, o.sort);
}

/// Runs the text, or random tokens that repeat.
Result<std::shared_ptr<const Trace>> run_heads(const HeadsOptions& o, ThreadPool& pool) {
    if (!o.input.trace.empty() && o.random_repeat > 0)
        return Error{"A trace has no model to read random tokens; leave --random-repeat out, or --trace."};
    if (o.random_repeat == 0) return run_input(o.input, pool);
    TRY_STATUS(refuse_given(o.given, {"text", "text-file", "chat", "ids", "pair", "token-types", "image"},
                            "a text, and --random-repeat makes one of random tokens"));
    InputOptions input = o.input;
    TRY(const auto model, open_model(input));
    if (model->config.stacks[0].vocab == 0)
        return Error{model->name +
                     " reads images, so it has no random tokens to repeat; leave --random-repeat out and "
                     "give it --image."};
    input.typed.ids = repeated_random_ids(model->config.stacks[0].vocab, o.random_repeat, o.seed);
    TRY(ForwardRequest request, read_request(input, model, pool));
    return run_trace(model, std::move(request), pool);
}

/// Refuses options that --corpus does not use.
Status check_corpus(const HeadsOptions& o) {
    const TextInput& typed = o.input.typed;
    const bool other = !typed.text.empty() || !o.input.text_file.empty() || !o.input.chat.empty() ||
                       !typed.ids.empty() || !o.input.trace.empty() || !o.input.image.empty() ||
                       o.random_repeat > 0;
    if (other)
        return Error{
            "--corpus names the texts; leave other texts, --ids, --image, --trace and --random-repeat out."};
    if (o.measures() || !o.sort.empty())
        return Error{"--metric and --sort go with one text; leave them out, or --corpus."};
    if (!is_dossier(o.corpus.file)) return success();
    for (const std::string& name : o.given)
        if (name != "corpus" && name != "model" && name != "output" && name != "json" && name != "quiet" &&
            name != "threads")
            return Error{display_path(o.corpus.file) +
                         " is a dossier, whose texts were read already: leave --" + name +
                         " out, or give --corpus the texts."};
    return success();
}

/// Refuses options of a corpus or of random tokens.
Status check_one_text(const HeadsOptions& o) {
    if (!o.corpus.output.empty())
        return Error{"-o goes with --corpus or --prompts; redirect standard output instead."};
    TRY_STATUS(refuse_given(o.given, {"sums", "first-line", "strongest"}, "--corpus"));
    if (o.random_repeat == 0) TRY_STATUS(refuse_given(o.given, {"seed"}, "--random-repeat or --prompts"));
    return success();
}

/// Averages over prompts the effect of ablating each head.
Status run_prompts(const HeadsOptions& o) {
    PromptOptions prompts = o.prompts;
    prompts.seed = static_cast<uint32_t>(o.seed);
    TRY_STATUS(check_numbers_output(o.corpus.output));
    if (!o.corpus.output.empty())
        TRY_STATUS(refuse_given(o.given, {"json"}, "standard output; the ending of -o names the format"));
    return write_averages(prompts, o.input, o.effect_metric(), {.of = PromptMeasure::ablation},
                          {o.corpus.output, o.json});
}

Status run(const HeadsOptions& o) {
    TRY_STATUS(check_prompts(o.prompts, o.given,
                             {"corpus", "sort", "random-repeat", "sums", "first-line", "strongest"}));
    if (o.prompts.given()) return run_prompts(o);
    if (!o.corpus.file.empty()) {
        TRY_STATUS(check_corpus(o));
        CorpusOptions corpus = o.corpus;
        corpus.input = o.input;
        corpus.json = o.json;
        corpus.model_named = o.given.count("model") > 0;
        return write_corpus(corpus);
    }
    TRY_STATUS(check_one_text(o));
    if (o.sort == "effect" && !o.measures())
        return Error{"--sort effect needs --metric, the metric for ablation, as in --metric 'log p ball'."};
    if ((o.sort == kQkChange || o.sort == kOvChange) && o.input.adapter.empty())
        return Error{"--sort " + o.sort + " needs --adapter, whose change of the heads it is."};
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_heads(o, pool));
    TRY(const auto heads, summarize_heads(*trace, 1, pool));
    Beside beside;
    if (o.measures()) {  // --effect-on is the probability of its token
        TRY(const auto own, unchanged_run(*trace, pool));
        TRY(beside.effects, effects_of_heads(*trace, own.get(), o.effect_metric(), pool));
    }
    if (trace->has_weights()) {
        TRY(beside.adapter, adapter_changes(*trace->model, pool));
    }
    beside.order = order_of(o, heads, beside);
    return o.json ? print_json(as_json(*trace, heads, beside))
                  : print(as_csv(trace->config(), heads, beside));
}

}  // namespace

Result<std::shared_ptr<const Trace>> unchanged_run(const Trace& trace, ThreadPool& pool) {
    if (trace.request.intervention == Intervention{}) return std::shared_ptr<const Trace>();
    return run_trace(trace.model, {trace.request.inputs, {}}, pool);
}

Result<HeadEffects> effects_of_heads(const Trace& trace, const Trace* own, const std::string& metric,
                                     ThreadPool& pool) {
    if (!trace.has_weights())
        return Error{
            "A trace holds no weights, so no head of it can be ablated; leave --metric out, or "
            "give --model instead of --trace."};
    TRY(const Metric wanted, parse_metric(*trace.model, metric, &trace));
    return head_effects(trace, own, wanted, pool);
}

namespace {

void add_corpus_options(CLI::App& app, CorpusOptions& corpus) {
    app.add_option("--corpus", corpus.file,
                   "a file of texts, one per line ('-': standard input), or of JSON lines (.jsonl, "
                   "'-.jsonl': strings, or objects with 'text'): statistics of each head over all texts "
                   "with their spread, its strongest pairs of tokens, and the kinds of tokens it links");
    app.add_option("--first-line", corpus.first_line,
                   "number of the first line of --corpus, if FILE is a part of a corpus")
        ->check(within(1, 1 << 30))
        ->capture_default_str();
    app.add_flag("--sums", corpus.sums,
                 "add exact sums to the JSON of a corpus, as doubles that add up without rounding, so "
                 "that parts of a corpus add up to the whole; and token ids of pairs");
    app.add_option("--strongest", corpus.strongest, "with --corpus: token pairs to keep per head")
        ->check(within(0, 1000))
        ->capture_default_str();
    app.add_option("-o,--output", corpus.output,
                   "with --corpus: write an .html page with every head, .json or .csv; with --prompts: " +
                       endings_of(FormatKind::numbers) + "; without it CSV, or --json");
}

}  // namespace

std::function<Status()> declare_heads(CLI::App& app) {
    auto o = std::make_shared<HeadsOptions>();
    add_input_options(app, o->input);
    add_trace_alone(app, o->input);
    std::vector<std::string> keys;
    std::string help = "order of the rows: ";
    for (const auto& s : head_statistics()) {
        keys.push_back(s.key);
        help += std::string(keys.size() > 1 ? ", " : "") + s.key;
    }
    for (const char* key : {"effect", kQkChange, kOvChange}) {
        keys.push_back(key);
        help += std::string(", ") + key;
    }
    add_metric_option(app, o->metric,
                      "ablate each head in turn and report the change of this metric as 'effect', and of "
                      "the token's probability, logit and log p");
    app.add_option("--effect-on", o->effect_on, "the same as --metric 'p TOKEN'")->excludes("--metric");
    app.add_option("--sort", o->sort, help)->check(one_of(keys));
    app.add_flag("--json", o->json, "JSON instead of CSV");
    app.add_option("--random-repeat", o->random_repeat,
                   "measure on this many random tokens, repeated once, instead of a text")
        ->check(within(2, 1 << 20));
    add_corpus_options(app, o->corpus);
    app.add_option("--seed", o->seed, "seed of the random tokens, or of the draw from --prompts")
        ->capture_default_str();
    add_prompt_options(app, o->prompts);
    return [o, &app] {
        o->given = given_options(app);
        return run(*o);
    };
}

}  // namespace headlight
