// Draws all heads, or some: a grid of thumbnails, layers down and heads across.
#include <algorithm>
#include <sstream>

#include "analysis/attention/head_summary.h"
#include "base/cast.h"
#include "figure/figure.h"
#include "figure/methods.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {

/// Width of the weights of sinks beside a thumbnail, and the gap, as shares of its side.
constexpr double kSinkWide = 0.08, kSinkApart = 0.025;
constexpr double kGridMargin = 14, kGap = 4, kPlateGap = 10, kNumbers = 26, kSide = 84;

/// Places heads, and names rows and thumbnails.
struct Grid {
    int down = 0, across = 0;
    std::vector<std::optional<int>>
        heads;  // ModelConfig::head_index, row by row; none: the block has fewer heads
    std::vector<std::string> row_names;  // of whole layers
    std::vector<std::string> names;      // of each thumbnail, if only some are shown or each has a note
    std::vector<std::string> notes;

    bool by_layer() const { return !row_names.empty(); }
};

Grid whole_grid(const ModelConfig& c) {
    Grid g{c.blocks(), c.max_heads(), {}, {}, {}, {}};
    for (int block = 0; block < c.blocks(); ++block) {
        for (int head = 0; head < g.across; ++head)
            g.heads.push_back(c.has_head({block, head}) ? std::optional(c.head_index({block, head}))
                                                        : std::nullopt);
        g.row_names.push_back(block_name(c, block));
    }
    return g;
}

Result<Grid> chosen_grid(const ModelConfig& c, const std::string& wanted) {
    Grid g;
    std::istringstream parts(wanted);
    for (std::string part; std::getline(parts, part, ',');) {
        TRY(const AttentionHead named, parse_head(c, part, "--only-heads"));
        g.heads.push_back(c.head_index(named));
    }
    return g;
}

/// Names each thumbnail that no row and column name, or that has a note after its name.
void add_names(Grid& g, const ModelConfig& c, const std::vector<std::string>& notes) {
    if (g.by_layer() && notes.empty()) return;
    for (const auto& i : g.heads) {
        const AttentionHead head = c.head_at(i.value_or(0));
        g.names.push_back(i ? head_name(c, head.block, head.head) : "");
        g.notes.push_back(i && !notes.empty() ? notes[*i] : "");
    }
}

/// Chooses the number of columns that makes thumbnails largest on the page; by default slightly wide.
void lay_out(Grid& g, std::optional<double> width, std::optional<double> height) {
    const auto count = isize(g.heads);
    const double shape = width && height ? *width / *height : 1.6;
    double best = 0;
    for (int across = 1; across <= count; ++across) {
        const int down = (count + across - 1) / across;
        const double side = std::min(shape / across, 1.0 / down);
        if (side <= best + 1e-9) continue;
        best = side;
        g.across = across;
        g.down = down;
    }
}

constexpr double kMethodsLine = 16;

struct GridLayout {
    double zoom = 1, left = 0, top = 0, side = 0, pitch_x = 0, pitch_y = 0;
    double sink_x = 0, sink_y = 0;  // room before the keys of a thumbnail
    Page page;
};

GridLayout arrange_grid(const FigureOptions& o, const Grid& g, bool sinks) {
    GridLayout l;
    const double sink = sinks ? kSinkWide + kSinkApart : 0, across = o.queries == Axis::rows ? sink : 0,
                 down = sink - across;
    l.zoom = style_zoom(o);
    const double apart = o.many.plates.empty() ? kGap : kPlateGap;
    const double font = 11 * l.zoom, name = o.labels && !g.names.empty() ? font + 6 : 0,
                 caption = (o.caption.empty() ? 0 : 22 * l.zoom) + (o.methods ? kMethodsLine * l.zoom : 0);
    double numbers = kNumbers * l.zoom;
    for (const auto& row : g.row_names) numbers = std::max(numbers, text_width(row, font, Face::mono) + 16);
    l.left = kGridMargin + (o.labels && g.by_layer() ? numbers : 0);
    l.top = kGridMargin + (o.title.empty() ? 0 : 26 * l.zoom) +
            (o.labels ? (g.by_layer() ? 20 * l.zoom : 0) + name : 0);
    const auto width = o.width(), height = o.height();
    const double room_x = width ? (*width - l.left - kGridMargin + apart) / g.across - apart : kSide,
                 room_y =
                     height ? (*height - l.top - kGridMargin - caption + apart) / g.down - apart - name : 1e9;
    l.side = std::max(2.0, std::min(room_x / (1 + across), room_y / (1 + down)));
    l.sink_x = across * l.side;
    l.sink_y = down * l.side;
    l.pitch_x = l.side + l.sink_x + apart;
    l.pitch_y = l.side + l.sink_y + apart + name;
    l.page = {width.value_or(l.left + g.across * l.pitch_x - apart + kGridMargin),
              height.value_or(l.top + g.down * l.pitch_y - name - apart + caption + kGridMargin), o.dpi};
    return l;
}

void draw_names(Canvas& canvas, const Grid& g, const GridLayout& l) {
    const double font = 11 * l.zoom;
    for (int row = 0; row < isize(g.row_names); ++row)
        canvas.text(l.left - 10, l.top + l.pitch_y * row + l.sink_y + l.side / 2, g.row_names[row], font,
                    Face::mono, PageColors{}.secondary, Align::right);
    const double above = l.top - font - (g.names.empty() ? 0 : font + 6);
    for (int head = 0; g.by_layer() && head < g.across; ++head)
        canvas.text(l.left + l.pitch_x * head + l.sink_x + l.side / 2, above, std::to_string(head), font,
                    Face::mono, PageColors{}.secondary, Align::center);
    for (int i = 0; i < isize(g.names); ++i) {
        const int column = i % g.across, row = i / g.across;
        const double x = l.left + l.pitch_x * column, y = l.top + l.pitch_y * row;
        const double taken =
            canvas.text(x, y - font * 0.6 - 1, g.names[i], font, Face::mono, PageColors{}.secondary);
        if (taken + text_width(g.notes[i], font, Face::mono) + 4 <= l.side + l.sink_x)
            canvas.text(x + l.side + l.sink_x, y - font * 0.6 - 1, g.notes[i], font, Face::mono,
                        PageColors{}.caption, Align::right);
    }
}

/// Draws the weights that queries leave to a sink, before the keys.
void draw_sink_column(Canvas& canvas, const HeadSummary& head, double x, double y, double side,
                      const FigureOptions& o, const Shades& shades) {
    const double cell = side / double(head.sinks.size()), wide = kSinkWide * side,
                 before = (kSinkWide + kSinkApart) * side;
    const bool rows = o.queries == Axis::rows;
    for (Index i = 0; i < head.sinks.size(); ++i) {
        const Rgb ink =
            color_of(page_colormap(o, shades),
                     std::min(1.0f, shades.place(head.sinks[i], largest_entry(head.thumbnail.row(i)))));
        const double at = cell * double(i);
        rows ? canvas.fill_rect(x - before, y + at, wide, cell, ink)
             : canvas.fill_rect(x + at, y - before, cell, wide, ink);
    }
    const Rgb edge{0xDA, 0xDE, 0xE3};
    rows ? canvas.stroke_rect(x - before, y, wide, side, edge, 0.5)
         : canvas.stroke_rect(x, y - before, side, wide, edge, 0.5);
}

/// Draws a thumbnail in the colors of its own range or of all, faded towards the page. x, y: of its keys.
void draw_thumbnail(Canvas& canvas, const HeadSummary& head, double x, double y, const GridLayout& l,
                    const FigureOptions& o, Shades shades, float fade) {
    const Matrix& weights = head.thumbnail;
    if (o.many.own_range) shades.largest = std::max(1e-6f, weights.maxCoeff());
    draw_weights(canvas, weights, x, y, l.side / double(weights.rows()), o, shades);
    if (head.sinks.size()) draw_sink_column(canvas, head, x, y, l.side, o, shades);
    if (fade > 0) {
        const Rgb page = PageColors{}.page;
        cairo_set_source_rgba(canvas.cairo(), page.r / 255.0, page.g / 255.0, page.b / 255.0, fade);
        cairo_rectangle(canvas.cairo(), x - l.sink_x, y - l.sink_y, l.side + l.sink_x, l.side + l.sink_y);
        cairo_fill(canvas.cairo());
    }
    canvas.stroke_rect(x, y, l.side, l.side, {0xDA, 0xDE, 0xE3}, 0.5);
}

/// Draws a frame in the color of the head's plate, in the gap between thumbnails.
void draw_plate_frame(Canvas& canvas, double x, double y, const GridLayout& l, Rgb color) {
    constexpr double kWide = 3;
    canvas.stroke_rect(x - l.sink_x - kWide / 2, y - l.sink_y - kWide / 2, l.side + l.sink_x + kWide,
                       l.side + l.sink_y + kWide, color, kWide);
}

/// Returns the contrast of thumbnails: entries are max-pooled, so that percentiles are unknown.
Contrast contrast_of_thumbnails(const FigureOptions& o) {
    if (o.many.square_root) return Contrast::root;
    const bool any = o.contrast != Contrast::automatic && o.contrast != Contrast::percentile;
    return any ? o.contrast : Contrast::range;
}

std::string heads_caption(const Grid& g, const FigureOptions& o, const Shades& shades, bool sinks) {
    const std::string order = g.by_layer()              ? "Layers down, heads across; "
                              : o.queries == Axis::rows ? "Queries in rows; "
                                                        : "Queries in columns; ";
    const std::string contrast = std::string("contrast: ") + shades.row().label + ", ";
    const std::string range =
        o.many.own_range ? "0 to each head's largest." : "0 to " + decimals(shades.brightest(1), 2) + ".";
    return order + contrast + range +
           (!sinks                    ? ""
            : o.queries == Axis::rows ? " Left: sinks."
                                      : " Above: sinks.") +
           (o.many.notes_are.empty() ? "" : " Numbers: " + o.many.notes_are + ".");
}

}  // namespace

namespace {

/// Draws the thumbnails with their frames, and names and captions around them.
void draw_heads(Canvas& canvas, const Trace& trace, const PerHead<HeadSummary>& heads, const Grid& grid,
                const GridLayout& l, const FigureOptions& o, const Shades& shades) {
    begin_figure(canvas, l.page, o, (grid.by_layer() ? "All heads of " : "Heads of ") + trace.model->name);
    if (o.labels) draw_names(canvas, grid, l);
    for (int i = 0; i < isize(grid.heads); ++i) {
        if (!grid.heads[i]) continue;
        const int head = *grid.heads[i], column = i % grid.across, row = i / grid.across;
        const double x = l.left + l.pitch_x * column + l.sink_x, y = l.top + l.pitch_y * row + l.sink_y;
        draw_thumbnail(canvas, heads[head], x, y, l, o, shades,
                       o.many.fades.empty() ? 0 : o.many.fades[head]);
        if (!o.many.plates.empty() && o.many.plates[head])
            draw_plate_frame(canvas, x, y, l, *o.many.plates[head]);
    }
    const double names = o.labels && !grid.names.empty() ? 11 * l.zoom + 6 : 0;
    const bool sinks = l.sink_x + l.sink_y > 0;
    canvas.text(l.left, l.top + grid.down * l.pitch_y - names + 8 * l.zoom,
                o.caption == "auto" ? heads_caption(grid, o, shades, sinks) : o.caption, 10 * l.zoom,
                Face::sans, PageColors{}.caption);
    if (o.methods)
        canvas.text(l.left, l.page.height - kGridMargin - 4 * l.zoom, methods_caption(trace, ""), 10 * l.zoom,
                    Face::sans, PageColors{}.caption);
}

}  // namespace

Result<Drawing> heads_figure(std::shared_ptr<const Trace> trace, const FigureOptions& o, ThreadPool& pool) {
    TRY(auto heads, summarize_heads(*trace, kThumbnailSide, pool));
    Grid grid = whole_grid(trace->config());
    if (!o.heads.empty()) {
        TRY(grid, chosen_grid(trace->config(), o.heads));
        if (grid.heads.empty()) return Error{"No heads are chosen; write 1.2,3.0 for example."};
        lay_out(grid, o.width(), o.height());
    }
    add_names(grid, trace->config(), o.many.notes);
    Shades shades{contrast_of_thumbnails(o), 1e-6f};
    bool sinks = false;
    for (const auto& i : grid.heads) {
        if (!i) continue;
        shades.largest = std::max(shades.largest, heads[*i].thumbnail.maxCoeff());
        sinks |= heads[*i].sinks.size() > 0;
    }
    const GridLayout l = arrange_grid(o, grid, sinks);
    return Drawing{l.page,
                   [=, heads = std::move(heads)](Canvas& canvas) {
                       draw_heads(canvas, *trace, heads, grid, l, o, shades);
                   },
                   0};
}

}  // namespace headlight
