#include "cli/options.h"
#include "cli/verbs.h"
#include "figure/figure.h"

namespace headlight {

namespace {

struct RenderOptions {
    InputOptions input;
    FigureOptions figure;
    std::string output, view = "heads", size, layer = "0", scale = "linear", queries = "rows", title;
    double width_mm = 0;
    bool no_labels = false;
    CLI::Option* title_option = nullptr;
};

Status render(RenderOptions& o) {
    FigureOptions& f = o.figure;
    if (!o.size.empty()) {
        TRY(const auto size, parse_size(o.size));
        f.width = size.first * 96 / f.dpi;  // the size is in pixels of the picture
        f.height = size.second * 96 / f.dpi;
    }
    if (o.width_mm > 0) f.width = o.width_mm / 25.4 * 96;
    if (o.title_option->count()) f.title = o.title;
    f.scale = static_cast<Scale>(std::find(std::begin(kScaleNames), std::end(kScaleNames), o.scale) - std::begin(kScaleNames));
    f.queries = o.queries == "rows" ? Axis::rows : Axis::columns;
    f.labels = !o.no_labels;
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_input(o.input, pool));
    const ModelConfig& c = trace->config();
    TRY(f.site, parse_site(c, o.layer));
    if (f.head < 0 || f.head >= c.heads) return Error{"There is no head " + std::to_string(f.head) + ": " + trace->model->name + " has heads 0 … " + std::to_string(c.heads - 1) + " in each layer; correct --head."};
    return find_figure(o.view)->write(o.output, *trace, f, pool);
}

}  // namespace

std::function<Status()> declare_render(CLI::App& app) {
    auto o = std::make_shared<RenderOptions>();
    add_input_options(app, o->input);
    std::vector<std::string> views, maps(colormap_names().begin(), colormap_names().end());
    for (const auto& kind : figure_kinds()) views.push_back(kind.name);
    app.add_option("-o,--output", o->output, "the file to write: .png, .svg or .pdf")->required();
    app.add_option("--view", o->view, "what to draw")->check(CLI::IsMember(views))->capture_default_str();
    app.add_option("--layer", o->layer, "layer of the head, from 0; encoder.0, decoder.0 or cross.0 where a model has several kinds")->capture_default_str();
    app.add_option("--head", o->figure.head, "head, from 0")->capture_default_str();
    auto* size = app.add_option("--size", o->size, "width and height in pixels, 1600x1000");
    app.add_option("--width-mm", o->width_mm, "width in millimetres (85: one column, 178: two)")->check(CLI::Range(10.0, 2000.0))->excludes(size);
    app.add_option("--dpi", o->figure.dpi, "pixels per inch of a PNG")->check(CLI::Range(20.0, 2400.0))->capture_default_str();
    app.add_option("--colormap", o->figure.colormap, "colours")->check(CLI::IsMember(maps))->capture_default_str();
    app.add_option("--scale", o->scale, "linear, log, or row (each row by its largest)")->check(CLI::IsMember({"linear", "log", "row"}))->capture_default_str();
    app.add_option("--queries", o->queries, "whether queries are rows or columns")->check(CLI::IsMember({"rows", "columns"}))->capture_default_str();
    o->title_option = app.add_option("--title", o->title, "title ('' for none)");
    app.add_flag("--no-labels", o->no_labels, "leave out token labels and colour bar");
    return [o] { return render(*o); };
}

}  // namespace headlight
