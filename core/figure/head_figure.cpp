// One head: weights, token labels on both axes, colour bar, title, caption.
#include <algorithm>
#include <cmath>

#include "analysis/predict.h"
#include "base/utf8.h"
#include "figure/figure.h"

namespace headlight {

namespace {

constexpr double kMargin = 14, kLabelSize = 11, kBarSpace = 74, kMaxCell = 48;

/// Labels down the left side and over the columns.
struct Labels {
    std::vector<std::string> down, across;
};

struct Layout {
    double cell = 0, left = 0, top = 0, width = 0, height = 0;
    bool turned = false;  // labels over the columns at 45°
    int step = 1;         // every step-th label is drawn
};

std::vector<std::string> short_labels(const Trace& trace, const Sequence& sequence, int stack) {
    std::vector<std::string> out = token_labels(*trace.model, sequence, stack);
    for (auto& label : out) label = shorten_middle(label, 14);
    return out;
}

double widest(const std::vector<std::string>& labels) {
    double out = 0;
    for (const auto& text : labels) out = std::max(out, text_width(text, kLabelSize, Face::mono));
    return out;
}

Layout arrange(const FigureOptions& o, const Labels& labels) {
    Layout l;
    const double down = widest(labels.down), across = widest(labels.across);
    const auto rows = static_cast<double>(labels.down.size()), columns = static_cast<double>(labels.across.size());
    const double title = o.title && o.title->empty() ? 0 : 26, caption = 24, bar = o.labels ? kBarSpace : 0;
    l.left = kMargin + (o.labels ? down + 8 : 0);
    const auto fit = [&](double top) {
        const double room_x = o.width ? *o.width - l.left - bar - kMargin : 640, room_y = o.height ? *o.height - top - caption - kMargin : o.width ? 1e9 : 640;
        return std::max(std::min({room_x / columns, room_y / rows, o.width || o.height ? 1e9 : kMaxCell}), 0.05);
    };
    l.top = kMargin + title + (o.labels ? 22 : 0);
    l.cell = fit(l.top);
    l.turned = o.labels && across + 6 > l.cell;
    if (l.turned) {
        l.top = kMargin + title + across * M_SQRT1_2 + 16;
        l.cell = fit(l.top);
    }
    l.step = label_step(l.cell, kLabelSize + 3);
    l.width = o.width.value_or(std::max(l.left + columns * l.cell + bar + kMargin, 320.0));
    l.height = o.height.value_or(l.top + rows * l.cell + caption + kMargin);
    return l;
}

void draw_labels(Canvas& canvas, const Layout& l, const Labels& labels) {
    const auto step = static_cast<size_t>(l.step);
    for (size_t i = 0; i < labels.down.size(); i += step)
        canvas.text(l.left - 6, l.top + l.cell * (static_cast<double>(i) + 0.5), labels.down[i], kLabelSize, Face::mono, PageColors{}.text, Align::right);
    for (size_t i = 0; i < labels.across.size(); i += step) {
        const double at = l.left + l.cell * (static_cast<double>(i) + 0.5);
        if (l.turned) canvas.text(at, l.top - 8, labels.across[i], kLabelSize, Face::mono, PageColors{}.text, Align::left, -M_PI / 4);
        else canvas.text(at, l.top - 11, labels.across[i], kLabelSize, Face::mono, PageColors{}.text, Align::centre);
    }
}

}  // namespace

Result<Drawing> head_figure(std::shared_ptr<const Trace> shared, const FigureOptions& o, ThreadPool&) {
    const Trace& trace = *shared;
    const AttentionSite site = trace.config().site(o.site);
    Labels labels{short_labels(trace, trace.queries(o.site), site.stack), short_labels(trace, trace.keys(o.site), site.key_stack())};
    if (o.queries == Axis::columns) std::swap(labels.down, labels.across);
    const Matrix own = masked_pattern(trace, o.site, o.head), weights = o.drop_sink ? without_first_key(own) : own;
    const float largest = std::max(weights.maxCoeff(), 1e-6f);
    const Layout l = arrange(o, labels);
    return Drawing{{l.width, l.height, o.dpi}, [shared, o, labels, weights, largest, l](Canvas& canvas) {
        const Trace& trace = *shared;
        canvas.fill_rect(0, 0, l.width, l.height, PageColors{}.page);
        const std::string title = o.title.value_or("Head " + head_name(trace.config(), o.site, o.head) + " of " + trace.model->name);
        if (!title.empty()) canvas.text(kMargin, kMargin + 9, title, 15, Face::sans, PageColors{}.text);
        const double wide = l.cell * static_cast<double>(labels.across.size()), high = l.cell * static_cast<double>(labels.down.size());
        draw_weights(canvas, weights, l.left, l.top, l.cell, o, largest);
        if (o.labels) {
            draw_labels(canvas, l, labels);
            draw_color_bar(canvas, l.left + wide + 18, l.top, std::max(high, 60.0), o, largest);
        }
        std::string caption = std::string("Queries in ") + (o.queries == Axis::rows ? "rows" : "columns") + ", " + kScaleNames[static_cast<int>(o.scale)] + " scale.";
        if (trace.rule(o.site).mask.hides_any()) caption += " Hatched: masked.";
        if (o.drop_sink) caption += " First key left out, rows renormalised.";
        if (l.width >= 300) canvas.text(l.left, l.top + high + 15, caption, 10, Face::sans, PageColors{}.caption);
    }};
}

}  // namespace headlight
