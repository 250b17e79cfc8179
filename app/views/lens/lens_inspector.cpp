// Lists the predictions at one position: hover to explain one, click to insert it.
#include <algorithm>
#include <cmath>
#include <thread>

#include "base/utf8.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/lens/lens.h"

namespace headlight {

namespace {

constexpr size_t kLayerLines = 13;

/// True if a click on a prediction can change the text.
bool acceptable(const Scene& s, int position) {
    const Model& m = *s.model();
    if (!m.tokenizer || m.config.can.read_image) return false;
    if (!m.config.can.fill_masks) return position + 1 == output_size(s);
    return std::any_of(s.sentence()->predictions.begin(), s.sentence()->predictions.end(),
                       [&](const PredictedTokens& p) { return p.position == position; });
}

/// Shift makes it the metric's token, Ctrl the one that is subtracted.
void choose_by_click(Scene& s, int id) {
    Metric next = s.session.document.metric.metric;
    if (next.kind == MetricKind::divergence) next.kind = MetricKind::log_probability;
    if (s.ui.ctrl) {
        next = {MetricKind::difference, shown_metric(s).a, id, next.position};
        if (next.a < 0 || next.a == id) return;
    } else if (next.b != id) {
        next.a = id;
    }
    s.send("metric", metric_by_ids(next));
}

/// Draws the token's probability after each layer, or for two tokens the difference of logits.
void draw_after_layers(SidePanel& panel, const Model& model, const Attribution& a) {
    Ui& ui = panel.ui;
    const bool two = a.against >= 0;
    const std::string of = explained_text(model, a.token, a.against);
    if (!panel.fold("layers", of + " after each layer", two ? "logits" : "p")) return;
    float largest = 1e-6f;
    for (const float v : a.after_layer) largest = std::max(largest, std::abs(v));
    const size_t all = a.after_layer.size();  // keep the last layers, where the answer forms
    for (size_t i = all > kLayerLines ? all - kLayerLines : 0; i < all; ++i, panel.skip(20)) {
        const Rect at = panel.at;
        const float v = a.after_layer[i];
        const Rect bar{at.x + 40, panel.y - 4, at.w - 40 - panel.values, 8};
        ui.text.draw(at.x, panel.y, kCaptionMono, ui.colors->t3, i == 0 ? "emb" : std::to_string(i - 1));
        if (two)
            ui.signed_bar(bar, v / largest);
        else
            ui.bar(bar, v, ui.colors->accent);
        ui.text.draw_right(at.right(), panel.y, kCaptionMono, ui.colors->t2, two ? number(v, 2) : percent(v));
    }
}

void draw_predictions(Scene& s, Column& c, const Found<AttributionRequest>& found, float bottom) {
    Ui& ui = s.ui;
    const bool clickable = acceptable(s, found.asked.position);
    std::optional<int> pointed;
    for (size_t i = 0; i < found.answer.tokens.size() && c.y + size::row < bottom; ++i) {
        const Prediction& p = found.answer.tokens[i];
        const Rect r{c.at.x - gap::small, c.y - size::row / 2, c.at.w + 2 * gap::small, size::row};
        const Hit h = ui.control("lens/next/" + std::to_string(i), r);
        const bool on = p.id == found.answer.token;
        if (h.hovered || on) ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->accent_fill, size::corner);
        c.bar({"", listed_label(*s.model(), p.id), p.probability, percent(p.probability), on}, size::row);
        if (h.hovered) pointed = p.id;
        if (h.clicked && (ui.shift || ui.ctrl))
            choose_by_click(s, p.id);
        else if (h.clicked && clickable)
            s.send("accept prediction", std::to_string(found.asked.position) + "," + std::to_string(p.id));
    }
    s.pointed.token = pointed;
}

}  // namespace

void draw_lens_inspector(Scene& s, Rect area) {
    const auto* found = s.found<AttributionRequest>();
    if (!found || !s.answer->picture) return;
    const Attribution& a = found->answer;
    const int position = std::min(found->asked.position, output_size(s) - 1);
    draw_inspector_title(s, area, token_at(output_labels(s), position),
                         s.model()->config.can.fill_masks   ? "predicted as"
                         : s.model()->config.can.read_image ? "predicts"
                                                            : "is followed by");
    constexpr float kBelowPredictions = 100;
    const auto layers = float(std::min(a.after_layer.size(), kLayerLines));
    SidePanel panel(s, area);
    draw_predictions(s, panel, *found, panel.end() - kBelowPredictions - layers * 20);
    const char* hint = acceptable(s, position) ? s.model()->config.can.fill_masks
                                                     ? "Click to fill the mask; Shift or Ctrl+click: metric."
                                                     : "Click to insert; Shift or Ctrl+click: metric."
                                               : "Hover to explain one below.";
    panel.skip(4);
    panel.note(hint);
    panel.skip(gap::medium);
    draw_after_layers(panel, *s.model(), a);
    panel.finish();
}

std::vector<NumberTable> lens_numbers(const Scene& s) {
    ThreadPool pool(default_thread_count());
    const auto whole =
        answer_lens(*s.sentence()->trace, LensRequest{0, s.sentence()->trace->output().size()}, pool,
                    nullptr);  // all positions, while a page shows some
    if (!whole) throw Failure(whole.error());
    if (whole->top.empty()) return {};
    const Lens& lens = *whole;
    const auto& tokens = s.sentence()->labels.back();
    std::vector<std::string> rows{"embeddings"}, columns;
    for (size_t layer = 0; layer + 1 < lens.top.size(); ++layer)
        rows.push_back("layer " + std::to_string(layer));
    for (size_t i = 0; i < lens.top[0].size(); ++i) columns.push_back(tokens[lens.first + i]);
    Matrix ids(rows.size(), columns.size()), probabilities = ids;
    std::vector<std::string> texts;
    for (Index r = 0; r < ids.rows(); ++r)
        for (Index c = 0; c < ids.cols(); ++c) {
            const Prediction& p = lens.top[r][c];
            ids(r, c) = float(p.id);
            probabilities(r, c) = p.probability;
            texts.push_back(listed_label(*s.model(), p.id));
        }
    std::vector<NumberTable> out{
        {"most probable id", "after", "position", rows, columns, std::move(ids), {}, std::move(texts)},
        {"probability", "after", "position", rows, columns, std::move(probabilities)}};
    if (auto shares = logit_shares(s)) out.push_back(std::move(*shares));
    return out;
}

}  // namespace headlight
