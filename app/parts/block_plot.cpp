// Draws curves, and points in a plane.
#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/colormap.h"
#include "paint/layout.h"
#include "parts/blocks.h"
#include "parts/controls.h"

namespace headlight::learn {

namespace {

constexpr float kPlotLeft = 60, kPlotFoot = 44;
constexpr int kPageColors = 5;  // colors assigned by the page

struct PlotAxis {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    bool log = false;

    void include(float value) {
        if (!std::isfinite(value) || (log && value <= 0)) return;
        low = std::min(low, double(value));
        high = std::max(high, double(value));
    }
    /// Widens an empty range, and extends to 0 if it is near.
    void settle(bool from_zero) {
        if (!(low <= high)) low = log ? 1 : 0, high = log ? 10 : 1;
        if (log) return;
        if (from_zero && low > 0 && low < 0.5 * high) low = 0;
        if (low == high) low -= 0.5, high += 0.5;
    }
    /// Maps a value to 0 … 1 along the axis.
    float place(double value) const {
        if (!log) return float((value - low) / (high - low));
        return low == high ? 0.5f : float(std::log(value / low) / std::log(high / low));
    }
    std::vector<double> ticks(int max) const;
};

/// Multiples of 1, 2 or 5 of a power of ten; powers of ten on a log axis.
std::vector<double> PlotAxis::ticks(int max) const {
    std::vector<double> out;
    if (log) {
        const int first = int(std::ceil(std::log10(low) - 1e-6)),
                  last = int(std::floor(std::log10(high) + 1e-6)),
                  step = std::max(1, (last - first + max) / max);
        for (int power = first; power <= last; power += step) out.push_back(std::pow(10.0, power));
        return out;
    }
    const double rough = (high - low) / max, decade = std::pow(10.0, std::floor(std::log10(rough)));
    double step = decade * 10;
    for (const double k : {5.0, 2.0, 1.0})
        if (k * decade >= rough) step = k * decade;
    for (double i = std::ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; ++i)
        out.push_back(i * step);
    return out;
}

/// "0.25", "40", "10.5 k", "1 M", "2e−6".
std::string tick_text(double value) {
    const double size = std::abs(value);
    struct Unit {
        double one;
        const char* name;
    };
    static constexpr Unit kUnits[] = {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    for (const Unit& unit : kUnits)
        if (size >= std::max(unit.one, 1e4))
            return number(value / unit.one, std::fmod(size, unit.one) > 0.01 * unit.one ? 1 : 0) + unit.name;
    if (size > 0 && size < 1e-3) {
        const int power = int(std::floor(std::log10(size) + 1e-9));
        return number(value / std::pow(10.0, power), 0) + "e−" + std::to_string(-power);
    }
    int digits = 0;
    for (double rest = size; digits < 4 && std::abs(rest - std::round(rest)) > 1e-4 * std::pow(10.0, digits);
         ++digits)
        rest = size * std::pow(10.0, digits + 1);
    return number(value, digits);
}

ImU32 line_color(const Ui& ui, const Curves& curves, int line) {
    if (curves.lines[line].dashed) return ui.colors->t2;
    const int own = curves.lines[line].color;
    const Rgb c =
        head_color(own < 0 ? line : own, own < 0 ? isize(curves.lines) : kPageColors, ui.colors->dark);
    return IM_COL32(c.r, c.g, c.b, 255);
}

/// The dash length: shorter for the second dashed line.
float dash_of(const Curves& curves, int line) {
    const auto first = curves.lines.begin();
    const auto before = std::count_if(first, first + line, [](const Curves::Line& l) { return l.dashed; });
    return before == 0 ? 8.0f : 2.5f;
}

void draw_dashes(Ui& ui, const std::vector<ImVec2>& along, ImU32 color, float dash) {
    float run = 0;
    for (int i = 1; i < isize(along); ++i) {
        const ImVec2 a = along[i - 1], b = along[i];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        for (float at = 0; at < length;) {
            const float end = std::min(length, at + dash - std::fmod(run, dash));
            const auto point = [&](float t) {
                return ImVec2{a.x + (b.x - a.x) * t / length, a.y + (b.y - a.y) * t / length};
            };
            if (int(run / dash) % 2 == 0) ui.stroke(point(at), point(end), color, 1.5f);
            run += std::max(end - at, 1e-3f);
            at = std::max(end, at + 1e-3f);
        }
    }
}

/// Draws the legend above the plot; returns its height.
float draw_legend(BlockPen& pen, ImVec2 at, float width, const Curves& curves) {
    Ui& ui = pen.ui;
    float x = at.x, y = at.y + 8;
    for (int i = 0; i < isize(curves.lines); ++i) {
        const std::string name = ui.text.fitted(kCaption, curves.lines[i].name, width - 30);
        const bool point = curves.lines[i].x.size() == 1;
        const float sign = point ? 14.0f : 28.0f, wide = sign + 2 + ui.text.width(kCaption, name);
        if (x > at.x && x + wide > at.x + width) {
            x = at.x;
            y += 18;
        }
        const std::vector<ImVec2> sample{{x, y}, {x + 22, y}};
        if (curves.lines[i].dashed)
            draw_dashes(ui, sample, line_color(ui, curves, i), dash_of(curves, i));
        else if (point)
            ui.disc({x + 4, y}, 3.5f, line_color(ui, curves, i));
        else
            ui.polyline(sample, line_color(ui, curves, i), 2);
        ui.text.draw(x + sign, y, kCaption, ui.colors->t2, name);
        explain(pen, {x, y - 8, wide, 16}, curves.lines[i].name);
        x += wide + 18;
    }
    return curves.lines.empty() ? 0 : y + 16 - at.y;
}

struct Plot {
    Rect r;
    PlotAxis x, y;
    ImVec2 at(double px, double py) const {
        return {r.x + r.w * x.place(px), r.bottom() - r.h * y.place(py)};
    }
};

Plot plot_of(const Curves& curves) {
    Plot out;
    out.x.log = curves.log_x;
    out.y.log = curves.log_y;
    for (const auto& line : curves.lines)
        for (int i = 0; i < isize(line.x); ++i) {
            const float error = i < isize(line.error) ? line.error[i] : 0;
            out.x.include(line.x[i]);
            out.y.include(line.y[i] - error);
            out.y.include(line.y[i] + error);
        }
    if (curves.mark_x) out.x.include(*curves.mark_x);
    out.x.settle(false);
    out.y.settle(true);
    return out;
}

void draw_plot_axes(BlockPen& pen, const Plot& plot, const Curves& curves) {
    Ui& ui = pen.ui;
    for (const double v : plot.y.ticks(5)) {
        const float y = plot.at(plot.x.low, v).y;
        ui.hairline(plot.r.x, y, plot.r.right(), y);
        ui.text.draw_right(plot.r.x - 8, y, kCaptionMono, ui.colors->t2, tick_text(v));
    }
    for (const double v : plot.x.ticks(std::max(2, int(plot.r.w / 70)))) {
        const float x = plot.at(v, plot.y.low).x;
        ui.fill({x, plot.r.bottom(), ui.line(), 5}, ui.colors->l2);
        ui.text.draw_centered(x, plot.r.bottom() + 14, kCaptionMono, ui.colors->t2, tick_text(v));
    }
    ui.fill({plot.r.x, plot.r.bottom(), plot.r.w, ui.line()}, ui.colors->l2);
    const float x_is = ui.text.width(kCaption, curves.x_is + " →"), foot = plot.r.bottom() + 32;
    ui.text.draw_right(plot.r.right(), foot, kCaption, ui.colors->t3, curves.x_is + " →");
    explain(pen, {plot.r.right() - x_is, foot - 8, x_is, 16}, curves.x_is);
}

void draw_one_line(Ui& ui, const Plot& plot, const Curves& curves, int index) {
    const Curves::Line& line = curves.lines[index];
    const ImU32 color = line_color(ui, curves, index);
    std::vector<ImVec2> along;
    const auto flush = [&] {
        if (isize(along) == 1) ui.disc(along[0], 3.5f, color);
        if (isize(along) > 1)
            line.dashed ? draw_dashes(ui, along, color, dash_of(curves, index))
                        : ui.polyline(along, color, 2);
        along.clear();
    };
    for (int i = 0; i < isize(line.x); ++i) {
        const bool drawn =
            std::isfinite(line.y[i]) && (!plot.y.log || line.y[i] > 0) && (!plot.x.log || line.x[i] > 0);
        if (!drawn) {
            flush();
            continue;
        }
        const ImVec2 p = plot.at(double(line.x[i]), double(line.y[i]));
        along.push_back(p);
        const float error = i < isize(line.error) ? line.error[i] : 0;
        if (!(error > 0)) continue;
        const double low = double(line.y[i] - error);
        const float top = plot.at(double(line.x[i]), double(line.y[i] + error)).y,
                    bottom = plot.y.log && low <= 0 ? plot.r.bottom() : plot.at(double(line.x[i]), low).y;
        ui.stroke({p.x, top}, {p.x, bottom}, color, 1.2f);
        for (const float y : {top, bottom}) ui.stroke({p.x - 3, y}, {p.x + 3, y}, color, 1.2f);
        ui.disc(p, 2.5f, color);
    }
    flush();
}

}  // namespace

float draw_plot(BlockPen& pen, ImVec2 at, float width, const Curves& curves) {
    Ui& ui = pen.ui;
    float y = at.y + draw_block_title(pen, at, width, curves.title);
    y += draw_legend(pen, {at.x, y}, width, curves);
    const float named = ui.text.draw(at.x, y + 8, kCaption, ui.colors->t3, "↑ " + curves.y_is);
    explain(pen, {at.x, y, named, 16}, curves.y_is);
    Plot plot = plot_of(curves);
    plot.r = {at.x + kPlotLeft, y + 26, width - kPlotLeft - 8, pen.plot_high};
    draw_plot_axes(pen, plot, curves);
    for (int i = 0; i < isize(curves.lines); ++i) draw_one_line(ui, plot, curves, i);
    if (curves.mark_x) {
        const float x = plot.at(double(*curves.mark_x), plot.y.low).x;
        ui.stroke({x, plot.r.y}, {x, plot.r.bottom()}, ui.colors->accent, 1.5f);
        const float half =
            ui.text.width(kCaption, curves.mark_name) / 2;  // above the plot, so that it covers no line
        ui.text.draw_centered(std::min(std::max(x, at.x + named + gap::medium + half), at.x + width - half),
                              plot.r.y - gap::small, kCaption, ui.colors->accent_text, curves.mark_name);
    }
    return plot.r.bottom() + kPlotFoot - at.y;
}

namespace {

/// Draws a vector with its head; a short one has a shorter head.
void draw_arrow(Ui& ui, ImVec2 from, ImVec2 to, ImU32 color) {
    constexpr float kHead = 9, kSpread = 0.45f, kThick = 1.5f;
    const float dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
    ui.stroke(from, to, color, kThick);
    if (length < 1) return;
    const float head = std::min(kHead, length / 2), x = dx / length * head, y = dy / length * head;
    for (const float side : {kSpread, -kSpread})
        ui.stroke(to, {to.x - x - side * y, to.y - y + side * x}, color, kThick);
}

}  // namespace

namespace {

/// Where a plane's points are drawn; what no point lies below is not drawn.
struct PlaneFrame {
    Rect r;
    ImVec2 origin;
    float per = 1;  // points of the screen for 1
    ImVec2 at(const Plane::Point& p) const { return {origin.x + p.x * per, origin.y - p.y * per}; }
};

PlaneFrame plane_frame(ImVec2 at, float width, const Plane& plane) {
    constexpr float kHigh = 0.75f, kUsed = 0.44f, kBelow = 24;
    float reach = 1e-6f, lowest = 0;
    for (const auto& p : plane.points) {
        reach = std::max({reach, std::abs(p.x), std::abs(p.y) / kHigh});
        lowest = std::min(lowest, p.y);
    }
    const float high = lowest < 0 ? width * kHigh : width * kHigh / 2 + kBelow;
    const Rect r{at.x, at.y, width, high};
    return {r, {r.middle_x(), at.y + width * kHigh / 2}, width * kUsed / reach};
}

void draw_plane_axes(Ui& ui, const PlaneFrame& f, const Plane& plane) {
    ui.frame(f.r, ui.colors->l1);
    ui.hairline(f.r.x, f.origin.y, f.r.right(), f.origin.y);
    ui.hairline(f.origin.x, f.r.y, f.origin.x, f.r.bottom());
    const Rect inside = inset(f.r, gap::small, gap::tight);
    if (!plane.x_is.empty())
        write(ui, {inside.x, f.origin.y, inside.w, size::line}, kCaption, ui.colors->t3, plane.x_is + " →",
              Flush::right);
    if (!plane.y_is.empty())
        write(ui, {f.origin.x + gap::small, inside.y, inside.right() - f.origin.x, size::line}, kCaption,
              ui.colors->t3, "↑ " + plane.y_is);
}

}  // namespace

float draw_plane(BlockPen& pen, ImVec2 at, float width, const Plane& plane) {
    Ui& ui = pen.ui;
    const float top = at.y + draw_block_title(pen, at, width, plane.title);
    const PlaneFrame f = plane_frame({at.x, top}, std::min(width, 640.0f), plane);
    draw_plane_axes(ui, f, plane);
    for (const auto& p : plane.points)
        if (plane.arrows) draw_arrow(ui, f.origin, f.at(p), p.emphasized ? ui.colors->accent : ui.colors->t3);
    LabelPlacer labels(f.r);
    constexpr float kDot = 5;
    for (const auto& p : plane.points)
        if (const ImVec2 dot = f.at(p); !plane.arrows)
            labels.avoid({dot.x - kDot, dot.y}, {dot.x + kDot, dot.y});
    for (const bool emphasized : {true, false})
        for (const auto& p : plane.points) {
            if (p.emphasized != emphasized) continue;
            if (!plane.arrows)
                ui.disc(f.at(p), emphasized ? 4.5f : 3.0f, emphasized ? ui.colors->accent : ui.colors->t3);
            labels.draw(ui, f.origin, f.at(p), p.name, emphasized ? ui.colors->accent_text : ui.colors->t1,
                        emphasized);
        }
    return f.r.bottom() - at.y;
}

}  // namespace headlight::learn
