#include "analysis/predict.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace headlight {

std::function<Status()> declare_generate(CLI::App& app) {
    struct Options {
        InputOptions input;
        Sampling sampling;
        int tokens = 40;
        bool ids_out = false;
    };
    auto o = std::make_shared<Options>();
    add_input_options(app, o->input);
    app.add_option("--tokens", o->tokens, "how many tokens to add")->check(CLI::Range(1, 1 << 20))->capture_default_str();
    app.add_option("--temperature", o->sampling.temperature, "0: always the most probable token")->check(CLI::Range(0.0, 100.0))->capture_default_str();
    app.add_option("--top-k", o->sampling.top_k, "draw among the k most probable (0: all)")->check(CLI::Range(0, 1 << 24))->capture_default_str();
    app.add_option("--top-p", o->sampling.top_p, "draw among the most probable that make up p")->check(CLI::Range(0.0, 1.0))->capture_default_str();
    app.add_option("--seed", o->sampling.seed, "seed of the draws")->capture_default_str();
    app.add_flag("--ids-out", o->ids_out, "print the new ids instead of the whole text");
    return [o]() -> Status {
        ThreadPool pool(o->input.threads);
        TRY(const auto model, open_model(o->input));
        TRY(ForwardRequest request, read_request(o->input, model, pool));
        std::vector<int> ids = request.inputs.back().ids;
        TRY(const auto added, generate(model, std::move(request), o->tokens, o->sampling, pool));
        std::string out;
        if (o->ids_out || !model->tokenizer) {
            for (const int id : added) out += (out.empty() ? "" : ",") + std::to_string(id);
        } else if (model->config.kind == ModelKind::decoder) {
            ids.insert(ids.end(), added.begin(), added.end());
            out = (*model->tokenizer)->decode(ids);
        } else {
            if (model->config.kind == ModelKind::encoder_decoder) ids.insert(ids.end(), added.begin(), added.end());
            else ids = added;
            out = model->target_tokenizer()->decode(ids);
        }
        return print(out + "\n");
    };
}

}  // namespace headlight
