#include "figure/panel.h"

#include <algorithm>
#include <sstream>

#include "base/cast.h"
#include "figure/color_bar.h"

namespace headlight {

namespace {

constexpr double kPanelName = 18, kPanelGap = 12, kPanelBar = 64, kPanelColumn = 240;

struct PlacedHead {
    double x = 0, y = 0;
    std::string name;
    Drawing drawing;
};

struct PanelLayout {
    std::vector<PlacedHead> heads;
    double width = 0, height = 0, zoom = 1;
};

/// "(a)", … "(z)", "(aa)".
std::string letter(int at) {
    std::string out;
    for (++at; at > 0; at = (at - 1) / 26) out.insert(out.begin(), char('a' + (at - 1) % 26));
    return "(" + out + ")";
}

/// Returns the scale on which all heads are drawn: that of the largest weight of any.
Result<Shades> shared_shades(const Trace& trace, const PanelRows& rows, FigureOptions o) {
    std::optional<Shades> out;
    for (const auto& row : rows)
        for (const auto& [block, head] : row) {
            o.block = block;
            o.head = head;
            TRY(const Shades one, shades_of_head(trace, o));
            if (!out) out = one;
            if (one.is_signed != out->is_signed)
                return Error{
                    "A mixing matrix is signed and a pattern is not, so one color bar cannot serve both; put "
                    "them into panels of their own."};
            out->largest = std::max(out->largest, one.largest);
            out->percentile = std::max(out->percentile, one.percentile);
        }
    return *out;
}

/// Returns the options of each head: no title, caption or bar of its own, as wide as its column.
FigureOptions of_one(const FigureOptions& o, double width) {
    FigureOptions out = o;
    out.title = out.caption = "";
    out.color_bar = out.methods = false;
    out.width_mm = out.height_mm = out.height_px = 0;
    out.width_px = width;
    out.dpi = 96;
    out.transparent = true;
    return out;
}

Result<PanelLayout> arrange_panel(const std::shared_ptr<const Trace>& trace, const PanelRows& rows,
                                  const FigureOptions& o, const Shades& shades) {
    PanelLayout out;
    out.zoom = style_zoom(o);
    size_t columns = 0;
    for (const auto& row : rows) columns = std::max(columns, row.size());
    const double gap = kPanelGap * out.zoom, bar = o.color_bar ? kPanelBar * out.zoom : 0;
    out.width = o.width().value_or(double(columns) * (kPanelColumn + gap) - gap + bar);
    const double column = (out.width - bar + gap) / double(columns) - gap;
    if (column < 40)
        return Error{"Columns of " + decimals(column, 0) +
                     " pixels are too narrow for a head; give a larger --width-mm, or fewer --columns."};
    double y = o.title.empty() || o.title == "auto" ? 0 : 26 * out.zoom;
    for (const auto& row : rows) {
        double highest = 0;
        for (size_t i = 0; i < row.size(); ++i) {
            FigureOptions one = of_one(o, column);
            std::tie(one.block, one.head) = std::pair{row[i].block, row[i].head};
            TRY(Drawing drawing, head_on_scale(trace, one, &shades));
            highest = std::max(highest, drawing.page.height);
            out.heads.push_back({double(i) * (column + gap), y,
                                 letter(isize(out.heads)) + "  " + head_name(trace->config(), row[i]),
                                 std::move(drawing)});
        }
        y += highest + kPanelName * out.zoom + gap;
    }
    out.height = y - gap;
    return out;
}

void draw_panel(Canvas& canvas, const PanelLayout& l, const FigureOptions& o, const Shades& shades) {
    begin_figure(canvas, {l.width, l.height, o.dpi}, o, "");
    const double font = 11 * l.zoom, name = kPanelName * l.zoom;
    for (const PlacedHead& head : l.heads) {
        canvas.text(head.x, head.y + name / 2, head.name, font, Face::sans, PageColors{}.text);
        cairo_save(canvas.cairo());
        cairo_translate(canvas.cairo(), head.x, head.y + name);
        head.drawing.draw(canvas);
        cairo_restore(canvas.cairo());
    }
    if (!o.color_bar) return;
    const double top = l.heads.front().y + name + 24 * l.zoom;
    draw_color_bar(canvas, weight_bar(page_colormap(o, shades), shades),
                   {.x = l.width - (kPanelBar - 12) * l.zoom,
                    .y = top,
                    .length = std::clamp(l.height - top - 12 * l.zoom, 60.0, 200.0 * l.zoom),
                    .upright = true,
                    .type = 10 * l.zoom});
}

}  // namespace

Result<PanelRows> parse_panel(const ModelConfig& c, const std::string& given, int columns) {
    constexpr const char* kEmpty = "A row of --panel names no head; write it as '1.2,3.0;0.1,2.2'.";
    PanelRows rows;
    if (columns > 0 && given.find(';') != given.npos)
        return Error{"--columns breaks a --panel of one row, and this one has several; leave it out."};
    std::istringstream text(given);
    for (std::string row; std::getline(text, row, ';');) {
        rows.emplace_back();
        std::istringstream names(row);
        for (std::string name; std::getline(names, name, ',');) {
            TRY(const AttentionHead head, parse_head(c, name, "--panel"));
            if (columns > 0 && isize(rows.back()) == columns) rows.emplace_back();
            rows.back().push_back(head);
        }
        if (rows.back().empty()) return Error{kEmpty};
    }
    return rows.empty() ? Result<PanelRows>(Error{kEmpty}) : rows;
}

Result<Drawing> panel_figure(const std::shared_ptr<const Trace>& trace, const PanelRows& rows,
                             const FigureOptions& given, ThreadPool&) {
    FigureOptions o = given;
    if (o.title == "auto") o.title = "";
    if (o.height())
        return Error{"A panel is as high as its rows; leave the height out, or give another width."};
    TRY(const Shades shades, shared_shades(*trace, rows, o));
    TRY(PanelLayout layout, arrange_panel(trace, rows, o, shades));
    const Page page{layout.width, layout.height, o.dpi};
    return Drawing{page, [layout = std::move(layout), o, shades](Canvas& canvas) {
                       draw_panel(canvas, layout, o, shades);
                   }};
}

}  // namespace headlight
