// One head: weights, token labels on both axes, colour bar, title, caption.
#include <algorithm>
#include <cmath>

#include "analysis/predict.h"
#include "base/utf8.h"
#include "figure/figure.h"

namespace headlight {

namespace {

constexpr double kMargin = 14, kLabelSize = 11, kBarSpace = 74, kMaxCell = 48;

struct Layout {
    double cell = 0, left = 0, top = 0, width = 0, height = 0;
    bool turned = false;  // labels over the columns at 45°
    int step = 1;         // every step-th label is drawn
};

std::vector<std::string> token_labels(const Trace& trace) {
    std::vector<std::string> out;
    for (const int id : trace.request.ids) out.push_back(shorten_middle(token_label(*trace.model, id), 14));
    return out;
}

Layout arrange(const FigureOptions& o, const std::vector<std::string>& labels) {
    Layout l;
    double widest = 0;
    for (const auto& text : labels) widest = std::max(widest, text_width(text, kLabelSize, Face::mono));
    const auto n = static_cast<double>(labels.size());
    const double title = o.title && o.title->empty() ? 0 : 26, caption = 24, bar = o.labels ? kBarSpace : 0;
    l.left = kMargin + (o.labels ? widest + 8 : 0);
    const auto fit = [&](double top) {
        const double room_x = o.width ? *o.width - l.left - bar - kMargin : 640, room_y = o.height ? *o.height - top - caption - kMargin : 1e9;
        return std::max(std::min({room_x / n, room_y / n, o.width || o.height ? 1e9 : kMaxCell}), 0.05);
    };
    l.top = kMargin + title + (o.labels ? 22 : 0);
    l.cell = fit(l.top);
    l.turned = o.labels && widest + 6 > l.cell;
    if (l.turned) {
        l.top = kMargin + title + widest * M_SQRT1_2 + 16;
        l.cell = fit(l.top);
    }
    l.step = label_step(l.cell, kLabelSize + 3);
    l.width = o.width.value_or(std::max(l.left + n * l.cell + bar + kMargin, 320.0));
    l.height = o.height.value_or(l.top + n * l.cell + caption + kMargin);
    return l;
}

void draw_labels(Canvas& canvas, const Layout& l, const std::vector<std::string>& labels) {
    for (size_t i = 0; i < labels.size(); i += static_cast<size_t>(l.step)) {
        const double at = l.cell * (static_cast<double>(i) + 0.5);
        canvas.text(l.left - 6, l.top + at, labels[i], kLabelSize, Face::mono, PageColors{}.text, Align::right);
        if (l.turned) canvas.text(l.left + at, l.top - 8, labels[i], kLabelSize, Face::mono, PageColors{}.text, Align::left, -M_PI / 4);
        else canvas.text(l.left + at, l.top - 11, labels[i], kLabelSize, Face::mono, PageColors{}.text, Align::centre);
    }
}

}  // namespace

Status write_head_figure(const std::filesystem::path& path, const Trace& trace, const FigureOptions& o, ThreadPool&) {
    const auto labels = token_labels(trace);
    Matrix weights = trace.pattern(o.layer, o.head);
    const float largest = std::max(weights.maxCoeff(), 1e-6f);
    bool masked = false;
    for (int q = 0; q < trace.size(); ++q)
        for (int k = 0; k < trace.size(); ++k)
            if (!trace.activations.mask.allows(q, k)) {
                weights(q, k) = -1;
                masked = true;
            }
    const Layout l = arrange(o, labels);
    const std::string name = "Head " + std::to_string(o.layer) + "." + std::to_string(o.head);
    return write_page(path, {l.width, l.height, o.dpi}, [&](Canvas& canvas) {
        canvas.fill_rect(0, 0, l.width, l.height, PageColors{}.page);
        const std::string title = o.title.value_or(name + " of " + trace.model->name);
        if (!title.empty()) canvas.text(kMargin, kMargin + 9, title, 15, Face::sans, PageColors{}.text);
        const double side = l.cell * static_cast<double>(labels.size());
        draw_weights(canvas, weights, l.left, l.top, side, o, largest);
        if (o.labels) {
            draw_labels(canvas, l, labels);
            draw_color_bar(canvas, l.left + side + 18, l.top, std::max(side, 60.0), o, largest);
        }
        std::string caption = std::string("Queries in ") + (o.queries == Axis::rows ? "rows" : "columns") + ", " + kScaleNames[static_cast<int>(o.scale)] + " scale.";
        if (masked) caption += " Hatched: masked.";
        if (l.width >= 300) canvas.text(l.left, l.top + side + 15, caption, 10, Face::sans, PageColors{}.caption);
    });
}

}  // namespace headlight
