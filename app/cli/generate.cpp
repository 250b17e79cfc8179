#include "analysis/prediction/generate.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "io/json.h"

namespace headlight {

namespace {

struct GenerateOptions {
    InputOptions input;
    GenerationRequest request;
    bool ids_out = false, json = false;
};

std::string comma_separated(const std::vector<int>& ids) {
    std::string out;
    for (const int id : ids) out += (out.empty() ? "" : ",") + std::to_string(id);
    return out;
}

nlohmann::ordered_json described(const Model& model, int id, float probability) {
    nlohmann::ordered_json out;
    out["id"] = id;
    if (model.tokenizer) out["token"] = model.target_tokenizer()->spelling(id);
    out["p"] = probability;
    return out;
}

/// Returns the text with the added tokens, or the target alone.
std::string whole_text(const Model& model, const Sequence& given, const std::vector<int>& added) {
    std::vector<int> ids = model.config.can.fill_masks ? std::vector<int>() : given.ids;
    ids.insert(ids.end(), added.begin(), added.end());
    return model.target_tokenizer()->decode(ids);
}

std::string as_json(const Model& model, const Sequence& given, const Generation& generation) {
    nlohmann::ordered_json out;
    if (model.tokenizer) out["text"] = whole_text(model, given, generation.ids());
    out["ids"] = generation.ids();
    out["ended"] = generation.ended;
    out["score"] = generation.score;
    for (const GeneratedToken& token : generation.tokens) {
        auto step = described(model, token.id, token.probability);
        for (const Prediction& p : token.alternatives)
            step["alternatives"].push_back(described(model, p.id, p.probability));
        out["steps"].push_back(std::move(step));
    }
    return json_answer(out);
}

Status run_generate(const GenerateOptions& o) {
    ThreadPool pool(o.input.threads);
    TRY(const auto model, open_model(o.input));
    TRY(const ForwardRequest request, read_request(o.input, model, pool));
    const Sequence& given = request.inputs.back();
    if (o.json) {
        TRY(const Generation generation, generate(model, request, o.request, pool));
        return print_json(as_json(*model, given, generation));
    }
    TRY(const auto added, generated_ids(model, request, o.request, pool));
    return print(
        (o.ids_out || !model->tokenizer ? comma_separated(added) : whole_text(*model, given, added)) + "\n");
}

}  // namespace

std::function<Status()> declare_generate(CLI::App& app) {
    auto o = std::make_shared<GenerateOptions>();
    o->request.length = 40;
    SamplingParams& d = o->request.sampling;
    add_input_options(app, o->input);
    add_engine_instead(app, o->input);
    app.add_option("--tokens", o->request.length, "maximum number of tokens to generate")
        ->check(within(1, kMaxWritten))
        ->capture_default_str();
    auto* temperature = app.add_option("--temperature", d.temperature, "0: greedy; above 0: sampling")
                            ->check(within(0.0, 100.0))
                            ->capture_default_str();
    app.add_option("--top-k", d.top_k, "sample from the k most probable tokens (0: all)")
        ->check(within(0, 1 << 24))
        ->capture_default_str();
    app.add_option("--top-p", d.top_p, "sample from the most probable tokens whose probabilities sum to p")
        ->check(within(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--seed", d.seed, "seed of the sampling")->capture_default_str();
    auto* beams = app.add_option("--beams", d.beams, "number of beams of a beam search")
                      ->check(within(1, kMaxBeams))
                      ->capture_default_str()
                      ->excludes(temperature);
    app.add_option("--length-penalty", d.length_penalty, "divide a beam's log-probability by length^X")
        ->check(within(-10.0, 10.0))
        ->capture_default_str()
        ->needs(beams);
    auto* ids = app.add_flag("--ids-out", o->ids_out, "print the new ids instead of the whole text");
    app.add_flag("--json", o->json, "JSON: each step with its probability and its alternatives")
        ->excludes(ids);
    return [o, &app]() -> Status {
        if (!(o->request.sampling.temperature > 0))
            TRY_STATUS(refuse_given(given_options(app), {"top-k", "top-p", "seed"},
                                    "sampling, --temperature above 0"));
        return run_generate(*o);
    };
}

}  // namespace headlight
