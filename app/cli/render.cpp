#include "cli/render.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <mutex>
#include <sstream>

#include "analysis/corpus/dossier.h"
#include "analysis/corpus/dossier_heads.h"
#include "base/cast.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/output_file.h"
#include "session/presets.h"
#include "views/view_options.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Writes one picture of a trace, or one per head.
Status render_trace(const RenderOptions& o, const std::shared_ptr<const Trace>& trace,
                    const std::string& output, ThreadPool& pool) {
    const ModelConfig& c = trace->config();
    RenderOptions one = o;
    TRY_STATUS(check_heard_by_model(o, c));
    TRY_STATUS(choose_place(one, *trace));
    if (!o.all_heads) return render_one(one, trace, output, pool);
    Progress progress(c.head_count(), o.input.quiet);
    for (one.figure.block = 0; one.figure.block < c.blocks(); ++one.figure.block)
        for (one.figure.head = 0; one.figure.head < c.heads(one.figure.block); ++one.figure.head) {
            TRY_STATUS(render_one(
                one, trace, with_suffix(output, head_path(c, one.figure.block, one.figure.head)), pool));
            progress.step();
        }
    return success();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        while (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) out.push_back(line);
    }
    return out;
}

/// Writes one picture per sentence, several in parallel, one sentence per thread.
Status render_lines(const RenderOptions& o, const std::vector<std::string>& lines) {
    TRY(const auto model, open_model(o.input));
    ThreadPool pool(o.input.threads);
    Progress progress(isize(lines), o.input.quiet);
    std::mutex mutex;
    Status failed = success();
    const auto draw = [&](size_t i) -> Status {
        ThreadPool alone(1);
        RenderOptions one = o;
        read_instead(one.input, lines[i], "--text-file");
        TRY(ForwardRequest request, read_request(one.input, model, alone));
        TRY(const auto trace, run_trace(model, std::move(request), alone));
        return render_trace(one, trace, with_suffix(o.output, padded(i + 1, lines.size())), alone);
    };
    pool.run(isize(lines), [&](int i) {
        {
            std::lock_guard lock(mutex);
            if (!failed) return;
        }
        const Status done = draw(i);
        progress.step();
        std::lock_guard lock(mutex);
        if (!done && failed)
            failed = Error{"Sentence " + std::to_string(i + 1) + ": " + done.error().message};
    });
    return failed;
}

/// Applies the preset, then the given options.
Status read_style(const RenderOptions& o, FigureStyle& style) {
    if (!o.preset.empty()) {
        TRY(const FigurePreset preset, find_preset(o.preset));
        TRY_STATUS(apply_preset(style, preset));
    }
    TRY_STATUS(set_given(style, o.style));
    if (o.size.empty()) return success();
    TRY(const auto size, parse_size(o.size));
    std::tie(style.width_mm, style.height_mm) = std::pair{0.0, 0.0};
    std::tie(style.width_px, style.height_px) = std::pair<double, double>(size);
    return success();
}

/// Runs the input, or lists the heads of a dossier, which needs no model.
Result<std::shared_ptr<const Trace>> shown_trace(const RenderOptions& o, ThreadPool& pool) {
    constexpr const char* kRun[] = {"model",       "engine", "trace",  "text",   "text-file",
                                    "chat",        "pair",   "target", "ids",    "image",
                                    "token-types", "mask",   "ablate", "change", "temperature-attn",
                                    "target-ids"};
    const bool runs = std::any_of(std::begin(kRun), std::end(kRun),
                                  [&](const char* name) { return o.given.count(name) > 0; });
    const std::string corpus = o.word("corpus");
    return !runs && is_dossier(corpus) ? trace_of_dossier(corpus) : run_input(o.input, pool);
}

Status render(RenderOptions& o) {
    FigureOptions& f = o.figure;
    TRY_STATUS(read_style(o, f));
    o.output = with_format(o.output, o.format);
    if (o.given.count("panel") && !o.given.count("view")) o.view = "head";
    TRY_STATUS(check_heard(o));
    if (!o.input.text_file.empty()) {
        TRY(const std::string text, read_text(o.input.text_file));
        const auto lines = o.one_text ? std::vector{text} : lines_of(text);
        if (lines.size() > 1 && is_standard_stream(o.output))
            return Error{
                "Several figures cannot go to standard output; name a file with -o, or give one sentence."};
        if (lines.size() > 1) return render_lines(o, lines);
        read_instead(o.input, lines.empty() ? "" : lines[0], "--text-file");
    }
    if (o.all_heads && is_standard_stream(o.output))
        return Error{"The figures of all heads cannot go to standard output; name a file with -o."};
    if (!o.animate.empty()) return render_animation(o);
    TRY_STATUS(refuse_given(o.given, {"delay"}, "--animate"));
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, shown_trace(o, pool));
    return render_trace(o, trace, o.output, pool);
}

void add_combination(CLI::App& app, RenderOptions& o) {
    const auto add = [&](const char* name, std::optional<std::string>& into, const std::string& help) {
        return app
            .add_option_function<std::string>(
                name, [&into](const std::string& which) { into = which; }, help)
            ->expected(0, 1)
            ->default_str("layer");
    };
    auto* mean = add("--mean", o.mean,
                     "--view head, text, picture, alignment: the mean of several heads instead of one: of "
                     "the layer (layer), of all, or of 1.2,3.0");
    add("--max", o.max, "--view head, text, picture: the maximum over several heads, as with --mean")
        ->excludes(mean);
}

void add_output_options(CLI::App& app, RenderOptions& o) {
    app.add_flag("--one-text", o.one_text, "read --text-file as one text, not one per line")
        ->needs(app.get_option("--text-file"));
    app.add_flag("--all-heads", o.all_heads, "one figure per head: NAME-2.0.png, NAME-2.1.png …");
    auto* panel =
        app.add_option("--panel", o.panel,
                       "--view head: several heads in one figure, under letters, with one color bar: "
                       "'1.2,3.0;0.1,2.2' in rows")
            ->type_name("L.H,…");
    app.add_option("--columns", o.columns, "with --panel of one row: break it into rows of so many heads")
        ->check(within(1, 100))
        ->needs(panel);
    add_format_options(app, o.format, o.output,
                       " of the view, or .html for an interactive page of the view, beside every head of "
                       "the run; '-': standard output. With --text-file of several lines, one file per "
                       "line: NAME-1.png, NAME-2.png …")
        ->required();
}

void add_animation_options(CLI::App& app, RenderOptions& o) {
    auto* animate = app.add_option("--animate", o.animate,
                                   "write an animated .png over layers, or over tokens as the text grows")
                        ->check(one_of({"layers", "tokens"}));
    app.add_option("--generate", o.generate, "with --animate tokens: generate this many tokens first")
        ->check(within(0, 4096))
        ->needs(animate);
    app.add_option("--delay", o.delay, "with --animate: milliseconds per frame")
        ->check(within(20.0, 60000.0))
        ->capture_default_str();
    app.add_flag("--numbered", o.numbered,
                 "with --animate: one figure per frame instead of an animation: NAME-1.png, NAME-2.png …")
        ->needs(animate);
}

void add_place_options(CLI::App& app, RenderOptions& o) {
    std::vector<std::string> names;
    for (const auto& kind : figure_kinds()) names.push_back(kind.name);
    for (const View& view : views())
        if (!find_figure(view.key)) names.push_back(view.key);
    app.add_option("--view", o.view, "what to draw (difference: same as compare)")
        ->transform([](const std::string& name) { return find_figure(name) ? name : key_of_view(name); })
        ->check(one_of(names))
        ->capture_default_str();
    add_head_options(app, o.layer, o.figure.head, " (default: 0.0)");
    app.add_option("--cell", o.cell, "query and key for views of one cell, 16,10 (default: the last query)");
    add_combination(app, o);
    app.add_option("--heads", o.shown_heads, "--view lines or graph: only these heads, 2.0,2.3");
}

void add_subject_options(CLI::App& app, RenderOptions& o) {
    auto* with =
        app.add_option("--with", o.with, "--view compare: the other head, 3.2 (default: the most similar)");
    with->excludes(app.add_option(
        "--text-b", o.text_b,
        "--view compare: the other sentence; --view patch: the clean one; --view influence: the baseline"));
    with->excludes(app.add_option("--model-b", o.model_b, "--view compare: the other model"));
    add_metric_option(app, o.metric, "--view lens, delta, patch, influence: the metric");
    app.add_option("--architecture", o.architecture,
                   "--view model: 'gpt-3' (175B), or a config.json, instead of the open model's");
}

void add_view_option(CLI::App& app, RenderOptions& o, const ViewOption& row) {
    const std::string name = row.row.name;
    if (row.row.flag) {
        app.add_flag_callback(
            "--" + name, [&o, name] { o.chosen[name] = ""; }, row.help);
        return;
    }
    auto* option =
        app.add_option_function<std::string>(
               "--" + name, [&o, name](const std::string& text) { o.chosen[name] = text; }, row.help)
            ->default_str(row.usual);
    if (!row.words.empty()) option->check(one_of(row.words));
    if (row.range) option->check(whole_number(row.range->first, row.range->second))->type_name("INT");
}

void add_look_options(CLI::App& app, RenderOptions& o) {
    app.add_option("--size", o.size, "width and height in pixels, 1600x1000");
    app.add_option("--preset", o.preset,
                   "column (85 mm), double-column (178 mm), slide (16:9), a preset saved in the window, "
                   "or a preset file");
    for (const StyleField& field : style_fields()) add_style_option(app, o.style, field);
    app.add_option_function<std::string>(
           "--scale", [&o](const std::string& scale) { o.style["contrast"] = contrast_of_scale(scale); },
           "the contrast by other words")
        ->check(one_of({"linear", "log", "row"}))
        ->group("");
}

}  // namespace

std::string with_suffix(const std::string& output, const std::string& suffix) {
    const std::filesystem::path path(output);
    return (path.parent_path() / (path.stem().string() + "-" + suffix + path.extension().string())).string();
}

std::string padded(size_t number, size_t of) {
    std::string text = std::to_string(number);
    return text.insert(0, std::to_string(of).size() - text.size(), '0');
}

std::string RenderOptions::word(const std::string& option) const {
    const auto found = chosen.find(option);
    return found == chosen.end() ? find_view_option(option)->usual : found->second;
}

std::function<Status()> declare_render(CLI::App& app) {
    auto o = std::make_shared<RenderOptions>();
    add_input_options(app, o->input);
    add_trace_alone(app, o->input);
    add_animation_options(app, *o);
    add_output_options(app, *o);
    add_place_options(app, *o);
    add_subject_options(app, *o);
    for (const ViewOption& row : view_options()) add_view_option(app, *o, row);
    add_look_options(app, *o);
    return [o, &app] {
        o->given = given_options(app);
        return render(*o);
    };
}

}  // namespace headlight
