#include <algorithm>
#include <mutex>
#include <sstream>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "figure/figure.h"
#include "io/output_file.h"
#include "views/page.h"
#include "window/presets.h"

namespace headlight {

namespace {

struct RenderOptions {
    InputOptions input;
    FigureOptions figure;
    std::string output, view = "heads", size, layer = "0", preset;
    std::string lock, with, text_b, model_b, show = "pattern", format;
    bool all_heads = false;
    std::map<std::string, std::string> fields;  // of the style, those that were given
};

constexpr const char* kShown[] = {"pattern", "delta", "next"};

/// "16,10": the query and key that a view of one cell shows.
Result<std::optional<std::pair<int, int>>> parse_cell(const std::string& text, const Trace& trace, int site) {
    if (text.empty()) return std::optional<std::pair<int, int>>();
    int query = 0, key = 0;
    const bool read = std::sscanf(text.c_str(), "%d,%d", &query, &key) == 2;
    if (!read || query < 0 || key < 0 || query >= trace.query_count(site) || key >= trace.key_count(site))
        return Error{"There is no cell " + text + ": queries go to " + std::to_string(trace.query_count(site) - 1) + " and keys to " + std::to_string(trace.key_count(site) - 1) + "; correct --cell, as in --cell 3,1."};
    return std::optional(std::pair{query, key});
}

/// The runs that a view shows: with changes also the model's own, and for --view compare the one it is compared with.
Result<ShownRuns> compared(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, ViewState& s, ThreadPool& pool) {
    ShownRuns runs{trace, nullptr, nullptr};
    s.compared_show = static_cast<ComparedShow>(std::find(std::begin(kShown), std::end(kShown), o.show) - std::begin(kShown));
    if (trace->request.intervention != Intervention{}) {
        TRY(runs.own, run_trace(trace->model, {trace->request.inputs, {}}, pool));
        s.compared_what = Compared::changes;
    }
    if (!o.text_b.empty() || !o.model_b.empty()) {
        InputOptions other = o.input;
        clear_changes(other);
        if (!o.text_b.empty()) other.typed.text = o.text_b;
        if (!o.model_b.empty()) other.model = o.model_b;
        TRY(runs.other, run_input(other, pool));
        s.compared_what = o.model_b.empty() ? Compared::sentences : Compared::models;
    }
    if (!o.with.empty()) {
        TRY(const Change named, parse_ablation(trace->config(), o.with));
        s.compared = {named.site, named.head};
        s.compared_what = Compared::heads;
    }
    return runs;
}

/// A view as the window draws it, on a page.
Status render_view(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, const std::string& output, ThreadPool& pool) {
    const auto row = std::find_if(views().begin(), views().end(), [&](const View& v) { return o.view == v.key; });
    if (!row->offered(*trace->model)) return Error{"The view " + o.view + " does not go with " + trace->model->name + "; try --view head."};
    if (const char* missing = row->missing(*trace->model)) return Error{"The view " + o.view + " has nothing to show: " + missing};
    ViewPage page;
    page.view = static_cast<size_t>(row - views().begin());
    page.style = o.figure;
    const double zoom = style_zoom(page.style);
    page.width = static_cast<float>(o.figure.width().value_or((row->fills_window ? 1280 : 944) * zoom) / zoom);
    page.height = static_cast<float>(o.figure.height() ? std::max(200.0, *o.figure.height() / zoom - (o.figure.title.empty() ? 0 : 44)) : 720);
    ViewState& s = page.state;
    s.site = o.figure.site;
    s.head = o.figure.head;
    s.colormap = o.figure.colormap;
    s.scale = o.figure.scale;
    s.queries = o.figure.queries;
    s.marks = o.figure.marks;
    s.drop_sink = o.figure.drop_sink;
    TRY(const ShownRuns runs, compared(o, trace, s, pool));
    TRY(s.locked, parse_cell(o.lock, *trace, s.site));
    prepare_page(page, answer_for(runs, s.site, s.head, s.locked, pool), pool);
    return is_numbers_path(output) ? write_view_numbers(output, std::move(page)) : write_view_page(output, std::move(page));
}

/// One picture of a trace.
Status render_one(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, const std::string& output, ThreadPool& pool) {
    const FigureKind* kind = is_numbers_path(output) ? nullptr : find_figure(o.view);
    return kind ? write_figure(output, *kind, trace, o.figure, pool) : render_view(o, trace, output, pool);
}

/// "a/b.png" with "2.0" becomes "a/b-2.0.png".
std::string with_suffix(const std::string& output, const std::string& suffix) {
    const std::filesystem::path path(output);
    return (path.parent_path() / (path.stem().string() + "-" + suffix + path.extension().string())).string();
}

/// One picture of a trace, or one of each head.
Status render_trace(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, const std::string& output, ThreadPool& pool) {
    const ModelConfig& c = trace->config();
    RenderOptions one = o;
    TRY(one.figure.site, parse_site(c, o.layer));
    if (one.figure.head < 0 || one.figure.head >= c.heads) return Error{"There is no head " + std::to_string(one.figure.head) + ": " + trace->model->name + " has heads 0 … " + std::to_string(c.heads - 1) + " in each layer; correct --head."};
    if (!o.all_heads) return render_one(one, trace, output, pool);
    Progress progress(c.sites() * c.heads, o.input.quiet);
    for (one.figure.site = 0; one.figure.site < c.sites(); ++one.figure.site)
        for (one.figure.head = 0; one.figure.head < c.heads; ++one.figure.head) {
            TRY_STATUS(render_one(one, trace, with_suffix(output, site_path(c, one.figure.site) + "." + std::to_string(one.figure.head)), pool));
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

/// One picture a sentence, several at once; each thread holds one sentence at a time.
Status render_lines(const RenderOptions& o, const std::vector<std::string>& lines) {
    TRY(const auto model, open_model(o.input));
    ThreadPool pool(o.input.threads);
    Progress progress(static_cast<int>(lines.size()), o.input.quiet);
    std::mutex mutex;
    Status failed = success();
    const auto draw = [&](size_t i) -> Status {
        ThreadPool alone(1);
        RenderOptions one = o;
        one.input.text_file.clear();
        one.input.typed.text = lines[i];
        std::string number = std::to_string(i + 1);
        number.insert(0, std::to_string(lines.size()).size() - number.size(), '0');
        TRY(ForwardRequest request, read_request(one.input, model, alone));
        TRY(const auto trace, run_trace(model, std::move(request), alone));
        return render_trace(one, trace, with_suffix(o.output, number), alone);
    };
    pool.run(static_cast<int>(lines.size()), [&](int i) {
        {
            std::lock_guard lock(mutex);
            if (!failed) return;
        }
        const Status done = draw(static_cast<size_t>(i));
        progress.step();
        std::lock_guard lock(mutex);
        if (!done && failed) failed = Error{"Sentence " + std::to_string(i + 1) + ": " + done.error().message};
    });
    return failed;
}

/// The preset, then what was said beside it.
Status read_style(const RenderOptions& o, FigureStyle& style) {
    if (!o.preset.empty()) {
        TRY(const FigurePreset preset, find_preset(o.preset));
        TRY_STATUS(apply_preset(style, preset));
    }
    for (const StyleField& field : style_fields())
        if (const auto given = o.fields.find(field.name); given != o.fields.end()) TRY_STATUS(set_field(style, field, given->second));
    if (o.size.empty()) return success();
    TRY(const auto size, parse_size(o.size));
    std::tie(style.width_mm, style.height_mm) = std::pair{0.0, 0.0};
    std::tie(style.width_px, style.height_px) = std::pair<double, double>(size);
    return success();
}

Status render(RenderOptions& o) {
    FigureOptions& f = o.figure;
    TRY_STATUS(read_style(o, f));
    if (o.output == "-") o.output += "." + (o.format.empty() ? "png" : o.format);
    else if (!o.format.empty() && std::filesystem::path(o.output).extension() != "." + o.format) o.output += "." + o.format;
    if (!o.input.text_file.empty()) {
        TRY(const std::string text, read_text(o.input.text_file));
        const auto lines = lines_of(text);
        if (lines.size() > 1 && is_standard_stream(o.output)) return Error{"Several pictures cannot go to standard output; name a file with -o, or give one sentence."};
        if (lines.size() > 1) return render_lines(o, lines);
        o.input.typed.text = lines.empty() ? "" : lines[0];
        o.input.text_file.clear();
    }
    if (o.all_heads && is_standard_stream(o.output)) return Error{"The pictures of all heads cannot go to standard output; name a file with -o."};
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_input(o.input, pool));
    return render_trace(o, trace, o.output, pool);
}

/// "--width-mm 85"; a flag where it can only be true or false: "--values", and "--no-labels" for what is there by itself.
void add_style_option(CLI::App& app, RenderOptions& o, const StyleField& field) {
    const std::string name = field.name;
    if (const auto* flag = std::get_if<bool FigureStyle::*>(&field.member)) {
        const bool on = FigureStyle().*(*flag);
        app.add_flag_callback((on ? "--no-" : "--") + name, [&o, name, on] { o.fields[name] = on ? "false" : "true"; }, std::string(on ? "without " : "") + field.help);
        return;
    }
    auto* option = app.add_option_function<std::string>("--" + name, [&o, name](const std::string& text) { o.fields[name] = text; }, field.help);
    if (const auto names = field_names(field); !names.empty()) option->check(CLI::IsMember(names));
    else if (field.high > 0) option->check(CLI::Range(field.low, field.high));
    else if (name == "colormap") option->check(CLI::IsMember(std::vector<std::string>(colormap_names().begin(), colormap_names().end())));
}

}  // namespace

std::function<Status()> declare_render(CLI::App& app) {
    auto o = std::make_shared<RenderOptions>();
    add_input_options(app, o->input);
    std::vector<std::string> names;
    for (const auto& kind : figure_kinds()) names.push_back(kind.name);
    for (const View& view : views())
        if (!find_figure(view.key)) names.push_back(view.key);
    app.add_flag("--all-heads", o->all_heads, "one picture of each head: NAME-2.0.png, NAME-2.1.png …");
    app.add_option("--format", o->format, "kind of picture or numbers where -o is '-' or has no ending")->check(CLI::IsMember({"png", "svg", "pdf", "csv", "tsv", "json", "npy", "safetensors"}));
    app.add_option("-o,--output", o->output, "the file to write: .png, .svg, .pdf; or .csv, .tsv, .json, .npy, .safetensors for the numbers of the view; '-': standard output. With --text-file of several lines, one file for each: NAME-1.png, NAME-2.png …")->required();
    app.add_option("--view", o->view, "what to draw")->check(CLI::IsMember(names))->capture_default_str();
    app.add_option("--layer", o->layer, "layer of the head, from 0; encoder.0, decoder.0 or cross.0 where a model has several kinds")->capture_default_str();
    app.add_option("--head", o->figure.head, "head, from 0")->capture_default_str();
    app.add_option("--cell", o->lock, "query and key that views of one cell show, 16,10; the last query otherwise");
    app.add_option("--with", o->with, "--view compare: the other head, 3.2");
    app.add_option("--text-b", o->text_b, "--view compare: the other sentence");
    app.add_option("--model-b", o->model_b, "--view compare: the other model");
    app.add_option("--show", o->show, "--view compare: the head's pattern, the lengths of ΔE, or the next tokens; with changes and nothing else to compare, before and after")->check(CLI::IsMember({"pattern", "delta", "next"}))->capture_default_str();
    app.add_option("--size", o->size, "width and height in pixels, 1600x1000");
    app.add_option("--preset", o->preset, "column (85 mm), double-column (178 mm), slide (16:9), one that was saved in the window, or a preset file");
    for (const StyleField& field : style_fields()) add_style_option(app, *o, field);
    return [o] { return render(*o); };
}

}  // namespace headlight
