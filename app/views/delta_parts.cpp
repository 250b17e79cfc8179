// One ΔE taken apart: by head or key, by the tokens it moves, and as arrows.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/cast.h"
#include "views/delta.h"

namespace headlight {

namespace {

struct Bar {
    std::string name;
    float value;
    bool this_one = false;
};

struct BarLook {
    float names;  // room for them
    bool is_signed;
};

/// A name, its bar from zero, its value.
void draw_bar(Ui& ui, Rect line, const Bar& bar, const BarLook& look, float largest, bool both_sides) {
    constexpr float kValue = 64, kHigh = 10, kZero = 5;
    write(ui, take_left(line, look.names - gap::small, gap::small), kBodyMono,
          bar.this_one ? ui.colors->accent_text : ui.colors->t2, bar.name);
    write(ui, take_right(line, kValue, gap::small), kBodyMono, ui.colors->t1,
          (look.is_signed && bar.value > 0 ? "+" : "") + number(bar.value, 2), Flush::right);
    const Rect track = band(line, kHigh);
    if (both_sides) return ui.signed_bar(track, bar.value / largest);
    ui.fill({track.x, track.y, std::max(ui.line(), track.w * bar.value / largest), track.h}, ui.colors->plus);
    ui.fill({track.x, track.y - kZero, ui.line(), track.h + 2 * kZero}, ui.colors->l2);
}

/// Bars to both sides of zero, as many as fit.
void draw_bars(Scene& s, Rect area, const std::vector<Bar>& bars, const BarLook& look) {
    Ui& ui = s.ui;
    if (bars.empty()) return;
    const float pitch = std::clamp(area.h / float(bars.size()), 20.0f, 28.0f);
    const int room = int(area.h / pitch + 0.01f);  // the last line says how many more there are
    const int shown = isize(bars) <= room ? isize(bars) : std::max(0, room - 1);
    float largest = 1e-12f;
    bool negative = false;
    for (const Bar& b : bars) {
        largest = std::max(largest, std::abs(b.value));
        negative = negative || b.value < -1e-4f;
    }
    for (const Bar& b : std::span(bars).first(shown))
        draw_bar(ui, take_top(area, pitch), b, look, largest, negative);
    if (shown < isize(bars))
        caption(ui, take_top(area, pitch), std::to_string(bars.size() - shown) + " more", Flush::right);
}

std::vector<Bar> head_bars(const Scene& s, const Found<DeltaSplitWanted>& found) {
    std::vector<Bar> bars;
    const auto& parts = found.answer.heads;
    for (int h = 0; h < isize(parts); ++h) {
        const bool bias = h == s.model()->config.heads(found.asked.block);
        bars.push_back({bias ? "bias" : head_name(s.model()->config, found.asked.block, h), parts[h].along,
                        !bias && h == s.session.selection.head});
    }
    return bars;
}

/// The heaviest keys first.
std::vector<Bar> key_bars(const Scene& s, const Found<DeltaSplitWanted>& found) {
    const auto& parts = found.answer.keys;
    std::vector<size_t> order(parts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return parts[a].norm > parts[b].norm; });
    const auto& labels = s.sentence()->key_labels(found.asked.block);
    std::vector<Bar> bars;
    for (const size_t k : order) bars.push_back({token_at(labels, narrow<int>(k)), parts[k].norm});
    return bars;
}

constexpr float kHead = 26, kNote = 24, kPartNames = 96, kKeyNames = 108;

void draw_heading(Ui& ui, Rect line, const std::string& title, const std::string& right) {
    line.h = size::line;
    write(ui, line, kCaptionMono, ui.colors->t3, right, Flush::right);
    take_right(line, ui.text.width(kCaptionMono, right), gap::medium);
    write(ui, line, kBody, ui.colors->t1, title);
}

/// What the bars are, under them.
void draw_note(Ui& ui, Rect foot, const std::string& text) {
    caption(ui, {foot.x, foot.y + gap::tight, foot.w, size::line}, text);
}

}  // namespace

void draw_delta_parts(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitWanted>();
    if (!found) return;
    const std::string layer = "Layer " + block_name(s.model()->config, found->asked.block),
                      token = token_at(s.sentence()->query_labels(found->asked.block), found->asked.query);
    const bool by_head = s.of<DeltaState>().split == DeltaSplitBy::head;
    const Rect head = take_top(area, kHead), foot = take_bottom(area, kNote);
    if (by_head) {
        float sum = 0;
        for (const DeltaPart& p : found->answer.heads) sum += p.along;
        draw_heading(ui, head, layer + " at " + token + ", by head", "Σ " + decimals(sum, 2));
        draw_bars(s, area, head_bars(s, *found), {kPartNames, true});
    } else {
        const std::string of =
            found->asked.head < 0
                ? layer
                : "Head " + head_name(s.model()->config, found->asked.block, found->asked.head);
        draw_heading(ui, head, of + " at " + token + ", by key", "");
        draw_bars(s, area, key_bars(s, *found), {kKeyNames, false});
    }
    draw_note(ui, foot,
              by_head ? "Length along the layer’s ΔE" : "‖weight · v · W_O‖ (Kobayashi et al. 2020)");
}

void draw_tokens_moved(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitWanted>();
    if (!found) return;
    draw_heading(ui, take_top(area, kHead), "Contribution", "logit");
    const DeltaSplit& split = found->answer;
    if (split.promoted.empty()) {
        caption_lines(ui, area,
                      "No direct path to the logits: another norm or another stack lies in between.");
        return;
    }
    std::vector<Bar> bars;
    for (size_t i = 0; i < 4; ++i)
        bars.push_back({listed_label(*s.model(), split.promoted[i].id), split.promoted[i].logit});
    for (size_t i = 4; i-- > 0;)
        bars.push_back({listed_label(*s.model(), split.suppressed[i].id), split.suppressed[i].logit});
    const Rect foot = take_bottom(area, kNote);
    draw_bars(s, area, bars, {kPartNames, true});
    draw_note(ui, foot, "Through the final norm, read as logits");
}

namespace {

struct Plot {
    Rect frame;
    ImVec2 low, high;
    ImVec2 at(const Matrix& points, Index i) const {
        const float margin = 0.06f, w = frame.w * (1 - 2 * margin), h = frame.h * (1 - 2 * margin);
        return {
            frame.x + frame.w * margin + w * (points(i, 0) - low.x) / std::max(high.x - low.x, 1e-9f),
            frame.bottom() - frame.h * margin - h * (points(i, 1) - low.y) / std::max(high.y - low.y, 1e-9f)};
    }
};

Plot make_plot(Rect frame, const Projection& p) {
    Plot plot{frame, {1e30f, 1e30f}, {-1e30f, -1e30f}};
    for (const Matrix& step : p.steps) {
        plot.low = {std::min(plot.low.x, step.col(0).minCoeff()),
                    std::min(plot.low.y, step.col(1).minCoeff())};
        plot.high = {std::max(plot.high.x, step.col(0).maxCoeff()),
                     std::max(plot.high.y, step.col(1).maxCoeff())};
    }
    return plot;
}

void draw_arrow(Ui& ui, ImVec2 from, ImVec2 to, ImU32 color, bool head) {
    ui.stroke(from, to, color, 1.4f);
    const float dx = to.x - from.x, dy = to.y - from.y, length = std::sqrt(dx * dx + dy * dy);
    if (!head || length < 3) return;
    const float ux = dx / length, uy = dy / length, size = 6;
    ui.polygon(
        std::array<ImVec2, 3>{{to,
                               {to.x - size * ux - size * 0.5f * uy, to.y - size * uy + size * 0.5f * ux},
                               {to.x - size * ux + size * 0.5f * uy, to.y - size * uy - size * 0.5f * ux}}},
        color);
}

/// The tokens that move farthest from the first step to the last, at most so many.
std::vector<int> farthest_moved(const Projection& p, size_t max) {
    std::vector<int> order(p.steps[0].rows());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() <= max) return order;
    const Vector moved = (p.steps.back() - p.steps.front()).rowwise().squaredNorm();
    std::nth_element(order.begin(), order.begin() + max, order.end(),
                     [&](int a, int b) { return moved[a] > moved[b]; });
    order.resize(max);
    return order;
}

/// The row of the plane nearest to a place, or −1.
int nearest_point(const Plot& plot, const Projection& p, ImVec2 mouse, float within) {
    int best = -1;
    float min = within * within;
    for (const Matrix& step : p.steps)
        for (int i = 0; i < step.rows(); ++i) {
            const ImVec2 at = plot.at(step, i);
            const float d = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
            if (d < min) {
                min = d;
                best = i;
            }
        }
    return best;
}

/// "Left out, ‖E‖ over 10 × the median: The 0. ", as many as a line holds.
std::string left_out_note(const Projection& p, const std::vector<std::string>& labels) {
    constexpr int kNamed = 3;
    if (p.left_out.empty()) return "";
    std::string out = "Left out, ‖E‖ over 10 × the median: ";
    for (int i = 0; i < std::min(kNamed, isize(p.left_out)); ++i)
        out += (i ? ", " : "") + token_at(labels, p.left_out[i]);
    if (isize(p.left_out) > kNamed) out += " and " + std::to_string(p.left_out.size() - kNamed) + " more";
    return out + ". ";
}

}  // namespace

void draw_projection(Scene& s, Rect area) {
    constexpr float kFoot = 32;
    constexpr int kAcross = 6, kDown = 5;
    Ui& ui = s.ui;
    const auto* found = s.found<ProjectionWanted>();
    if (!found || area.h < 80) return;
    const Projection& p = found->answer;
    const std::string where = found->asked.block < 0 ? "The residual stream through all layers"
                                                     : "Embeddings before and after attention, layer " +
                                                           block_name(s.model()->config, found->asked.block);
    draw_heading(ui, take_top(area, kHead), where,
                 "2-D projection keeps " + decimals(100 * p.kept, 0) + " %");
    const Rect foot = take_bottom(area, kFoot), &frame = area;
    ui.fill(frame, ui.colors->bg0);
    for (int i = 1; i < kAcross; ++i) {
        const float x = nth_column(frame, i, kAcross).x;
        ui.hairline(x, frame.y, x, frame.bottom());
    }
    for (int i = 1; i < kDown; ++i) {
        const float y = nth_row(frame, i, kDown).y;
        ui.hairline(frame.x, y, frame.right(), y);
    }
    ui.frame(frame, ui.colors->l1);
    const Plot plot = make_plot(frame, p);
    const auto& labels = s.sentence()->labels[found->asked.stack];
    const Hit h = ui.hit("delta/plot", frame);
    if (h.hovered)
        if (const int row = nearest_point(plot, p, h.mouse, 24); row >= 0 && p.tokens[row] < s.queries()) {
            const int token = p.tokens[row];
            s.point_at(std::pair{token, s.heaviest_key(token)});
            if (h.clicked) lock_token(s, token);
        }
    const auto focused = std::find(p.tokens.begin(), p.tokens.end(), delta_query(s));
    const int focus = focused == p.tokens.end() ? -1 : narrow<int>(focused - p.tokens.begin());
    LabelPlacer placer(frame);
    ui.clip(frame);
    const auto draw_token = [&](int i, bool on) {
        const ImU32 color = on                                              ? ui.colors->accent
                            : p.steps.size() > 2 || p.steps[0].rows() > 200 ? faded(ui.colors->t3, 0.4f)
                                                                            : ui.colors->t2;
        const bool many =
            p.steps[0].rows() > 200 && !on;  // points in place of discs, lines in place of arrows
        for (size_t step = 0; step + 1 < p.steps.size(); ++step)
            draw_arrow(ui, plot.at(p.steps[step], i), plot.at(p.steps[step + 1], i), color,
                       !many && step + 2 == p.steps.size());
        const ImVec2 from = plot.at(p.steps[0], i);
        if (many)
            ui.fill({from.x - 1.5f, from.y - 1.5f, 3, 3}, color);
        else
            ui.disc(from, on ? 4 : 2.2f, color);
        placer.draw(ui, plot.at(p.steps[p.steps.size() - 2], i), plot.at(p.steps.back(), i),
                    token_at(labels, p.tokens[i]), on ? ui.colors->accent_text : ui.colors->t2, on);
    };
    if (focus >= 0) draw_token(focus, true);
    const auto drawn = farthest_moved(p, ui.most_lines);
    for (const int i : drawn)
        if (i != focus) draw_token(i, false);
    ui.unclip();
    const bool all = isize(drawn) == p.steps[0].rows();
    caption(
        ui, foot,
        left_out_note(p, labels) +
            (all ? std::string("Dot: before. Arrow head: after. Labels that would overlap appear on hover.")
                 : "The " + std::to_string(drawn.size()) + " tokens that move farthest."));
}

}  // namespace headlight
