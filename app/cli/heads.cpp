#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "analysis/effects.h"
#include "analysis/head_summary.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "io/json.h"

namespace headlight {

namespace {

struct HeadsOptions {
    InputOptions input;
    std::string sort;
    bool json = false;
    std::string effect_on;
    int random_repeat = 0;
    uint64_t seed = 0;
};

/// Heads in the order asked for; undefined values come last.
std::vector<int> ordered(const std::vector<HeadSummary>& heads, const std::string& key) {
    const HeadStatistic* by = find_statistic(key);
    std::vector<float> values(heads.size(), 0.0f);
    if (!by) return order_by(values, true);  // as they stand
    const size_t column = by - head_statistics().data();
    for (size_t i = 0; i < heads.size(); ++i) values[i] = heads[i].statistics[column];
    return order_by(values, by->ascending);
}

std::string as_csv(const ModelConfig& c, const std::vector<HeadSummary>& heads, const std::vector<int>& order,
                   const std::vector<float>& effects) {
    std::string out = "layer,head";
    for (const auto& s : head_statistics()) out += "," + std::string(s.key);
    if (!effects.empty()) out += ",effect";
    for (const int i : order) {
        const auto [block, head] = c.head_at(i);
        out += "\n" + block_path(c, block) + "," + std::to_string(head);
        for (const float value : heads[i].statistics) {
            char text[32];
            std::snprintf(text, sizeof text, ",%.6g", double(value));
            out += std::isnan(value) ? "," : text;
        }
        if (effects.empty()) continue;
        char text[32];
        std::snprintf(text, sizeof text, ",%.6g", double(effects[i]));
        out += text;
    }
    return out + "\n";
}

std::string as_json(const ModelConfig& c, const std::vector<HeadSummary>& heads,
                    const std::vector<int>& order, const std::vector<float>& effects) {
    auto list = nlohmann::ordered_json::array();
    for (const int i : order) {
        const AttentionHead head = c.head_at(i);
        const AttentionBlock block = c.block(head.block);
        nlohmann::ordered_json row{{"layer", block.layer}, {"head", head.head}};
        if (c.stacks.size() > 1)
            row["attention"] = block.kind == AttentionKind::encoder   ? "encoder"
                               : block.kind == AttentionKind::decoder ? "decoder"
                                                                      : "cross";
        for (int s = 0; s < kStatistics; ++s)
            row[head_statistics()[s].key] = heads[i].statistics[s];  // NaN becomes null
        if (!effects.empty()) row["effect"] = effects[i];
        list.push_back(std::move(row));
    }
    return json_text(list, 2) + "\n";
}

/// What ablating each head does to the token of --effect-on; empty where it was not asked for.
Result<PerHead<float>> measure_effects(const HeadsOptions& o, const Trace& trace, ThreadPool& pool) {
    if (o.effect_on.empty()) return PerHead<float>();
    if (!trace.model->has_logits())
        return Error{trace.model->name +
                     " has no head that predicts tokens, so --effect-on has nothing to measure."};
    TRY(const int token, find_token(*trace.model, o.effect_on));
    const auto positions = predicting_positions(trace);
    if (positions.empty())
        return Error{"The text has no mask token to predict; put one into it for --effect-on."};
    return head_effects(trace, positions[0], token, pool);
}

std::vector<int> by_effect(const std::vector<float>& effects) {
    std::vector<float> strength;
    for (const float e : effects) strength.push_back(std::abs(e));
    return order_by(strength, false);
}

/// The text, or random tokens that repeat.
Result<std::shared_ptr<const Trace>> run_heads(const HeadsOptions& o, ThreadPool& pool) {
    if (!o.input.trace.empty() && o.random_repeat > 0)
        return Error{
            "A trace holds no model that could read random tokens; leave --random-repeat out, or --trace."};
    if (o.random_repeat == 0) return run_input(o.input, pool);
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

Status run(const HeadsOptions& o) {
    if (o.sort == "effect" && o.effect_on.empty())
        return Error{"--sort effect needs --effect-on TOKEN, the token whose probability is watched."};
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_heads(o, pool));
    TRY(const auto heads, summarize_heads(*trace, 1, pool));
    TRY(const auto effects, measure_effects(o, *trace, pool));
    const auto order = o.sort == "effect" ? by_effect(effects) : ordered(heads, o.sort);
    return o.json ? print_json(as_json(trace->config(), heads, order, effects))
                  : print(as_csv(trace->config(), heads, order, effects));
}

}  // namespace

std::function<Status()> declare_heads(CLI::App& app) {
    auto o = std::make_shared<HeadsOptions>();
    add_input_options(app, o->input);
    add_trace_option(app, o->input);
    std::vector<std::string> keys;
    std::string help = "order of the rows: ";
    for (const auto& s : head_statistics()) {
        keys.push_back(s.key);
        help += std::string(keys.size() > 1 ? ", " : "") + s.key;
    }
    keys.push_back("effect");
    help += ", effect";
    app.add_option("--effect-on", o->effect_on,
                   "ablate each head in turn and give the change of this token's probability, as 'effect'");
    app.add_option("--sort", o->sort, help)->check(one_of(keys));
    app.add_flag("--json", o->json, "JSON instead of CSV");
    app.add_option("--random-repeat", o->random_repeat,
                   "measure on this many random tokens, repeated once, instead of a text")
        ->check(within(2, 1 << 20));
    app.add_option("--seed", o->seed, "seed of the random tokens")->capture_default_str();
    return [o] { return run(*o); };
}

}  // namespace headlight
