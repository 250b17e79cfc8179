// Prints the map of activation patching as numbers.
#include "analysis/patching/patch.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "analysis/patching/patch_cells.h"
#include "analysis/patching/patch_estimate.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/prompts.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/output_file.h"
#include "model/interventions/change_place.h"

namespace headlight {

namespace {

struct PatchOptions {
    InputOptions input;  // of the clean run
    std::string corrupted, noise, what = "resid_pre", head, metric, output;
    std::vector<int> corrupted_ids;
    bool estimate = false, json = false;
    PromptOptions pairs{.name = "pairs"};
};

struct BothRuns {
    std::shared_ptr<const Trace> clean, corrupted;
};

/// Runs the clean text with noise on some of its tokens.
Result<std::shared_ptr<const Trace>> run_noised(const PatchOptions& o, const Trace& clean, ThreadPool& pool) {
    const int n = clean.request.inputs[0].size();
    TRY(const Change noise, parse_change(clean.config(), "noise:" + o.noise));
    const int last = last_named(noise.query, noise.queries);
    if (last >= n)
        return Error{"The noise is for token " + std::to_string(last) +
                     ", but the clean text has tokens 0 … " + std::to_string(n - 1) + "; correct --noise."};
    Intervention noised;
    noised.changes.push_back(noise);
    TRY(noised, patched(std::move(noised), clean, pool));
    return run_trace(clean.model, {clean.request.inputs, std::move(noised)}, pool, nullptr, &clean);
}

Result<BothRuns> run_both(const PatchOptions& o, ThreadPool& pool) {
    if (o.input.typed.text.empty() && o.input.typed.ids.empty())
        return Error{"There is no clean text; give one with --clean, or ids with --clean-ids."};
    const bool other = !o.corrupted.empty() || !o.corrupted_ids.empty();
    if (other == !o.noise.empty())
        return Error{
            "Patching needs one corrupted run; give --corrupted TEXT, or --noise 3-5 for noise on tokens "
            "of the clean text."};
    BothRuns runs;
    TRY(const auto model, open_model(o.input));
    TRY_STATUS(parse_metric(*model, o.metric));  // fails early
    TRY(ForwardRequest request, read_request(o.input, model, pool));
    TRY(runs.clean, run_trace(model, std::move(request), pool));
    if (!other) {
        TRY(runs.corrupted, run_noised(o, *runs.clean, pool));
        return runs;
    }
    InputOptions corrupted = o.input;
    corrupted.typed.text = o.corrupted;
    corrupted.typed.ids = o.corrupted_ids;
    TRY(request, read_request(corrupted, model, pool));
    TRY(runs.corrupted, run_trace(model, std::move(request), pool, nullptr, runs.clean.get()));
    return runs;
}

/// Reads the request without its metric; --head is one head by position.
Result<PatchRequest> read_part(const PatchOptions& o, const ModelConfig& config) {
    PatchRequest request;
    for (const PatchPartRow& row : patch_parts())
        if (o.what == row.word) request.part = row.part;
    if (o.head.empty() && request.part == PatchPart::head)
        return Error{"--what head patches one head by position; name it, as in --head 1.2."};
    TRY_STATUS(check_patch_part(request.part, config));
    if (o.head.empty()) return request;
    request.part = PatchPart::head;
    TRY(request.head, parse_head(config, o.head, "--head"));
    return request;
}

Result<PatchRequest> read_wanted(const PatchOptions& o, const Trace& clean) {
    TRY(PatchRequest request, read_part(o, clean.config()));
    TRY(request.metric, parse_metric(*clean.model, o.metric, &clean));
    return request;
}

Status run_pairs(const PatchOptions& o) {
    TRY_STATUS(check_numbers_output(o.output, "patch"));
    TRY(const auto model, open_model(o.input));
    PromptRequest request{.of = PromptMeasure::patch};
    TRY(request.patch, read_part(o, model->config));
    return write_averages(o.pairs, o.input, o.metric, request, {o.output, o.json});
}

Status write_map(const PatchOptions& o, const PatchMap& map, const Trace& corrupted) {
    const std::vector<NumberTable> tables = patch_numbers(map, corrupted);
    if (o.output.empty()) return print(as_csv(tables.front()));
    const bool one = !o.output.ends_with(".json") && !o.output.ends_with(".safetensors");
    return write_numbers(o.output, std::span(tables).first(one ? 1 : tables.size()));
}

Status run(const PatchOptions& o) {
    TRY_STATUS(check_numbers_output(o.output, "patch"));
    ThreadPool pool(o.input.threads);
    TRY(const BothRuns runs, run_both(o, pool));
    TRY(const PatchRequest request, read_wanted(o, *runs.clean));
    TRY(PatchMap empty, empty_patch_map(*runs.clean, *runs.corrupted, request, pool));
    if (!empty.warning.empty()) std::fprintf(stderr, "headlight: %s\n", empty.warning.c_str());
    if (o.estimate) {
        TRY(empty.estimates, patch_estimates(empty, *runs.clean, *runs.corrupted, pool));
        return write_map(o, empty, *runs.corrupted);
    }
    Progress progress(empty.cells, o.input.quiet);
    int told = 0;
    TRY(const PatchMap map,
        patch_map(*runs.clean, *runs.corrupted, request, pool, nullptr, [&](const PatchMap& now) {
            for (; told < now.done; ++told) progress.step();
        }));
    return write_map(o, map, *runs.corrupted);
}

void add_pair_options(CLI::App& app, PatchOptions& o) {
    auto* clean = app.add_option("--clean", o.input.typed.text, "the text whose answer patching restores");
    auto* corrupted =
        app.add_option("--corrupted", o.corrupted,
                       "a text with the same number of tokens and a different answer; clean activations are "
                       "patched into its run");
    auto* noise =
        app.add_option("--noise", o.noise,
                       "instead of --corrupted: add noise to these tokens of the clean text, 3-5 or "
                       "3-5=SEED; 3 standard deviations of the token embeddings")
            ->type_name("TOKENS");
    auto* clean_ids = add_id_list(app, "--clean-ids", o.input.typed.ids, "token ids instead of --clean");
    auto* corrupted_ids =
        add_id_list(app, "--corrupted-ids", o.corrupted_ids, "token ids instead of --corrupted");
    app.add_option("--target", o.input.typed.target,
                   "what the decoder of an encoder-decoder model reads in both runs");
    clean->excludes(clean_ids);
    corrupted->excludes(corrupted_ids);
    noise->excludes(corrupted)->excludes(corrupted_ids);
}

}  // namespace

std::function<Status()> declare_patch(CLI::App& app) {
    auto o = std::make_shared<PatchOptions>();
    add_model_option(app, o->input);
    add_engine_instead(app, o->input);
    add_pair_options(app, *o);
    std::vector<std::string> words;
    std::string help = "what to patch, and the cells: ";
    for (const PatchPartRow& row : patch_parts()) {
        help += (words.empty() ? "" : "; ") + std::string(row.word) + " (" + row.help + ")";
        words.push_back(row.word);
    }
    const auto* what = app.add_option("--what", o->what, help)->check(one_of(words))->capture_default_str();
    app.add_option("--head", o->head, "one head, as 1.2, by position");
    app.add_flag("--estimate", o->estimate,
                 "attribution patching: estimate all cells to first order from one reverse pass of "
                 "the corrupted run; without it a .json file has both");
    add_metric_option(app, o->metric, "the metric to restore, from 0 (corrupted) to 1 (clean)");
    app.add_option("-o,--output", o->output,
                   "a file (" + endings_of(FormatKind::numbers) + "); CSV on standard output by default");
    app.add_flag("--json", o->json, "with --pairs: JSON instead of CSV");
    add_prompt_options(app, o->pairs);
    add_run_options(app, o->input);
    return [o, what, &app]() -> Status {
        const auto given = given_options(app);
        TRY_STATUS(check_prompts(o->pairs, given,
                                 {"clean", "corrupted", "noise", "clean-ids", "corrupted-ids", "estimate"}));
        if (!o->pairs.given()) TRY_STATUS(refuse_given(given, {"json", "seed"}, "--pairs"));
        if (!o->head.empty() && what->count() && o->what != "head")
            return Error{"--head patches one head by position, --what " + o->what +
                         " other places; leave one of them out."};
        return o->pairs.given() ? run_pairs(*o) : run(*o);
    };
}

}  // namespace headlight
