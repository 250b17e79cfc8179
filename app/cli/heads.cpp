#include <algorithm>
#include <cmath>

#include "analysis/head_stats.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "io/json.h"

namespace headlight {

namespace {

struct HeadsOptions {
    InputOptions input;
    std::string sort;
    bool json = false;
    int random_repeat = 0;
    uint64_t seed = 0;
};

/// Heads in the order asked for; undefined values come last.
std::vector<size_t> ordered(const std::vector<HeadSummary>& heads, const std::string& key) {
    const HeadStatistic* by = find_statistic(key);
    std::vector<float> values(heads.size(), 0.0f);
    if (!by) return order_by(values, true);  // as they stand
    const auto column = static_cast<size_t>(by - head_statistics().data());
    for (size_t i = 0; i < heads.size(); ++i) values[i] = heads[i].statistics[column];
    return order_by(values, by->ascending);
}

std::string as_csv(const ModelConfig& c, const std::vector<HeadSummary>& heads, const std::vector<size_t>& order) {
    std::string out = "layer,head";
    for (const auto& s : head_statistics()) out += "," + std::string(s.key);
    for (const size_t i : order) {
        out += "\n" + site_path(c, static_cast<int>(i) / c.heads) + "," + std::to_string(static_cast<int>(i) % c.heads);
        for (const float value : heads[i].statistics) {
            char text[32];
            std::snprintf(text, sizeof text, ",%.6g", static_cast<double>(value));
            out += std::isnan(value) ? "," : text;
        }
    }
    return out + "\n";
}

std::string as_json(const ModelConfig& c, const std::vector<HeadSummary>& heads, const std::vector<size_t>& order) {
    auto list = nlohmann::ordered_json::array();
    for (const size_t i : order) {
        const AttentionSite site = c.site(static_cast<int>(i) / c.heads);
        nlohmann::ordered_json row{{"layer", site.layer}, {"head", static_cast<int>(i) % c.heads}};
        if (c.stacks.size() > 1) row["attention"] = site.kind == AttentionKind::encoder ? "encoder" : site.kind == AttentionKind::decoder ? "decoder" : "cross";
        for (size_t s = 0; s < kStatistics; ++s) row[head_statistics()[s].key] = heads[i].statistics[s];  // NaN becomes null
        list.push_back(std::move(row));
    }
    return list.dump(2) + "\n";
}

Status run(const HeadsOptions& o) {
    ThreadPool pool(o.input.threads);
    InputOptions input = o.input;
    TRY(const auto model, open_model(input));
    if (o.random_repeat > 0) {
        if (model->config.stacks[0].vocab == 0) return Error{model->name + " reads pictures, so it has no random tokens to repeat; leave --random-repeat out and give it --image."};
        input.typed.ids = repeated_random_ids(model->config.stacks[0].vocab, o.random_repeat, o.seed);
    }
    TRY(ForwardRequest request, read_request(input, *model));
    TRY(const auto trace, run_trace(model, std::move(request), pool));
    TRY(const auto heads, summarize_heads(*trace, 1, pool));
    const auto order = ordered(heads, o.sort);
    return print(o.json ? as_json(model->config, heads, order) : as_csv(model->config, heads, order));
}

}  // namespace

std::function<Status()> declare_heads(CLI::App& app) {
    auto o = std::make_shared<HeadsOptions>();
    add_input_options(app, o->input);
    std::vector<std::string> keys;
    std::string help = "order of the rows: ";
    for (const auto& s : head_statistics()) {
        keys.push_back(s.key);
        help += std::string(keys.size() > 1 ? ", " : "") + s.key;
    }
    app.add_option("--sort", o->sort, help)->check(CLI::IsMember(keys));
    app.add_flag("--json", o->json, "JSON instead of CSV");
    app.add_option("--random-repeat", o->random_repeat, "measure on this many random tokens, repeated once, instead of a text")->check(CLI::Range(2, 1 << 20));
    app.add_option("--seed", o->seed, "seed of the random tokens")->capture_default_str();
    return [o] { return run(*o); };
}

}  // namespace headlight
