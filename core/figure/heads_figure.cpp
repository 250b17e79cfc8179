// All heads, or some: a grid of thumbnails, layers down and heads across.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/cast.h"
#include "figure/figure.h"

namespace headlight {

namespace {

constexpr double kGridMargin = 14, kGap = 4, kNumbers = 26, kSide = 84;
constexpr int kThumbnail = 64;

/// Where each head stands, and how rows and thumbnails are called.
struct Grid {
    int down = 0, across = 0;
    std::vector<std::optional<size_t>>
        heads;  // ModelConfig::head_index, row after row; none: the block has fewer heads
    std::vector<std::string> row_names;  // of whole layers
    std::vector<std::string> names;      // of each thumbnail, where only some are shown
};

Grid whole_grid(const ModelConfig& c) {
    Grid g{c.blocks(), c.max_heads(), {}, {}, {}};
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
        g.names.push_back(head_name(c, named.block, named.head));
    }
    return g;
}

/// As many columns as make the thumbnails largest on a page of this shape; without one, a little wider than
/// high.
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

struct GridLayout {
    double zoom = 1, left = 0, top = 0, side = 0, pitch_x = 0, pitch_y = 0;
    Page page;
};

GridLayout arrange_grid(const FigureOptions& o, const Grid& g) {
    GridLayout l;
    l.zoom = style_zoom(o);
    const double font = 11 * l.zoom, name = o.labels && !g.names.empty() ? font + 6 : 0,
                 caption = o.caption.empty() ? 0 : 22 * l.zoom;
    double numbers = kNumbers * l.zoom;
    for (const auto& row : g.row_names) numbers = std::max(numbers, text_width(row, font, Face::mono) + 16);
    l.left = kGridMargin + (o.labels && g.names.empty() ? numbers : 0);
    l.top = kGridMargin + (o.title.empty() ? 0 : 26 * l.zoom) +
            (o.labels ? g.names.empty() ? 20 * l.zoom : name : 0);
    const auto width = o.width(), height = o.height();
    const double room_x = width ? (*width - l.left - kGridMargin + kGap) / g.across - kGap : kSide,
                 room_y =
                     height ? (*height - l.top - kGridMargin - caption + kGap) / g.down - kGap - name : 1e9;
    l.side = std::max(2.0, std::min(room_x, room_y));
    l.pitch_x = l.side + kGap;
    l.pitch_y = l.side + kGap + name;
    l.page = {width.value_or(l.left + g.across * l.pitch_x - kGap + kGridMargin),
              height.value_or(l.top + g.down * l.pitch_y - name - kGap + caption + kGridMargin), o.dpi};
    return l;
}

void draw_names(Canvas& canvas, const Grid& g, const GridLayout& l) {
    const double font = 11 * l.zoom;
    for (int row = 0; row < isize(g.row_names); ++row)
        canvas.text(l.left - 10, l.top + l.pitch_y * row + l.side / 2, g.row_names[row], font, Face::mono,
                    PageColors{}.secondary, Align::right);
    for (int head = 0; g.names.empty() && head < g.across; ++head)
        canvas.text(l.left + l.pitch_x * head + l.side / 2, l.top - font, std::to_string(head), font,
                    Face::mono, PageColors{}.secondary, Align::centre);
    for (int i = 0; i < isize(g.names); ++i) {
        const double x = l.left + l.pitch_x * double(i % g.across),
                     y = l.top + l.pitch_y * double(i / g.across);
        canvas.text(x, y - font * 0.6 - 1, g.names[i], font, Face::mono, PageColors{}.secondary);
    }
}

}  // namespace

Result<Drawing> heads_figure(std::shared_ptr<const Trace> trace, const FigureOptions& o, ThreadPool& pool) {
    TRY(auto heads, summarize_heads(*trace, kThumbnail, pool));
    Grid grid = whole_grid(trace->config());
    if (!o.heads.empty()) {
        TRY(grid, chosen_grid(trace->config(), o.heads));
        if (grid.heads.empty()) return Error{"No heads are chosen; write 1.2,3.0 for example."};
        lay_out(grid, o.width(), o.height());
    }
    const GridLayout l = arrange_grid(o, grid);
    float largest = 1e-6f;
    for (const auto& i : grid.heads)
        if (i) largest = std::max(largest, heads[*i].thumbnail.maxCoeff());
    return Drawing{
        l.page,
        [=, heads = std::move(heads)](Canvas& canvas) {
            begin_figure(canvas, l.page, o,
                         (grid.names.empty() ? "All heads of " : "Heads of ") + trace->model->name);
            if (o.labels) draw_names(canvas, grid, l);
            for (int i = 0; i < isize(grid.heads); ++i) {
                if (!grid.heads[i]) continue;
                const double x = l.left + l.pitch_x * double(i % grid.across),
                             y = l.top + l.pitch_y * double(i / grid.across);
                const Matrix& thumbnail = heads[*grid.heads[i]].thumbnail;
                draw_weights(canvas, thumbnail, x, y, l.side / double(thumbnail.rows()), o, largest);
                canvas.stroke_rect(x, y, l.side, l.side, {0xDA, 0xDE, 0xE3}, 0.5);
            }
            const std::string scale =
                std::string(row_of(kScaleNames, o.scale)) + " scale, 0 to " + decimals(largest, 2) + ".";
            const std::string caption = o.caption != "auto"
                                            ? o.caption
                                            : (grid.names.empty()        ? "Layers down, heads across; "
                                               : o.queries == Axis::rows ? "Queries in rows; "
                                                                         : "Queries in columns; ") +
                                                  scale;
            canvas.text(
                l.left,
                l.top + grid.down * l.pitch_y - (grid.names.empty() ? 0 : 11 * l.zoom + 6) + 8 * l.zoom,
                caption, 10 * l.zoom, Face::sans, PageColors{}.caption);
        },
        0};
}

}  // namespace headlight
