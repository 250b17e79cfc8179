#include "views/interactive_page.h"

#include <algorithm>

#include "base/quoted.h"
#include "figure/file_formats.h"
#include "figure/page/page.h"
#include "io/output_file.h"
#include "views/page_spots.h"

namespace headlight {

namespace {

/// Returns the run that is compared, or null.
const Trace* compared_run(const Scene& s) {
    const SentenceResult& sentence = *s.sentence();
    if (s.session.document.comparison.what == Compared::changes) return sentence.unchanged.get();
    return s.answer->other ? s.answer->other->trace.get() : nullptr;
}

/// Returns whether two runs have the same blocks, heads and numbers of tokens.
bool are_alike(const Trace& a, const Trace& b) {
    if (a.config().blocks() != b.config().blocks()) return false;
    for (int block = 0; block < a.config().blocks(); ++block)
        if (a.config().heads(block) != b.config().heads(block) ||
            a.query_count(block) != b.query_count(block) || a.key_count(block) != b.key_count(block))
            return false;
    return true;
}

Status add_compared(const Scene& s, PageContents& page) {
    if (page.view != "compare") return success();
    const Trace* other = compared_run(s);
    if (!other || s.session.document.comparison.what == Compared::heads || !are_alike(*page.trace, *other))
        return Error{
            "A page compares two runs with the same heads and the same number of tokens; choose those, or "
            "save "
            "a picture."};
    page.other = other;
    const bool before = s.session.document.comparison.what == Compared::changes;
    page.name = before ? "with the change" : "A";
    page.other_name = before ? "unchanged" : "B";
    return success();
}

/// Returns the sentence, or where it is long or there is none the model's name.
std::string title_of(const Scene& s) {
    constexpr size_t kLongest = 80;
    const Trace& trace = *s.sentence()->trace;
    const auto& tokenizer = trace.model->tokenizer;
    const std::string text = !s.sentence()->text.empty() || !tokenizer
                                 ? s.sentence()->text
                                 : (*tokenizer)->decode(trace.request.inputs[0].ids);
    return text.empty() || text.size() > kLongest ? trace.model->name : text;
}

/// Returns whether a page has the logit lens: where it is what is shown, or takes no more than the rest.
bool has_lens(const Trace& trace, std::string_view view) {
    constexpr int64_t kFewRows = 1024;
    const int64_t rows = int64_t{trace.output().size()} * (trace.config().stacks.back().depth() + 1);
    return trace.can_run() && trace.model->has_logits() && (view == "lens" || rows <= kFewRows);
}

Status add_lens(PageContents& page, ThreadPool& pool) {
    TRY(page.lens, answer_lens(*page.trace, LensRequest{0, page.trace->output().size()}, pool, nullptr));
    return success();
}

/// Fills in what every page of a run has.
Result<PageContents> contents_of(const Scene& s, const std::string& view, ThreadPool& pool) {
    const Trace& trace = *s.sentence()->trace;
    PageContents page;
    page.trace = &trace;
    page.view = view;
    page.block = s.block();
    page.head = s.head();
    page.locked = s.session.selection.locked ? s.session.selection.locked->first : -1;
    page.title = title_of(s);
    const HeadLabels& labels = s.session.document.head_labels;
    if (const auto of_model = labels.find(trace.model->name); of_model != labels.end())
        page.names = of_model->second;
    if (has_lens(trace, view)) TRY_STATUS(add_lens(page, pool));
    TRY_STATUS(add_compared(s, page));
    return page;
}

}  // namespace

Status add_short_lens(PageContents& page, ThreadPool& pool) {
    return has_lens(*page.trace, page.view) ? add_lens(page, pool) : success();
}

Result<PageFigure> page_figure(ViewPage page) {
    constexpr float kWide = 1120;  // of an interactive page's middle
    page.style.title.clear();
    page.width = std::max(page.width, kWide / page.zoom);
    const View& view = views()[page.view];
    const Drawing drawing = draw_view_page(page);
    PageFigure out{.key = view.key,
                   .name = view.name,
                   .width = drawing.page.width,
                   .height = drawing.page.height,
                   .tables = view_numbers(page)};
    TRY(out.svg, svg_text(drawing));
    ViewPage dark = page;
    dark.dark = true;
    TRY(out.dark_svg, svg_text(draw_view_page(std::move(dark))));
    with_scene(page, [&](Scene& s) {
        const Rect area{0, 0, page.width, page.height};
        if (!view.fills_window()) out.title = view_title(s, view);
        out.spots = spots_of(s.ui, area, page.zoom, [&] { view.draw(s, area); });
    });
    return out;
}

Status write_interactive_page(const std::filesystem::path& path, ViewPage page) {
    const View& view = views()[page.view];
    std::vector<PageFigure> figures;
    if (!view.page) {
        TRY(PageFigure figure, page_figure(page));
        figures.push_back(std::move(figure));
    }
    ThreadPool pool(default_thread_count());
    Result<PageContents> contents = PageContents();
    with_scene(page, [&](Scene& s) { contents = contents_of(s, view.page ? view.page : view.key, pool); });
    TRY_STATUS(contents);
    contents->figures = std::move(figures);
    contents->exact = page.style.exact;
    TRY(const std::string html, page_html(*contents, pool));
    return write_file(path, html);
}

}  // namespace headlight
