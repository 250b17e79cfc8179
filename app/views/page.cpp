#include "views/page.h"

#include <algorithm>
#include <cctype>

#include "analysis/comparison/compare.h"
#include "figure/canvas.h"
#include "figure/chosen_tokens.h"
#include "figure/file_formats.h"
#include "figure/methods.h"
#include "paint/layout.h"
#include "views/interactive_page.h"

namespace headlight {

namespace {

/// "Layer 2", "Encoder layer 2", "Cross-attention 2".
std::string layer_title(const ModelConfig& c, int block) {
    constexpr const char* kNames[] = {"Layer ", "Encoder layer ", "Decoder layer ", "Cross-attention "};
    return row_of(kNames, c.block(block).kind) + std::to_string(c.block(block).layer);
}

}  // namespace

std::string view_title(const Scene& s, const View& view) {
    if (view.title) return view.title(s);
    if (view.shows == View::Shows::model) return "All layers";
    const ModelConfig& c = s.model()->config;
    if (view.group && !s.session.selection.hovered.preview)
        if (const auto group = view.group(s.session, c)) return group_title(c, *group);
    const ShownHeads heads = shown_heads(s, view);
    if (heads.whole_layer) return layer_title(c, heads.head.block);
    const std::string head = "Head " + head_name(c, heads.head);
    if (!heads.second) return head;
    const bool subtracted = reads_same(c, heads.head.block, c, heads.second->block);
    return head + (subtracted ? " − " : " and ") + head_name(c, *heads.second);
}

const Theme& page_theme() {
    static const Theme colors = [] {
        Theme t = theme(false);
        t.bg1 = IM_COL32_WHITE;
        return t;
    }();
    return colors;
}

namespace {

constexpr float kTitleHeight = 44, kMethodsHeight = 44;

std::string methods_of(const Scene& s, const View& view) {
    std::string shown = view.fills_window() || view.title ? std::string(view.name) : view_title(s, view);
    for (const char* word : {"Head", "Layer", "Encoder", "Decoder", "Cross", "All"})  // within a sentence
        if (shown.rfind(word, 0) == 0) shown[0] = char(std::tolower(static_cast<unsigned char>(shown[0])));
    return methods_caption(*s.sentence()->trace, shown);
}

void with_scene_by(ViewPage& page, Ui& ui, const std::function<void(Scene&)>& use) {
    const Pictures none;
    Fields fields;
    Hovered nothing;
    Scene scene{ui, page.session, page.session.views, nothing, page.answer.get(), none, fields, nullptr, 0,
                0};
    use(scene);
}

void with_scene_on(ViewPage& page, Canvas& canvas, const std::function<void(Scene&)>& use) {
    TextPainter text;
    Ui ui(text, nullptr);
    ui.begin_page(page.dark ? theme(true) : page_theme(), canvas);
    with_scene_by(page, ui, use);
}

std::shared_ptr<const WorkAnswer> shown(const RunAnswer& answer) {
    auto out = std::make_shared<WorkAnswer>();
    static_cast<RunAnswer&>(*out) = answer;
    return out;
}

}  // namespace

void with_page_ui(const std::function<void(Ui&)>& use) {
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> nowhere(
        cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr), cairo_surface_destroy);
    const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(nowhere.get()), cairo_destroy);
    Canvas canvas(cairo.get());
    TextPainter text;
    Ui ui(text, nullptr);
    ui.begin_page(page_theme(), canvas);
    use(ui);
}

void with_scene(ViewPage& page, const std::function<void(Scene&)>& use) {
    with_page_ui([&](Ui& ui) { with_scene_by(page, ui, use); });
}

FigureOptions figure_options(const ViewPage& page) {
    FigureOptions o;
    static_cast<FigureStyle&>(o) = page.style;
    o.block = page.session.selection.block;
    o.head = page.session.selection.head;
    if (const auto group = views()[page.view].group)
        o.group = group(page.session, page.answer->sentence->model->config);
    return o;
}

Result<Drawing> draw_figure(const ViewPage& page, ThreadPool& pool) {
    return in_font(page.style.font, [&]() -> Result<Drawing> {
        const View& view = views()[page.view];
        if (view.figure)
            if (auto own = view.figure(page, pool)) return std::move(*own);
        return draw_view_page(page);
    });
}

Status prepare_page(ViewPage& page, RunAnswer answer, ThreadPool& pool) {
    const View& view = views()[page.view];
    page.session.preferences.dark = false;
    page.answer = shown(answer);
    if (!view.ask) return success();
    for (int i = 0; i < 2; ++i) {
        std::vector<Question> questions;
        with_scene(page, [&](Scene& s) {
            if (i) view.draw(s, {0, kTitleHeight, page.width, page.height});
            questions = view.ask(s);
        });
        TRY_STATUS(answer_questions(answer, questions, pool));
        page.answer = shown(answer);
    }
    return success();
}

std::optional<Status> write_view_document(const std::filesystem::path& path, ViewPage page) {
    const View& view = views()[page.view];
    std::optional<Status> written;
    if (view.write) with_scene(page, [&](Scene& s) { written = view.write(s, path); });
    if (!written && is_html_path(path) && page.answer->sentence && page.answer->sentence->trace)
        written = write_interactive_page(path, std::move(page));
    return written;
}

std::vector<NumberTable> view_numbers(ViewPage page) {
    std::vector<NumberTable> tables;
    with_scene(page, [&](Scene& s) { tables = views()[page.view].numbers(s); });
    return tables;
}

Status write_view_numbers(const std::filesystem::path& path, ViewPage page) {
    const View& view = views()[page.view];
    std::vector<NumberTable> tables = view_numbers(page);
    const bool of_tokens = view.figure && !view.figure_of_answer && view.shows == View::Shows::head;
    Status chosen = success();
    if (of_tokens && tables.size() == 1 && tables[0].columns_are == "key")
        with_scene(page, [&](Scene& s) {
            chosen = choose_tokens(tables[0], *s.sentence()->trace, s.block(), page.style);
        });
    TRY_STATUS(chosen);
    std::string why;
    if (tables.empty() && view.silent) with_scene(page, [&](Scene& s) { why = view.silent(s); });
    if (!why.empty()) return Error{why};
    return write_numbers(path, tables);
}

void size_page(ViewPage& page, float width, float height) {
    const float min = views()[page.view].fills_window() ? 1000 : 760;
    const auto wide = page.style.width(), high = page.style.height();
    page.zoom = float(style_zoom(page.style));
    if (wide) page.zoom = std::min(page.zoom, float(*wide) / min);
    page.width = wide ? float(*wide) / page.zoom : width;
    page.height =
        high ? std::max(200.0f, float(*high) / page.zoom - (page.style.title.empty() ? 0 : kTitleHeight))
             : height;
}

void draw_view_in(Scene& s, const ViewPage& page, Canvas& canvas, Rect area) {
    const View& view = views()[page.view];
    ThreadPool pool(1);
    auto own = view.figure ? view.figure(page, pool) : std::nullopt;
    if (!own || !*own) return view.draw(s, area);
    const Drawing& figure = **own;
    const double zoom = std::min(double(area.w) / figure.page.width, double(area.h) / figure.page.height);
    cairo_save(canvas.cairo());
    cairo_translate(canvas.cairo(), double(area.middle_x()) - zoom * figure.page.width / 2, double(area.y));
    cairo_scale(canvas.cairo(), zoom, zoom);
    figure.draw(canvas);
    cairo_restore(canvas.cairo());
}

Drawing draw_page_by(ViewPage page, std::function<void(Scene&, const ViewPage&, Canvas&)> draw) {
    page.session.preferences.dark = false;
    page.session.selection.hovered = {};
    const double wide = page.width * page.zoom, high = page.height * page.zoom, dpi = page.style.dpi;
    return {{wide, high, dpi}, [page = std::move(page), draw = std::move(draw)](Canvas& canvas) mutable {
                cairo_scale(canvas.cairo(), page.zoom, page.zoom);
                with_scene_on(page, canvas, [&](Scene& s) {
                    s.ui.fill({0, 0, page.width, page.height}, s.ui.colors->bg1);
                    draw(s, page, canvas);
                });
            }};
}

Drawing draw_view_page(ViewPage page) {
    page.session.preferences.dark = page.dark;
    page.session.selection.hovered = {};
    const float zoom = page.zoom,
                caption = page.style.caption == "auto" || page.style.caption.empty() ? 0 : 28,
                title = page.style.title.empty() ? 0 : kTitleHeight,
                methods = page.style.methods ? kMethodsHeight : 0,
                high = title + page.height + caption + methods;
    return {{page.width * zoom, high * zoom, page.style.dpi},
            [page, zoom, caption, title, methods, high](Canvas& canvas) mutable {
                cairo_scale(canvas.cairo(), zoom, zoom);
                const View& view = views()[page.view];
                with_scene_on(page, canvas, [&](Scene& s) {
                    if (!page.style.transparent) s.ui.fill({0, 0, page.width, high}, s.ui.colors->bg1);
                    const std::string automatic =
                        view.fills_window() ? std::string(view.name) : view_title(s, view);
                    if (title > 0)
                        s.ui.text.draw(24, 26, kTitle, s.ui.colors->t1,
                                       page.style.title == "auto" ? automatic : page.style.title);
                    if (title > 0 && page.style.title == "auto")
                        s.ui.text.draw_right(page.width - 24, 26, kCaption, s.ui.colors->t3,
                                             std::string(view.name) + " · " + s.model()->name);
                    if (s.sentence()) view.draw(s, {0, title, page.width, page.height});
                    if (caption > 0)
                        s.ui.text.draw(24, title + page.height + 14, kCaption, s.ui.colors->t2,
                                       page.style.caption);
                    if (methods > 0 && s.sentence())
                        s.ui.text.draw_wrapped(24, high - methods + gap::tight, page.width - 48, kCaption,
                                               s.ui.colors->t3, methods_of(s, view));
                });
            }};
}

}  // namespace headlight
