// Predictions at one position: a click writes one, pointing explains it.
#include <algorithm>
#include <thread>

#include "base/utf8.h"
#include "views/lens.h"
#include "views/save_menu.h"
#include "views/writing.h"

namespace headlight {

namespace {

/// Whether a click on a prediction can change the text.
bool acceptable(const Scene& s, int position) {
    const Model& m = *s.model();
    if (!m.tokenizer || m.config.can.read_image) return false;
    if (!m.config.can.fill_masks) return position + 1 == output_size(s);
    return std::any_of(s.sentence()->predictions.begin(), s.sentence()->predictions.end(),
                       [&](const PredictedTokens& p) { return p.position == position; });
}

float draw_predictions(Scene& s, Rect column, float y, const Found<AttributionWanted>& found, float bottom) {
    Ui& ui = s.ui;
    const bool clickable = acceptable(s, found.asked.position);
    const float row_h = size::row;
    std::optional<int> pointed;
    for (size_t i = 0; i < found.answer.tokens.size() && y + row_h < bottom; ++i, y += row_h) {
        const Prediction& p = found.answer.tokens[i];
        const Rect r{column.x - 8, y - row_h / 2, column.w + 16, row_h};
        const std::string label = prediction_label(*s.model(), p.id);
        const Hit h = ui.control("lens/next/" + std::to_string(i), r);
        const bool on = p.id == found.answer.token;
        if (h.hovered || on) ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->accent_fill, size::corner);
        ui.text.draw(column.x, y, kBodyMono, on ? ui.colors->accent_text : ui.colors->t1,
                     ui.text.fitted(kBodyMono, label, 104));
        ui.bar({column.x + 112, y - 4, column.w - (112 + 68), 8}, p.probability,
               on ? ui.colors->accent : ui.colors->t3);
        ui.text.draw_right(column.right(), y, kBodyMono, on ? ui.colors->accent_text : ui.colors->t2,
                           percent(p.probability));
        if (h.hovered) pointed = p.id;
        if (h.clicked && clickable)
            s.send("accept prediction", std::to_string(found.asked.position) + "," + std::to_string(p.id));
    }
    s.pointed.token = pointed;
    return y;
}

}  // namespace

void draw_lens_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<AttributionWanted>();
    if (!found || !s.answer->picture) return;
    const Attribution& a = found->answer;
    const int position = std::min(found->asked.position, output_size(s) - 1);
    float y = draw_inspector_title(s, area, token_at(output_labels(s), position),
                                   s.model()->config.can.fill_masks   ? "reads as"
                                   : s.model()->config.can.read_image ? "says"
                                                                      : "is followed by");
    const float pad = size::inspector_pad;
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h},
        save{column.x, area.bottom() - 48, column.w, size::button};
    const auto layers = static_cast<float>(std::min<size_t>(a.after_layer.size(), 13));
    y = draw_predictions(s, column, y, *found, save.y - 90 - layers * 20);
    const char* hint = acceptable(s, position) ? s.model()->config.can.fill_masks
                                                     ? "Click to fill the mask; point to explain."
                                                     : "Click to insert it; point to explain."
                                               : "Point at one to explain it below.";
    ui.text.draw(column.x, y + 4, kCaption, ui.colors->t3, ui.text.fitted(kCaption, hint, column.w));
    y += 28;
    ui.hairline(column.x, y, column.right(), y);
    y += 22;
    ui.clip({area.x, area.y, area.w, save.y - 8 - area.y});
    ui.text.draw(
        column.x, y, kCaption, ui.colors->t3,
        ui.text.fitted(kCaption,
                       "Probability of “" + prediction_label(*s.model(), a.token) + "” after each layer",
                       column.w));
    for (size_t i = 0; i < a.after_layer.size(); ++i) {
        y += 20;
        ui.text.draw(column.x, y, kCaptionMono, ui.colors->t3, i == 0 ? "emb" : std::to_string(i - 1));
        ui.bar({column.x + 40, y - 4, column.w - (40 + 68), 8}, a.after_layer[i], ui.colors->accent);
        ui.text.draw_right(column.right(), y, kCaptionMono, ui.colors->t2, percent(a.after_layer[i]));
    }
    ui.unclip();
    if (ui.button("save", save, "Save figure…")) s.send("save figure");
}

std::vector<NumberTable> lens_numbers(const Scene& s) {
    ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    const auto whole = answer(*s.sentence()->trace, LensWanted{0, s.sentence()->trace->output().size()}, pool,
                              nullptr);  // a page shows some positions
    if (!whole) throw Failure(whole.error());
    if (whole->top.empty()) return {};
    const Lens& lens = *whole;
    const auto& tokens = s.sentence()->labels.back();
    std::vector<std::string> rows{"embeddings"}, columns;
    for (size_t layer = 0; layer + 1 < lens.top.size(); ++layer)
        rows.push_back("layer " + std::to_string(layer));
    for (size_t i = 0; i < lens.top[0].size(); ++i)
        columns.push_back(tokens[static_cast<size_t>(lens.first) + i]);
    Matrix ids(static_cast<Index>(rows.size()), static_cast<Index>(columns.size())), probabilities = ids;
    for (Index r = 0; r < ids.rows(); ++r)
        for (Index c = 0; c < ids.cols(); ++c) {
            const Prediction& p = lens.top[static_cast<size_t>(r)][static_cast<size_t>(c)];
            ids(r, c) = static_cast<float>(p.id);
            probabilities(r, c) = p.probability;
        }
    return {{"most probable id", "after", "position", rows, columns, std::move(ids)},
            {"probability", "after", "position", rows, columns, std::move(probabilities)}};
}

}  // namespace headlight
