// Draws one head: weights, token labels on both axes, color bar, title, caption.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "figure/chosen_tokens.h"
#include "figure/color_bar.h"
#include "figure/figure.h"
#include "figure/methods.h"
#include "figure/panel.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {

constexpr double kMargin = 14, kLabelSize = 11, kBarSpace = 74, kMaxCell = 48, kAxisTitle = 15;
/// Distance between labels, in font sizes; smallest label as a share of the chosen size; slack for rounding.
constexpr double kLabelStep = 1.2, kLeastLabel = 0.75, kAlmost = 0.999;

Matrix weights_of(const Trace& trace, const FigureOptions& o) {
    if (o.group) return combined_pattern(trace, *o.group, o.drop_sink);
    Matrix own = masked_pattern(trace, o.block, o.head);
    return o.drop_sink ? without_first_key(std::move(own), trace.is_mixing(o.block)) : own;
}

Result<ChosenAxes> choose_axes(const Trace& trace, const FigureOptions& o) {
    const AttentionBlock block = trace.config().block(o.block);
    return chosen_axes(trace, o.block, o, token_labels(trace, block.stack),
                       token_labels(trace, block.key_stack));
}

std::vector<std::string> short_labels(std::vector<std::string> labels) {
    constexpr size_t kLongest = 14;
    for (auto& label : labels) label = shorten_middle(label, kLongest);
    return labels;
}

/// Lays out labels down the left side and above the columns.
struct Labels {
    std::vector<std::string> down, across;
};

struct Layout {
    double cell = 0, left = 0, top = 0, width = 0, height = 0, font = kLabelSize, zoom = 1;
    double top_of_titles = 0;
    bool turned = false;  // labels above the columns at 45°
    int step = 1;         // draws every step-th label
};

double widest(const std::vector<std::string>& labels, double font) {
    double out = 0;
    for (const auto& text : labels) out = std::max(out, text_width(text, font, Face::mono));
    return out;
}

constexpr double kCaptionLine = 13;

/// Breaks a text between words into lines of at most this width.
std::vector<std::string> broken(const std::string& text, double width, double font) {
    std::vector<std::string> lines(1);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
        if (lines.back().empty() || text_width(longer, font, Face::sans) <= width)
            lines.back() = longer;
        else
            lines.push_back(word);
    }
    return lines;
}

/// Returns the room that axis titles need beside the labels.
double room_for_axis_titles(const FigureOptions& o) {
    return o.labels && o.axis_titles ? kAxisTitle * style_zoom(o) : 0;
}

/// Shrinks the font a little if that fits the labels of all tokens.
double fitting_font(double font, double cell) {
    return cell < kLabelStep * font && cell >= kLeastLabel * kLabelStep * font ? cell / kLabelStep : font;
}

Layout arrange(const FigureOptions& o, const Labels& labels, size_t caption_lines = 1) {
    Layout l;
    l.zoom = style_zoom(o);
    l.font = kLabelSize * l.zoom;
    const double titles = room_for_axis_titles(o);
    const double down = widest(labels.down, l.font), across = widest(labels.across, l.font);
    const auto rows = double(labels.down.size()), columns = double(labels.across.size());
    const double title = o.title.empty() ? 0 : 26 * l.zoom,
                 caption = caption_lines == 0 ? 0 : (24 + kCaptionLine * double(caption_lines - 1)) * l.zoom,
                 bar = o.labels && o.color_bar ? kBarSpace * l.zoom : 0;
    const auto width = o.width(), height = o.height();
    l.left = kMargin + (o.labels ? down + 8 : 0) + titles;
    l.top_of_titles = kMargin + title;
    const auto fit = [&](double top) {
        const double room_x = width ? *width - l.left - bar - kMargin : 640,
                     room_y = height  ? *height - top - caption - kMargin
                              : width ? 1e9
                                      : 640;
        return std::max(std::min({room_x / columns, room_y / rows, width || height ? 1e9 : kMaxCell,
                                  o.most_cell > 0 ? o.most_cell : 1e9}),
                        0.05);
    };
    l.top = kMargin + title + titles + (o.labels ? 22 * l.zoom : 0);
    l.cell = fit(l.top);
    l.turned =
        o.labels && (o.turned == Turned::always || (o.turned == Turned::automatic && across + 6 > l.cell));
    if (l.turned) {
        l.top = kMargin + title + titles + across * M_SQRT1_2 + 16 * l.zoom;
        l.cell = fit(l.top);
    }
    l.font = fitting_font(l.font, l.cell);
    l.step = label_step(l.cell, o.turned == Turned::never ? across + 6 : kLabelStep * l.font * kAlmost);
    l.width = width.value_or(std::max(l.left + columns * l.cell + bar + kMargin, 320.0));
    l.height = height.value_or(l.top + rows * l.cell + caption + kMargin);
    return l;
}

void draw_labels(Canvas& canvas, const Layout& l, const Labels& labels) {
    const size_t step = l.step, step_down = label_step(l.cell, kLabelStep * l.font * kAlmost);
    for (size_t i = 0; i < labels.down.size(); i += step_down)
        canvas.text(l.left - 6, l.top + l.cell * (double(i) + 0.5), labels.down[i], l.font, Face::mono,
                    PageColors{}.text, Align::right);
    for (size_t i = 0; i < labels.across.size(); i += step) {
        const double at = l.left + l.cell * (double(i) + 0.5);
        if (l.turned)
            canvas.text(at, l.top - 8 * l.zoom, labels.across[i], l.font, Face::mono, PageColors{}.text,
                        Align::left, -M_PI / 4);
        else
            canvas.text(at, l.top - l.font, labels.across[i], l.font, Face::mono, PageColors{}.text,
                        Align::center);
    }
}

/// Draws "query" along the rows and "key" above the columns, or the other way round.
void draw_axis_titles(Canvas& canvas, const FigureOptions& o, const Layout& l, const Labels& labels) {
    const bool rows = o.queries == Axis::rows;
    const double font = 10 * l.zoom, above = l.top_of_titles + font * 0.6,
                 middle = l.top + l.cell * double(labels.down.size()) / 2;
    canvas.text(l.left + l.cell * double(labels.across.size()) / 2, above, rows ? "key" : "query", font,
                Face::sans, PageColors{}.caption, Align::center);
    canvas.text(kMargin + font * 0.6, middle, rows ? "query" : "key", font, Face::sans, PageColors{}.caption,
                Align::center, -M_PI / 2);
}

void draw_grid_lines(Canvas& canvas, const Layout& l, const Labels& labels) {
    const double wide = l.cell * double(labels.across.size()), high = l.cell * double(labels.down.size());
    for (size_t i = 0; i <= labels.across.size(); ++i)
        canvas.line(l.left + l.cell * double(i), l.top, l.left + l.cell * double(i), l.top + high,
                    PageColors{}.line, 0.5);
    for (size_t i = 0; i <= labels.down.size(); ++i)
        canvas.line(l.left, l.top + l.cell * double(i), l.left + wide, l.top + l.cell * double(i),
                    PageColors{}.line, 0.5);
}

/// Writes weights from 0.005 on, if a cell has room for them.
void draw_values(Canvas& canvas, const Layout& l, const Matrix& weights, const FigureOptions& o,
                 const Shades& shades) {
    const double font = std::min(l.font, l.cell * 0.36);
    if (font < 3) return;
    const Colormap& map = page_colormap(o, shades);
    for (Index q = 0; q < weights.rows(); ++q)
        for (Index k = 0; k < weights.cols(); ++k) {
            const float w = weights(q, k);
            if (is_masked(w) || !(std::abs(w) >= 0.005f)) continue;
            const Rgb back = color_of(map, shades.place(w, largest_entry(weights.row(q))));
            const bool dark =
                o.marks == Marks::squares && 0.299 * back.r + 0.587 * back.g + 0.114 * back.b < 140;
            const double x = l.left + l.cell * (double(o.queries == Axis::rows ? k : q) + 0.5),
                         y = l.top + l.cell * (double(o.queries == Axis::rows ? q : k) + 0.5);
            canvas.text(x, y, (shades.is_signed && w > 0 ? "+" : "") + decimals(double(w), 2), font,
                        Face::mono, dark ? PageColors{}.page : PageColors{}.text, Align::center);
        }
}

/// Returns whether the sink of the head, which is no token, has a column of its own.
bool shows_sink(const Trace& trace, const FigureOptions& o) {
    return !o.group && !o.drop_sink && !o.join_words && o.queries == Axis::rows &&
           !trace.rule(o.block).sinks.empty();
}

/// Puts the weights of the sink before those of the keys.
void add_sink(const Trace& trace, const FigureOptions& o, const ChosenAxes& axes, Matrix& weights,
              std::vector<std::string>& keys) {
    const Vector all = sink_weights(trace, {o.block, o.head}, 0, trace.query_count(o.block));
    Matrix out(weights.rows(), weights.cols() + 1);
    out << all(axes.queries.kept), weights;
    weights = std::move(out);
    keys.insert(keys.begin(), "sink");
}

std::string automatic_caption(const Trace& trace, const FigureOptions& o, const Shades& shades) {
    std::string out = std::string("Queries in ") + (o.queries == Axis::rows ? "rows" : "columns") +
                      ", contrast: " + shades.row().label + ".";
    if (trace.is_mixing(o.block))
        out += " A mixing matrix: signed, and its rows do not sum to 1; times the values it is the head's z.";
    if (shows_sink(trace, o) && o.tokens.empty() && o.keys.empty()) out += " Rows sum to 1 with the sink.";
    if (trace.rule(o.block).mask_of(o.head).hides_any()) out += " Hatched: masked.";
    if (!o.group) out += fully_masked_note(trace, o.block, o.head);
    if (o.group && o.group->by == Combine::max)
        out += " Each weight is the largest that any of the heads has.";
    if (o.drop_sink)
        out += trace.is_mixing(o.block) ? " First token hidden." : " First token hidden, rows renormalized.";
    if (o.join_words) out += " Sub-words joined.";
    if (!o.tokens.empty() || !o.keys.empty()) out += " A part of the tokens.";
    return out;
}

/// Breaks the caption and the methods into lines of this width.
std::vector<std::string> lines_under(const Trace& trace, const FigureOptions& o, const Shades& shades,
                                     double width) {
    const double font = 10 * style_zoom(o);
    std::vector<std::string> out;
    const std::string caption = o.caption == "auto" ? automatic_caption(trace, o, shades) : o.caption;
    if (!caption.empty()) out = broken(caption, width, font);
    if (!o.methods) return out;
    const ModelConfig& c = trace.config();
    const std::string shown = o.group ? group_title(c, *o.group) : "head " + head_name(c, o.block, o.head);
    for (std::string& line : broken(methods_caption(trace, shown), width, font))
        out.push_back(std::move(line));
    return out;
}

std::string automatic_title(const Trace& trace, const FigureOptions& o) {
    const ModelConfig& c = trace.config();
    return (o.group ? group_title(c, *o.group) : "Head " + head_name(c, o.block, o.head)) + " of " +
           trace.model->name;
}

}  // namespace

std::string fully_masked_note(const Trace& trace, int block, int head) {
    const auto rows = fully_masked_rows(trace, block, head);
    if (rows.empty()) return "";
    if (rows.size() == 1)
        return " Row " + std::to_string(rows[0]) + " is fully masked: it falls back to uniform attention.";
    return " " + std::to_string(rows.size()) + " rows are fully masked: they fall back to uniform attention.";
}

Result<Drawing> head_figure(std::shared_ptr<const Trace> trace, const FigureOptions& o, ThreadPool&) {
    return head_on_scale(std::move(trace), o, nullptr);
}

Result<Shades> shades_of_head(const Trace& trace, const FigureOptions& o) {
    TRY(const ChosenAxes axes, choose_axes(trace, o));
    const Matrix weights = chosen_weights(weights_of(trace, o), axes, o);
    return shades_of(o.contrast, weights, trace.is_mixing(o.block));
}

Result<Drawing> head_on_scale(std::shared_ptr<const Trace> trace, const FigureOptions& o,
                              const Shades* scale) {
    if (o.values && o.marks == Marks::dots)
        return Error{
            "Values are written into squares, and beside marks that are dots they cannot be read; leave "
            "values out, or draw squares."};
    TRY(const ChosenAxes axes, choose_axes(*trace, o));
    check_fits(int64_t{trace->query_count(o.block)} * trace->key_count(o.block) *
               12);  // as computed, as shown, the tokens kept
    Matrix weights = chosen_weights(weights_of(*trace, o), axes, o);
    Labels labels{short_labels(axes.queries.labels), short_labels(axes.keys.labels)};
    if (shows_sink(*trace, o)) add_sink(*trace, o, axes, weights, labels.across);
    if (o.queries == Axis::columns) std::swap(labels.down, labels.across);
    const Shades shades = scale ? *scale : shades_of(o.contrast, weights, trace->is_mixing(o.block));
    const Layout one = arrange(o, labels);
    const auto caption = lines_under(*trace, o, shades, one.width - one.left - kMargin);
    const Layout l = caption.size() == 1 ? one : arrange(o, labels, caption.size());
    return Drawing{{l.width, l.height, o.dpi},
                   [trace, o, labels, weights, shades, l, caption](Canvas& canvas) {
                       begin_figure(canvas, {l.width, l.height, o.dpi}, o, automatic_title(*trace, o));
                       const double wide = l.cell * double(labels.across.size()),
                                    high = l.cell * double(labels.down.size());
                       draw_weights(canvas, weights, l.left, l.top, l.cell, o, shades);
                       if (o.grid_lines) draw_grid_lines(canvas, l, labels);
                       if (o.values) draw_values(canvas, l, weights, o, shades);
                       if (o.labels) draw_labels(canvas, l, labels);
                       if (o.labels && o.axis_titles) draw_axis_titles(canvas, o, l, labels);
                       if (o.labels && o.color_bar)
                           draw_color_bar(canvas, weight_bar(page_colormap(o, shades), shades),
                                          {.x = l.left + wide + 18 * l.zoom,
                                           .y = l.top,
                                           .length = std::max(high, 60.0),
                                           .upright = true,
                                           .type = 10 * l.zoom});
                       for (size_t i = 0; l.width >= 200 && i < caption.size(); ++i)
                           canvas.text(l.left, l.top + high + (15 + kCaptionLine * double(i)) * l.zoom,
                                       caption[i], 10 * l.zoom, Face::sans, PageColors{}.caption);
                   },
                   l.cell};
}

}  // namespace headlight
