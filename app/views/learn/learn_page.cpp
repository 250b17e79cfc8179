#include "views/learn/learn_page.h"

#include "figure/figure.h"
#include "learn/numbers.h"
#include "paint/layout.h"
#include "parts/blocks.h"
#include "views/page.h"
#include "views/page_spots.h"

namespace headlight::learn {

namespace {

constexpr float kPad = 24, kUsualWidth = 944, kLeastWidth = 760;

struct LearnSheet {  // lengths in points
    std::shared_ptr<const Page> page;
    StationText text;
    FigureStyle style;
    float width = 0, zoom = 1;
    bool dark = false;
};

/// Returns the total height.
float draw_sheet(Ui& ui, const LearnSheet& sheet) {
    const std::string& title = sheet.style.title == "auto" ? sheet.text.title : sheet.style.title;
    float y = kPad / 2;
    if (!title.empty()) {
        ui.text.draw(kPad, y + 14, kTitle, ui.colors->t1, title);
        const float room = sheet.width - 2 * kPad - ui.text.width(kTitle, title) - 24;
        ui.text.draw_right(sheet.width - kPad, y + 14, kCaption, ui.colors->t3,
                           ui.text.fitted(kCaption, sheet.page->note, room));
        y += 38;
    }
    const std::string& caption = sheet.style.caption == "auto" ? sheet.text.text : sheet.style.caption;
    if (!caption.empty())
        y += 20 + ui.text.draw_wrapped(kPad, y, sheet.width - 2 * kPad, kBody, ui.colors->t2, caption);
    for (const PageQuestion& question : sheet.page->questions)
        if (const float high = draw_finding(ui, {kPad, y}, sheet.width - 2 * kPad, question); high > 0)
            y += high + 20;
    BlockPen pen{ui, colormap(sheet.style.colormap, sheet.dark)};
    y = draw_blocks(pen, sheet.page->blocks, kPad, y, sheet.width - 2 * kPad);
    if (sheet.style.caption == "auto" && !sheet.page->symbols.empty())
        y += 20 + draw_symbols(ui, {kPad, y + 20}, sheet.width - 2 * kPad, sheet.page->symbols);
    return y + kPad;
}

/// Draws nowhere, to measure the height.
float measured_height(const LearnSheet& sheet) {
    float height = 0;
    with_page_ui([&](Ui& ui) { height = draw_sheet(ui, sheet); });
    return height;
}

LearnSheet sheet_of(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style) {
    LearnSheet sheet{std::move(page), text, style, kUsualWidth, float(style_zoom(style))};
    if (const auto wide = style.width()) {
        sheet.zoom = std::min(sheet.zoom, float(*wide) / kLeastWidth);
        sheet.width = float(*wide) / sheet.zoom;
    }
    return sheet;
}

}  // namespace

Drawing draw_learn_page(std::shared_ptr<const Page> page, const StationText& text, const FigureStyle& style,
                        bool dark) {
    LearnSheet sheet = sheet_of(std::move(page), text, style);
    sheet.dark = dark;
    const float height = measured_height(sheet);
    return {{double(sheet.width * sheet.zoom), double(height * sheet.zoom), style.dpi},
            [sheet, height](Canvas& canvas) {
                cairo_scale(canvas.cairo(), sheet.zoom, sheet.zoom);
                TextPainter painter;
                Ui ui(painter, nullptr);
                ui.begin_page(sheet.dark ? theme(true) : page_theme(), canvas);
                if (!sheet.style.transparent) ui.fill({0, 0, sheet.width, height}, ui.colors->bg1);
                draw_sheet(ui, sheet);
            }};
}

Result<PageFigure> learn_page_figure(const std::shared_ptr<const Page>& page, const StationText& text,
                                     FigureStyle style) {
    style.title.clear();  // the page has it
    const Drawing drawing = draw_learn_page(page, text, style);
    PageFigure out{.key = "learn",
                   .name = "Learn",
                   .title = page->note,
                   .width = drawing.page.width,
                   .height = drawing.page.height,
                   .tables = page_numbers(*page)};
    TRY(out.svg, svg_text(drawing));
    TRY(out.dark_svg, svg_text(draw_learn_page(page, text, style, true)));
    const LearnSheet sheet = sheet_of(page, text, style);
    with_page_ui([&](Ui& ui) {
        const Rect area{0, 0, sheet.width, float(drawing.page.height) / sheet.zoom};
        out.spots = spots_of(ui, area, sheet.zoom, [&] { draw_sheet(ui, sheet); });
    });
    return out;
}

}  // namespace headlight::learn
