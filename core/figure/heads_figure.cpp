// All heads: a grid of thumbnails, layers down and heads across.
#include <algorithm>

#include "figure/figure.h"

namespace headlight {

namespace {
constexpr double kMargin = 14, kGap = 4, kNumbers = 26;
constexpr int kThumbnail = 64;
}  // namespace

Result<Drawing> heads_figure(std::shared_ptr<const Trace> shared, const FigureOptions& o, ThreadPool& pool) {
    const Trace& trace = *shared;
    TRY(auto heads, summarize_heads(trace, kThumbnail, pool));
    const ModelConfig& config = trace.config();
    const int layers = config.sites(), across = config.heads;
    double numbers = kNumbers;
    for (int l = 0; l < layers; ++l) numbers = std::max(numbers, text_width(site_name(config, l), 11, Face::mono) + 16);
    const double title_height = o.title && o.title->empty() ? 0 : 26, left = kMargin + (o.labels ? numbers : 0), top = kMargin + title_height + (o.labels ? 20 : 0);
    const double room_x = o.width ? (*o.width - left - kMargin + kGap) / across - kGap : 84, room_y = o.height ? (*o.height - top - kMargin - 22 + kGap) / layers - kGap : 1e9;
    const double side = std::max(2.0, std::min(room_x, room_y)), pitch = side + kGap;
    const Page page{o.width.value_or(left + across * pitch - kGap + kMargin), o.height.value_or(top + layers * pitch - kGap + 22 + kMargin), o.dpi};
    float largest = 1e-6f;
    for (const auto& h : heads) largest = std::max(largest, h.thumbnail.maxCoeff());
    return Drawing{page, [=, heads = std::move(heads)](Canvas& canvas) {
        const Trace& trace = *shared;
        const ModelConfig& c = trace.config();
        canvas.fill_rect(0, 0, page.width, page.height, PageColors{}.page);
        const std::string title = o.title.value_or("All heads of " + trace.model->name);
        if (!title.empty()) canvas.text(kMargin, kMargin + 9, title, 15, Face::sans, PageColors{}.text);
        for (int l = 0; l < layers; ++l) {
            const double y = top + l * pitch;
            if (o.labels) canvas.text(left - 10, y + side / 2, site_name(c, l), 11, Face::mono, PageColors{}.secondary, Align::right);
            for (int h = 0; h < across; ++h) {
                const double x = left + h * pitch;
                if (o.labels && l == 0) canvas.text(x + side / 2, top - 11, std::to_string(h), 11, Face::mono, PageColors{}.secondary, Align::centre);
                const Matrix& thumbnail = heads[static_cast<size_t>(l * across + h)].thumbnail;
                draw_weights(canvas, thumbnail, x, y, side / static_cast<double>(thumbnail.rows()), o, largest);
                canvas.stroke_rect(x, y, side, side, {0xDA, 0xDE, 0xE3}, 0.5);
            }
        }
        const std::string caption = "Layers down, heads across; " + std::string(kScaleNames[static_cast<int>(o.scale)]) + " scale, 0 to " + decimals(largest, 2) + ".";
        canvas.text(left, top + layers * pitch + 8, caption, 10, Face::sans, PageColors{}.caption);
    }};
}

}  // namespace headlight
