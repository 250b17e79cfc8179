// Prints the circuit behind a prediction as a table or as JSON.
#include <CLI/CLI.hpp>

#include "analysis/patching/explanation.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/prompts.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "io/output_file.h"
#include "questions/questions.h"

namespace headlight {

namespace {

struct ExplainOptions {
    InputOptions input;
    std::string metric, output;
    double edges_from = 0;
    bool json = false;
    PromptOptions prompts;
};

int steps_done(const Explanation& of) {
    int out = 0;
    for (const Explanation::Stage& stage : of.stages) out += stage.done;
    return out;
}

/// The steps whose number is known at the first report: words, and each head twice.
int steps_known(const Explanation& of) {
    int out = 0;
    for (const Explanation::Stage& stage : std::span(of.stages).first(3)) out += stage.count;
    return out;
}

Status write_explanation(const ExplainOptions& o, const Explanation& found, const Trace& trace) {
    const std::vector<NumberTable> tables = explanation_numbers(found, trace);
    if (o.output.ends_with(".json"))
        return write_file(o.output, json_answer(explanation_json(found, trace), 1));
    if (!o.output.empty()) {
        const bool one = !o.output.ends_with(".safetensors");
        return write_numbers(o.output, std::span(tables).first(one ? 1 : tables.size()));
    }
    return o.json ? print_json(json_answer(explanation_json(found, trace), 1))
                  : print(as_csv(tables.front()));
}

Status run_explain(const ExplainOptions& o) {
    TRY_STATUS(check_numbers_output(o.output, "explain"));
    ThreadPool pool(o.input.threads);
    TRY(const auto opened, open_model(o.input));
    if (opened->engine && !o.input.image.empty())
        return Error{
            "explain needs the weights here, and images are read where the model is; leave --image out."};
    TRY(const auto model, model_here(opened, nullptr));
    TRY_STATUS(parse_metric(*model, o.metric));  // fails early
    TRY(ForwardRequest input, read_request(o.input, model, pool));
    TRY(const auto trace, run_trace(model, std::move(input), pool));
    ExplanationRequest request;
    request.edges_from = float(o.edges_from);
    TRY(request.metric, parse_metric(*model, o.metric, trace.get()));
    std::optional<Progress> progress;
    int shown = 0, known = 0;
    TRY(const Explanation found, explain(*trace, request, pool, nullptr, [&](const Explanation& now) {
            if (!progress) progress.emplace(known = steps_known(now), o.input.quiet);
            for (; shown < std::min(steps_done(now), known); ++shown) progress->step();
        }));
    progress.reset();
    return write_explanation(o, found, *trace);
}

}  // namespace

std::function<Status()> declare_explain(CLI::App& app) {
    auto o = std::make_shared<ExplainOptions>();
    add_input_options(app, o->input);
    add_engine_instead(app, o->input);
    add_metric_option(app, o->metric,
                      "what to explain; probabilities are explained by the token's logit, which moves even "
                      "where the probability is near 1");
    app.add_option("--edges-from", o->edges_from,
                   "the weakest path that counts, in logits; without it 0.4 of the strongest direct path")
        ->check(within(0.01, 1000));
    app.add_option("-o,--output", o->output,
                   "write the circuit as " + endings_of(FormatKind::numbers) +
                       " instead of CSV to standard output; .json and .safetensors hold all of it");
    app.add_flag(
        "--json", o->json,
        "print JSON: metric, words left out, heads ablated, paths, and the circuit alone and left out");
    add_prompt_options(app, o->prompts);
    return [o, &app]() -> Status {
        const auto given = given_options(app);
        TRY_STATUS(check_prompts(o->prompts, given, {"edges-from"}));
        if (!o->output.empty())
            TRY_STATUS(refuse_given(given, {"json"}, "standard output; the ending of -o names the format"));
        if (!o->prompts.given()) {
            TRY_STATUS(refuse_given(given, {"seed"}, "--prompts"));
            return run_explain(*o);
        }
        TRY_STATUS(check_numbers_output(o->output, "explain"));
        return write_averages(o->prompts, o->input, o->metric, {.of = PromptMeasure::heads},
                              {o->output, o->json});
    };
}

}  // namespace headlight
