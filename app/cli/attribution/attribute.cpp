#include "cli/attribution/attribute.h"

#include <CLI/CLI.hpp>

#include "analysis/prediction/generate.h"
#include "base/quoted.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "questions/questions.h"

namespace headlight {

namespace {

/// Holds the explained run, the one without interventions (null if there are none) and the baseline's.
struct AttributedRuns {
    std::shared_ptr<const Trace> trace, own, prompt;
    int written = 0;  // tokens at the output's end
};

/// Appends the answer to the request unless a target was given; returns its number of tokens.
Result<int> write_answer(const std::shared_ptr<const Model>& model, int tokens, ForwardRequest& request,
                         ThreadPool& pool) {
    Sequence& output = request.inputs.back();
    if (model->config.can.write_target && output.size() > 1) return output.size() - 1;
    GenerationRequest asked;
    asked.length = tokens;
    TRY(const Generation generation, generate(model, request, asked, pool));
    const std::vector<int> ids = generation.ids();
    for (const int id : ids) append_token(*model, output, id);
    if (ids.empty())
        return Error{"The model ends the text immediately, so nothing is generated; change the text."};
    return isize(ids);
}

/// Runs the texts of attribution patching: the corrupted one is explained, the clean one is the prompt.
Result<AttributedRuns> run_patched(const AttributeOptions& o, ThreadPool& pool) {
    if (o.clean.empty() || o.corrupted.empty())
        return Error{
            "Attribution patching needs two texts with the same number of tokens; give --clean "
            "TEXT and --corrupted TEXT."};
    AttributedRuns out;
    InputOptions input = o.input;
    input.typed.text = o.corrupted;
    TRY(out.trace, run_input(input, pool));
    input.typed.text = o.clean;
    TRY(ForwardRequest request, read_request(input, out.trace->model, pool));
    TRY(out.prompt, run_trace(out.trace->model, std::move(request), pool));
    return out;
}

/// Runs the text, with the generated tokens if those are explained.
Status run_answered(const AttributeOptions& o, AttributedRuns& out, ThreadPool& pool) {
    if (!o.over_written()) {
        TRY(out.trace, run_input(o.input, pool));
        return success();
    }
    TRY(auto model, open_model(o.input));
    TRY(ForwardRequest request, read_request(o.input, model, pool));
    TRY(out.written, write_answer(model, o.tokens, request, pool));
    TRY(out.trace, run_trace(std::move(model), std::move(request), pool));
    return success();
}

Result<AttributedRuns> run_attributed(const AttributeOptions& o, ThreadPool& pool) {
    if (method_of(o).method == InfluenceMethod::attribution_patching) return run_patched(o, pool);
    if (!o.clean.empty())
        return Error{
            "--clean and --corrupted are the texts of --method attribution-patching; give --text for "
            "the other methods."};
    AttributedRuns out;
    TRY_STATUS(run_answered(o, out, pool));
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
    read_instead(other, o.baseline.substr(kPrompt.size()), "--baseline");
    TRY(ForwardRequest request, read_request(other, out.trace->model, pool));
    const std::vector<int>& ids = out.trace->output().ids;
    if (request.inputs.size() > 1)
        request.inputs.back() = out.trace->output();
    else
        for (size_t i = ids.size() - size_t(out.written); i < ids.size(); ++i)
            append_token(*out.trace->model, request.inputs.back(), ids[i]);
    TRY(out.prompt, run_trace(out.trace->model, std::move(request), pool));
    return out;
}

Result<InfluenceRequest> read_wanted(const AttributeOptions& o, const Trace& trace) {
    InfluenceRequest out;
    out.method = method_of(o).method;
    out.steps = o.points();
    out.part = part_of(o);
    out.baseline = o.baseline == "mean"   ? InfluenceBaseline::mean
                   : o.baseline == "zero" ? InfluenceBaseline::zero
                                          : InfluenceBaseline::prompt;
    if (trace.model->has_logits() || method_of(o).of_metric || !o.metric.empty()) {
        TRY(out.metric, parse_metric(*trace.model, o.metric, &trace));
    }
    return out;
}

/// Refuses options that the method or --over does not use.
Status check_heard(const AttributeOptions& o) {
    if (method_of(o).method != InfluenceMethod::integrated_gradients)
        TRY_STATUS(refuse_given(o.given, {"steps", "baseline"}, "--method integrated-gradients"));
    if (!method_of(o).of_metric)
        TRY_STATUS(refuse_given(o.given, {"gradients"}, "a method that explains a metric"));
    if (!o.over_written()) TRY_STATUS(refuse_given(o.given, {"tokens"}, "--over written"));
    if (!o.output.empty())
        TRY_STATUS(refuse_given(o.given, {"json"}, "standard output; the ending of -o names the format"));
    return success();
}

/// Refuses options that contradict each other.
Status check_together(const AttributeOptions& o) {
    const bool pair = method_of(o).method == InfluenceMethod::attribution_patching;
    if (pair && o.over_written())
        return Error{
            "--over written explains what a model generates after one text, and attribution "
            "patching compares two; leave one of them out."};
    const bool table = o.wants_jacobian() || o.over_outputs();
    if (table && o.parts != "tokens")
        return Error{
            "--parts sums the scores of one output, and this is a table of all outputs; leave "
            "--parts out, or give a metric without --over outputs."};
    if (o.over_outputs() && !o.gradients.empty())
        return Error{"Gradients are of one metric; leave --over outputs out."};
    if (o.probes && !o.wants_jacobian())
        return Error{
            "--probes estimates the jacobian of every output; choose --method jacobian without a "
            "metric, or leave --probes out."};
    return success();
}

/// Returns the largest number of passes.
int expected_steps(const AttributeOptions& o, const Trace& trace) {
    if (method_of(o).method == InfluenceMethod::leave_out) return trace.token_count();
    return o.points() == kAsNeeded ? kMaxPoints : o.points();
}

/// Takes runs where the weights are here, if what is asked for needs them.
Status bring_weights(const AttributeOptions& o, AttributedRuns& runs, ThreadPool& pool) {
    const bool needed = o.wants_jacobian() || o.over_outputs() || !o.gradients.empty();
    if (!needed && !method_of(o).needs_weights) return success();
    TRY(const RunsHere here, runs_here({*runs.trace, runs.own.get(), runs.prompt.get()}, pool, nullptr));
    if (here.shown) runs.trace = here.shown;
    if (here.own) runs.own = here.own;
    if (here.other) runs.prompt = here.other;
    return success();
}

/// Averages over prompts the scores of one method.
Status run_prompts(const AttributeOptions& o) {
    if (o.baseline.starts_with(kPrompt))
        return Error{
            "Prompts have different words, so no one text is their baseline; give --baseline mean or zero."};
    PromptRequest request{.of = PromptMeasure::words};
    request.words.method = method_of(o).method;
    request.words.steps = o.points();
    request.words.part = part_of(o);
    request.words.baseline = o.baseline == "mean" ? InfluenceBaseline::mean : InfluenceBaseline::zero;
    return write_averages(o.prompts, o.input, o.metric, request, {o.output, o.json});
}

Status run(const AttributeOptions& o) {
    TRY_STATUS(check_numbers_output(o.output));
    TRY_STATUS(
        check_prompts(o.prompts, o.given, {"clean", "corrupted", "over", "tokens", "gradients", "probes"}));
    TRY_STATUS(check_heard(o));
    if (o.prompts.given()) return run_prompts(o);
    TRY_STATUS(refuse_given(o.given, {"seed"}, "--prompts"));
    TRY_STATUS(check_together(o));
    ThreadPool pool(o.input.threads);
    TRY(AttributedRuns runs, run_attributed(o, pool));
    TRY_STATUS(bring_weights(o, runs, pool));
    const Trace& trace = *runs.trace;
    if (o.wants_jacobian()) return say_jacobian(o, trace, pool);
    TRY(InfluenceRequest request, read_wanted(o, trace));
    if (o.over_outputs())
        return say_outputs(o, {trace, runs.own.get(), runs.prompt.get()}, request.metric, pool);
    request.written = runs.written;
    Progress progress(expected_steps(o, trace), o.input.quiet);
    TRY(const Influence found, influence({trace, runs.own.get(), runs.prompt.get()}, request, pool, nullptr,
                                         [&](const Influence*) { progress.step(); }));
    if (!o.gradients.empty()) {
        if (!trace.model->has_logits())
            return Error{trace.model->name +
                         " has no head that predicts tokens, so there is no metric to differentiate; leave "
                         "--gradients out."};
        if (runs.written) return Error{"Gradients are of one metric; leave --over written out."};
        TRY(const GradientSeed seed, metric_seed(found.metric, trace, runs.own.get(), pool));
        TRY_STATUS(write_gradients(o.gradients, trace, {&seed, 1}, pool));
    }
    return say_influence(o, trace, found, runs.written);
}

void add_steps_option(CLI::App& app, AttributeOptions& o) {
    const auto check_steps = [](std::string text) {
        return text == "auto" ? std::string() : whole_number(1, 10000)(text);
    };
    app.add_option("--steps", o.steps,
                   "number of points for integrated gradients (Gauss–Legendre); auto: more where the metric "
                   "bends, until the scores are within 1 % of its change (at most 511)")
        ->check(check_steps, "auto or 1 … 10000")
        ->capture_default_str();
}

/// How it is explained, and what the methods need.
void add_method_options(CLI::App& app, AttributeOptions& o) {
    std::vector<std::string> names{kGradient};
    std::string help = "gradient: as jacobian, of the default metric where none is given";
    for (const InfluenceMethodRow& row : influence_methods()) {
        names.emplace_back(row.word);
        help += std::string("; ") + row.word + ": " + row.help;
    }
    app.add_option("--method", o.method, help)->check(one_of(names))->capture_default_str();
    const auto check_baseline = [](const std::string& text) {
        const bool known = text == "mean" || text == "zero" || text.starts_with(kPrompt);
        return known ? "" : in_quotes(shortened(text)) + " is not mean, zero or text:A PROMPT";
    };
    app.add_option("--baseline", o.baseline,
                   "where integrated gradients start: the mean embedding of the vocabulary (mean), "
                   "zeros (zero), or a prompt with the same number of tokens (text:A PROMPT)")
        ->check(check_baseline, "BASELINE")
        ->capture_default_str();
    auto* clean =
        app.add_option("--clean", o.clean,
                       "attribution-patching: the text whose residual stream is patched into the corrupted "
                       "run");
    auto* corrupted =
        app.add_option("--corrupted", o.corrupted,
                       "attribution-patching: a text with the same number of tokens and a different answer");
    clean->needs(corrupted);
    corrupted->needs(clean);
    for (const char* typed : {"--text", "--text-file", "--chat", "--ids", "--image"})
        clean->excludes(app.get_option(typed));
    add_steps_option(app, o);
    app.add_option("--probes", o.probes,
                   "estimate the jacobian of each output from this many random directions, with the "
                   "standard error in --json; 0: exact")
        ->check(within(0, 1000))
        ->capture_default_str();
}

}  // namespace

std::function<Status()> declare_attribute(CLI::App& app) {
    auto o = std::make_shared<AttributeOptions>();
    add_input_options(app, o->input);
    add_engine_instead(app, o->input);
    add_metric_option(app, o->metric,
                      "the metric to explain; without it --method jacobian gives a table: ‖∂ output of the "
                      "last layer / ∂ embedding‖ (Frobenius) for each pair of tokens");
    add_method_options(app, *o);
    app.add_option("--over", o->over,
                   "what to explain: the metric; written: all tokens generated after the text (or the "
                   "given target), their log p summed, or p or logit with --metric; outputs: a table "
                   "with a row per output (jacobian, contribution, relevance, rollout)")
        ->check(one_of({"metric", "written", "outputs"}))
        ->capture_default_str();
    app.add_option("--tokens", o->tokens, "with --over written: maximum number of tokens to generate")
        ->check(within(1, kMaxWritten))
        ->capture_default_str();
    app.add_option("--parts", o->parts, "units to sum the scores over, or to leave out at a time")
        ->check(one_of({std::begin(kAttributedParts), std::end(kAttributedParts)}))
        ->capture_default_str();
    app.add_option(
        "-o,--output", o->output,
        "write the scores as " + endings_of(FormatKind::numbers) + " instead of to standard output");
    app.add_option("--gradients", o->gradients,
                   "also write the metric's gradient with respect to all activations (residual stream, "
                   "q, k, v, z, scores, patterns) to a .safetensors file, with the tensor names of "
                   "'headlight trace'");
    app.add_flag("--json", o->json, "print JSON, with the metric's value and the sum of the scores");
    add_prompt_options(app, o->prompts);
    return [o, &app] {
        o->given = given_options(app);
        return run(*o);
    };
}

}  // namespace headlight
