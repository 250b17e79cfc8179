// Projects the residual stream of all tokens onto a plane, with arrows from before to after a layer.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/cast.h"
#include "views/delta/delta.h"

namespace headlight {

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

/// The tokens that move farthest from the first step to the last, at most `max`.
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

/// The row nearest to the mouse, or −1.
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

/// "Left out, ‖E‖ over 10 × the median: The 0. ".
std::string left_out_note(const Projection& p, const std::vector<std::string>& labels) {
    constexpr int kNamed = 3;
    if (p.left_out.empty()) return "";
    std::string out = "Left out, ‖E‖ over 10 × the median: ";
    for (int i = 0; i < std::min(kNamed, isize(p.left_out)); ++i)
        out += (i ? ", " : "") + token_at(labels, p.left_out[i]);
    if (isize(p.left_out) > kNamed) out += " and " + std::to_string(p.left_out.size() - kNamed) + " more";
    return out + ". ";
}

/// Names omitted tokens, then explains the marks as far as fits. `farthest`: the number of drawn tokens; 0:
/// all.
std::string plane_note(Ui& ui, float room, const std::string& left_out, int farthest) {
    if (farthest > 0) return left_out + "The " + std::to_string(farthest) + " tokens that move farthest.";
    const std::string marks = left_out + "Dot: before. Arrow head: after.";
    return first_that_fits(ui, kCaption,
                           {marks + " Labels that would overlap appear on hover.",
                            marks + " More labels on hover.", marks, left_out},
                           room);
}

void head_plane(Scene& s, Rect line, const Found<ProjectionRequest>& found) {
    const std::string before = "Embeddings before and after",
                      kept = decimals(100 * found.answer.kept, 0) + " %";
    const std::vector<std::string> titles =
        found.asked.block < 0
            ? std::vector<std::string>{"The residual stream through all layers", "Residual stream"}
            : std::vector<std::string>{
                  before + " attention, layer " + block_name(s.model()->config, found.asked.block), before,
                  "Embeddings"};
    draw_part_heading(s.ui, line, titles,
                      first_that_fits(s.ui, kCaptionMono, {"2-D projection keeps " + kept, "keeps " + kept},
                                      line.w * 0.55f));
}

void draw_plane_grid(Ui& ui, Rect frame) {
    constexpr int kAcross = 6, kDown = 5;
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
}

/// Marks the token under the mouse as hovered; click locks it.
void answer_plane(Scene& s, const Plot& plot, const Projection& p, Rect frame) {
    constexpr float kNearby = 24;
    const Hit h = s.ui.hit("delta/plot", frame);
    if (!h.hovered) return;
    const int row = nearest_point(plot, p, h.mouse, kNearby);
    if (row < 0 || p.tokens[row] >= s.queries()) return;
    const int token = p.tokens[row];
    const float moved = (p.steps.back().row(row) - p.steps.front().row(row)).norm();
    s.ui.tooltip("delta/plot", h,
                 token_at(s.query_labels(), token) + " moves by " + fine_number(moved, 3) + " in this plane",
                 0);
    s.point_at(std::pair{token, s.strongest_key(token)});
    if (h.clicked) lock_token(s, token);
}

/// Draws a disc at the start and an arrow per step; for many tokens, points and lines.
void draw_token_path(Ui& ui, const Plot& plot, const Projection& p, int i, bool on) {
    constexpr Index kMany = 200;
    const ImU32 color = on                                                ? ui.colors->accent
                        : p.steps.size() > 2 || p.steps[0].rows() > kMany ? faded(ui.colors->t3, 0.4f)
                                                                          : ui.colors->t2;
    const bool many = p.steps[0].rows() > kMany && !on;
    for (size_t step = 0; step + 1 < p.steps.size(); ++step)
        draw_arrow(ui, plot.at(p.steps[step], i), plot.at(p.steps[step + 1], i), color,
                   !many && step + 2 == p.steps.size());
    const ImVec2 from = plot.at(p.steps[0], i);
    if (many)
        ui.fill({from.x - 1.5f, from.y - 1.5f, 3, 3}, color);
    else
        ui.disc(from, on ? 4 : 2.2f, color);
}

/// Keeps labels off the paths, unless paths leave no space.
void avoid_paths(LabelPlacer& placer, const Plot& plot, const Projection& p, const std::vector<int>& drawn) {
    constexpr float kDot = 4;
    constexpr int kMaxAvoided = 200;
    if (isize(drawn) > kMaxAvoided) return;
    for (const int i : drawn) {
        const ImVec2 dot = plot.at(p.steps[0], i);
        placer.avoid({dot.x - kDot, dot.y}, {dot.x + kDot, dot.y});
        for (size_t step = 0; step + 1 < p.steps.size(); ++step)
            placer.avoid(plot.at(p.steps[step], i), plot.at(p.steps[step + 1], i));
    }
}

}  // namespace

void draw_projection(Scene& s, Rect area) {
    constexpr float kFoot = 32;
    Ui& ui = s.ui;
    const auto* found = s.found<ProjectionRequest>();
    if (!found || area.h < 80) return;
    const Projection& p = found->answer;
    head_plane(s, take_top(area, kPartHead), *found);
    const Rect foot = take_bottom(area, kFoot), &frame = area;
    draw_plane_grid(ui, frame);
    const Plot plot = make_plot(frame, p);
    const auto& labels = s.sentence()->labels[found->asked.stack];
    answer_plane(s, plot, p, frame);
    const auto focused = std::find(p.tokens.begin(), p.tokens.end(), delta_query(s));
    const int focus = focused == p.tokens.end() ? -1 : narrow<int>(focused - p.tokens.begin());
    const auto drawn = farthest_moved(p, ui.most_lines);
    LabelPlacer placer(frame);
    ui.clip(frame);
    avoid_paths(placer, plot, p, drawn);
    const auto name_token = [&](int i, bool on) {
        placer.draw(ui, plot.at(p.steps[p.steps.size() - 2], i), plot.at(p.steps.back(), i),
                    token_at(labels, p.tokens[i]), on ? ui.colors->accent_text : ui.colors->t2, on);
    };
    for (const int i : drawn)
        if (i != focus) draw_token_path(ui, plot, p, i, false);
    if (focus >= 0) draw_token_path(ui, plot, p, focus, true);
    if (focus >= 0) name_token(focus, true);
    for (const int i : drawn)
        if (i != focus) name_token(i, false);
    ui.unclip();
    const bool all = isize(drawn) == p.steps[0].rows();
    caption(ui, foot, plane_note(ui, foot.w, left_out_note(p, labels), all ? 0 : isize(drawn)));
}

}  // namespace headlight
