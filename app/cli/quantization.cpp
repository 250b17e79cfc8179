#include <CLI/CLI.hpp>

#include "analysis/attention/head_stats.h"
#include "analysis/comparison/encodings.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"
#include "io/numbers.h"
#include "model/heads.h"

namespace headlight {

namespace {

struct QuantizationOptions {
    InputOptions input;
    std::string exact, metric = "kl";
    bool json = false, heads = false;
};

std::string heads_csv(const EncodingCosts& c, const ModelConfig& config) {
    std::string out = "layer,head,cost,distance";
    for (const int i : order_by(c.heads, false)) {
        const auto [block, head] = config.head_at(i);
        out += "\n" + block_path(config, block) + "," + std::to_string(head) + "," +
               csv_number(c.heads[size_t(i)]) + "," + csv_number(c.patterns[size_t(i)]);
    }
    return out + "\n";
}

std::string as_csv(const EncodingCosts& c) {
    std::string out = "matrix,stored,exact,bytes,cost";
    for (const MatrixCost& m : c.matrices)
        out += "\n" + m.name + "," + m.format + "," + m.exact + "," + std::to_string(m.bytes) + "," +
               csv_number(m.cost);
    return out + "\n";
}

std::string as_json(const EncodingCosts& c, const Model& exact, bool of_heads) {
    nlohmann::ordered_json root{{"metric", metric_name(exact, c.metric)},
                                {"exact", c.exact.value},
                                {"stored", c.coded.value},
                                {"matrices", nlohmann::ordered_json::array()},
                                {"heads", nlohmann::ordered_json::array()}};
    for (const MatrixCost& m : c.matrices)
        root["matrices"].push_back({{"matrix", m.name},
                                    {"stored", m.format},
                                    {"exact", m.exact},
                                    {"bytes", m.bytes},
                                    {"cost", m.cost}});
    for (int i = 0; i < exact.config.head_count(); ++i) {
        const auto [block, head] = exact.config.head_at(i);
        root["heads"].push_back({{"layer", block_path(exact.config, block)},
                                 {"head", head},
                                 {"distance", c.patterns[size_t(i)]}});
        if (of_heads) root["heads"].back()["cost"] = c.heads[size_t(i)];
    }
    return json_answer(root);
}

Status run(const QuantizationOptions& o) {
    ThreadPool pool(o.input.threads);
    TRY(const auto coded, open_model(o.input));
    TRY(const auto exact, open_model(o.exact));
    TRY(const ForwardRequest request, read_request(o.input, exact, pool));
    TRY(const auto own, run_trace(exact, request, pool));
    TRY(const auto now, run_trace(coded, request, pool));
    TRY(const Metric metric, parse_metric(*exact, o.metric, own.get()));
    std::unique_ptr<Progress> progress;
    const auto seen = [&](const EncodingCosts& c) {
        if (!progress) progress = std::make_unique<Progress>(c.steps, o.input.quiet);
        progress->step();
    };
    const Restored what = !o.heads ? Restored::matrices : o.json ? Restored::both : Restored::heads;
    TRY(const EncodingCosts costs, encoding_costs(*own, *now, metric, what, pool, nullptr, seen));
    progress.reset();
    if (o.json) return print_json(as_json(costs, *exact, o.heads));
    return print(o.heads ? heads_csv(costs, coded->config) : as_csv(costs));
}

}  // namespace

std::function<Status()> declare_quantization(CLI::App& app) {
    auto o = std::make_shared<QuantizationOptions>();
    add_input_options(app, o->input);
    app.add_option("--model-b", o->exact, "the same model in a wider encoding")->required();
    add_metric_option(app, o->metric,
                      "what the encoding of a matrix costs: its value with all of them, less "
                      "its value with this one as in --model-b");
    app.add_flag(
        "--per-head", o->heads,
        "what the encoding of each head's part of W_Q, W_K, W_V and W_O costs, instead of each matrix; "
        "with --json, beside them");
    app.add_flag("--json", o->json, "JSON, with how far each head's pattern moved, instead of CSV");
    return [o]() -> Status { return run(*o); };
}

}  // namespace headlight
