// Draws the prediction over the strengths of the adapter, above the slider that chooses one, and what the
// base and the adapted model predict next.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/metric.h"
#include "parts/strength.h"
#include "session/commands/commands.h"
#include "views/compare/compare.h"
#include "views/tables.h"

namespace headlight {

namespace {

constexpr float kScaleWide = 52;  // of the names at the left of the curve
constexpr int kStrengthPoints = StrengthCurve::kCount;

/// One line of the plot.
struct StrengthLine {
    std::string label;
    const std::vector<float>* values;
    ImU32 ink;
    float width;
};

/// The plot: strengths across, probabilities or values of the metric up.
struct StrengthPlot {
    Rect r;
    float low = 0, high = 1;
    ImVec2 at(float strength, float value) const {
        const float up = high > low ? (value - low) / (high - low) : 0.5f;
        return {r.x + r.w * strength_place(strength), r.bottom() - r.h * std::clamp(up, 0.0f, 1.0f)};
    }
};

/// The value at a strength between two measured points; NaN beside an unknown one.
float value_between(const std::vector<float>& values, float strength) {
    const float at = strength_place(strength) * float(kStrengthPoints - 1);
    const auto below = std::min(static_cast<size_t>(at), values.size() - 2);
    const float part = at - float(below);
    return part == 0 ? values[below] : values[below] + part * (values[below + 1] - values[below]);
}

/// The token that is predicted as trained is amber; the others are gray.
ImU32 ink_of_token(const Ui& ui, const StrengthCurve& curve, size_t token) {
    const ImU32 grays[] = {ui.colors->t2, ui.colors->t3, ui.colors->l2};
    const int trained = curve.first[size_t(StrengthCurve::point_at(1))];
    if (curve.tokens[token].id == trained) return ui.colors->accent;
    size_t before = 0;
    for (size_t i = 0; i < token; ++i) before += curve.tokens[i].id != trained;
    return grays[std::min(before, std::size(grays) - 1)];
}

bool follows_metric(const Scene& s) { return s.of<CompareState>().curve == StrengthShow::metric; }

std::vector<StrengthLine> lines_of(const Scene& s, const StrengthCurve& curve) {
    if (follows_metric(s))
        return {{metric_label(*s.model(), curve.metric), &curve.values, s.ui.colors->accent, 2}};
    std::vector<StrengthLine> out;
    for (size_t i = 0; i < curve.tokens.size(); ++i)
        out.push_back(
            {curve.tokens[i].label, &curve.tokens[i].probabilities, ink_of_token(s.ui, curve, i), 2});
    return out;
}

/// Formats a value as the axis has it.
std::string strength_value_text(const Scene& s, float value) {
    return follows_metric(s) ? compact_number(double(value), 2) : percent(double(value));
}

/// Sets the range: of probabilities all of it, of a metric what it reaches.
void set_range(StrengthPlot& plot, const std::vector<StrengthLine>& lines, bool metric) {
    if (!metric) return;
    plot.low = INFINITY;
    plot.high = -INFINITY;
    for (const float v : *lines[0].values)
        if (std::isfinite(v)) {
            plot.low = std::min(plot.low, v);
            plot.high = std::max(plot.high, v);
        }
    if (plot.low > plot.high) plot.low = 0, plot.high = 1;
}

/// Draws the lines of the scale and their values, and the strengths 0 and 1.
void draw_strength_scale(Scene& s, const StrengthPlot& plot) {
    Ui& ui = s.ui;
    for (const float part : {0.0f, 0.5f, 1.0f}) {
        const float y = plot.r.bottom() - plot.r.h * part;
        ui.hairline(plot.r.x, y, plot.r.right(), y);
        const float value = plot.low + part * (plot.high - plot.low);
        write(ui, line_at({plot.r.x - kScaleWide, 0, kScaleWide - gap::small, 0}, y, size::line),
              kCaptionMono, ui.colors->t3,
              follows_metric(s) ? compact_number(double(value), 2) : decimals(100 * value, 0) + " %",
              Flush::right);
    }
    for (const float held : {0.0f, 1.0f}) {
        const float x = plot.at(held, plot.low).x;
        ui.fill({x, plot.r.y, ui.line(), plot.r.h}, ui.colors->l2);
    }
}

/// Names what is predicted above each stretch of strengths, where the name fits.
void draw_stretches(Scene& s, Rect line, const StrengthPlot& plot, const StrengthCurve& curve) {
    Ui& ui = s.ui;
    for (int from = 0, to; from < kStrengthPoints; from = to) {
        const int id = curve.first[size_t(from)];
        for (to = from + 1; to < kStrengthPoints && curve.first[size_t(to)] == id; ++to) {
        }
        const StrengthToken* token = curve.token(id);
        if (!token) continue;
        const float half = 0.5f * plot.r.w / float(kStrengthPoints - 1),
                    left = plot.at(StrengthCurve::strength(from), 0).x - half,
                    right = plot.at(StrengthCurve::strength(to - 1), 0).x + half;
        if (ui.text.width(kCaptionMono, token->label) > right - left) continue;
        write(ui, {left, line.y, right - left, line.h}, kCaptionMono,
              ink_of_token(ui, curve, size_t(token - curve.tokens.data())), token->label, Flush::center);
    }
}

void draw_strength_line(Scene& s, const StrengthPlot& plot, const StrengthLine& line) {
    std::vector<ImVec2> along;
    for (int i = 0; i < kStrengthPoints; ++i)
        if (const float v = (*line.values)[size_t(i)]; std::isfinite(v))
            along.push_back(plot.at(StrengthCurve::strength(i), v));
    if (along.size() > 1) s.ui.polyline(along, line.ink, line.width);
}

/// Marks the chosen strength across the plot, down to the slider.
void draw_chosen_strength(Scene& s, const StrengthPlot& plot, const std::vector<StrengthLine>& lines,
                          float strength, float bottom) {
    constexpr float kDot = 4;
    if (strength < StrengthCurve::kFirst || strength > StrengthCurve::kLast) return;
    const float x = plot.at(strength, plot.low).x;
    s.ui.fill({x, plot.r.y, s.ui.line(), bottom - plot.r.y}, s.ui.colors->accent);
    for (const StrengthLine& line : lines)
        if (const float v = value_between(*line.values, strength); std::isfinite(v))
            s.ui.disc(plot.at(strength, v), kDot, line.ink);
}

/// Says the values of the point under the mouse; a press chooses its strength.
void answer_plot(Scene& s, const StrengthPlot& plot, const std::vector<StrengthLine>& lines) {
    constexpr const char* kPath = "compare/strengths";
    const Hit h = s.ui.hit(kPath, plot.r);
    if (!h.hovered && !h.pressed) return;
    const float place = (h.mouse.x - plot.r.x) / plot.r.w;
    if (h.pressed) send_strength(s, strength_at(std::clamp(place, 0.0f, 1.0f)));
    const int point = between(int(std::lround(place * float(kStrengthPoints - 1))), 0, kStrengthPoints - 1);
    std::string said = "Strength " + decimals(double(StrengthCurve::strength(point)), 1);
    for (const StrengthLine& line : lines)
        if (const float v = (*line.values)[size_t(point)]; std::isfinite(v))
            said += "\n" + line.label + " " + strength_value_text(s, v);
    s.ui.tooltip(kPath, h, said, 0);
}

/// "−1   0 base   1 as trained   2" under the slider.
void draw_strength_names(Scene& s, Rect line, const StrengthPlot& plot, float strength) {
    constexpr float kNameWide = 120;
    for (const auto& [at, name] : {std::pair{-1.0f, "−1"}, std::pair{0.0f, "0 base"},
                                   std::pair{1.0f, "1 as trained"}, std::pair{2.0f, "2"}})
        write(s.ui, {plot.at(at, plot.low).x - kNameWide / 2, line.y, kNameWide, line.h}, kCaptionMono,
              at == strength ? s.ui.colors->accent_text : s.ui.colors->t3, name, Flush::center);
}

/// "Strength 1.00 as trained", and what the curve shows.
void draw_strength_title(Scene& s, Rect line, float strength, const StrengthCurve* curve) {
    constexpr float kTitleGap = 12;
    constexpr const char* kProbabilities = "p of the next token";
    Ui& ui = s.ui;
    const std::string metric = curve ? metric_label(*s.model(), curve->metric) : std::string("the metric");
    if (ui.on_page()) {
        caption(ui, line, follows_metric(s) ? metric : kProbabilities, Flush::right);
    } else {
        const std::vector<std::string> items{kProbabilities, metric};
        const float wide = ui.choice_width("Curve", items);
        float x = line.right() - wide;
        const int chosen = ui.choice(x, line.middle_y(), "Curve", "compare/curve", items,
                                     static_cast<int>(s.of<CompareState>().curve));
        if (chosen >= 0) s.of<CompareState>().curve = static_cast<StrengthShow>(chosen);
    }
    take_left(line, write(ui, line, kBody, ui.colors->t1, "Strength"), kTitleGap);
    take_left(line, write(ui, line, kTitleMono, ui.colors->accent_text, decimals(double(strength), 2)),
              kTitleGap);
    const char* name = strength == 0 ? "base" : strength == 1 ? "as trained" : "";
    write(ui, line, kCaption, ui.colors->t3, name);
}

/// Says how many strengths are measured, or what the curve shows.
std::string said_below(const Scene& s, const StrengthCurve* curve) {
    if (!curve) return "Measuring …";
    if (curve->done < kStrengthPoints)
        return "Measured at " + std::to_string(curve->done) + " of " + std::to_string(kStrengthPoints) +
               " strengths.";
    return strength_summary(*curve, *s.model());
}

void draw_curve_part(Scene& s, Rect area) {
    constexpr float kNames = 20, kSlider = 26;
    const StrengthsFound found = measured(s, strengths_request(s));
    const StrengthCurve* curve = found.curve.get();
    const float strength = strength_of(s.session, *s.model());
    draw_strength_title(s, take_top(area, size::row, gap::tight), strength, curve);
    const std::string said = found.refusal.empty() ? said_below(s, curve) : found.refusal;
    Rect below = take_bottom(area, size::line);
    write(s.ui, below, kBody, s.ui.colors->t2, said);
    s.ui.name("compare/strength/said", below);
    const Rect names = take_bottom(area, kNames, gap::tight), slider = take_bottom(area, kSlider),
               stretches = take_top(area, kNames);
    take_left(area, kScaleWide);
    take_right(area, 2 * gap::wide);  // for the names under its end
    StrengthPlot plot{area};
    const auto lines = curve ? lines_of(s, *curve) : std::vector<StrengthLine>();
    if (curve) set_range(plot, lines, follows_metric(s));
    draw_strength_scale(s, plot);
    if (curve && !follows_metric(s)) draw_stretches(s, stretches, plot, *curve);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) draw_strength_line(s, plot, *line);
    draw_strength_names(s, names, plot, strength);
    draw_chosen_strength(s, plot, lines, strength, slider.middle_y());
    draw_strength_slider(s, "compare/strength",
                         {plot.r.x - kStrengthKnob, slider.y, plot.r.w + 2 * kStrengthKnob, slider.h});
    answer_plot(s, plot, lines);
}

/// Draws the most probable tokens of one side.
void draw_next_of(Scene& s, Rect& area, const std::string& name, const PredictionPair& pair, bool adapted) {
    constexpr int kListed = 3;
    constexpr float kToken = 96, kValue = 64, kStep = 24;
    Ui& ui = s.ui;
    const auto p = [&](const ProbabilityChange& token) { return adapted ? token.a : token.b; };
    std::vector<ProbabilityChange> tokens = pair.tokens;
    std::stable_sort(tokens.begin(), tokens.end(), [&](const auto& x, const auto& y) { return p(x) > p(y); });
    write(ui, take_top(area, size::line, gap::tight), kCaption,
          adapted ? ui.colors->accent_text : ui.colors->t3, name);
    for (int i = 0; i < std::min(kListed, isize(tokens)); ++i) {
        Rect line = take_top(area, kStep);
        const ProbabilityChange& token = tokens[size_t(i)];
        write(ui, take_left(line, kToken, gap::small), kBodyMono, i == 0 ? ui.colors->t1 : ui.colors->t2,
              token.label);
        write(ui, take_right(line, kValue, gap::small), kBodyMono, ui.colors->t1, percent(double(p(token))),
              Flush::right);
        ui.bar(band(line, size::bar), p(token), adapted ? ui.colors->accent : ui.colors->t3);
    }
}

void draw_next_part(Scene& s, Rect area) {
    constexpr float kApart = 12;
    const auto* pair = s.found<PredictionPairRequest>();
    if (!pair || pair->answer.tokens.empty()) return;
    write(s.ui, take_top(area, size::row, gap::tight), kBody, s.ui.colors->t1, "Next token");
    draw_next_of(s, area, "Base", pair->answer, false);
    take_top(area, kApart);
    draw_next_of(s, area, "Adapted", pair->answer, true);
}

}  // namespace

StrengthsRequest strengths_request(const Scene& s) { return {s.session.document.metric.metric}; }

bool shows_strengths(const Scene& s) {
    return s.session.document.comparison.what == Compared::base && s.model() && s.model()->adapter &&
           (s.of<CompareState>().show == ComparedShow::pattern ||
            s.of<CompareState>().show == ComparedShow::delta);
}

bool has_strength_below(Scene& s, float height) {
    constexpr float kLeast = 660;
    const bool fits = shows_strengths(s) && height >= kLeast && s.answer->other && s.answer->other->trace;
    return s.of<CompareState>().strength_below = fits;
}

void draw_strengths(Scene& s, Rect area) {
    constexpr float kNext = 320, kLeastBoth = 900;
    Rect inside = inset(area, size::center_pad, gap::medium);
    if (inside.w >= kLeastBoth) {
        const Rect next = take_right(inside, kNext, gap::wide);
        s.ui.hairline(next.x - gap::medium, area.y, next.x - gap::medium, area.bottom());
        draw_next_part(s, inset(next, gap::small, 0));
    }
    draw_curve_part(s, inside);
}

std::vector<NumberTable> strength_numbers(const Scene& s) {
    const StrengthsFound found = measured(s, strengths_request(s));
    if (!shows_strengths(s) || !found.curve) return {};
    const StrengthCurve& curve = *found.curve;
    std::vector<std::string> strengths, tokens;
    std::vector<std::vector<float>> columns;
    for (int i = 0; i < kStrengthPoints; ++i)
        strengths.push_back(decimals(double(StrengthCurve::strength(i)), 1));
    for (const StrengthToken& token : curve.tokens) {
        tokens.push_back(token.label);
        columns.push_back(token.probabilities);
    }
    NumberTable p{"p by strength", "strength", "token", strengths, tokens, matrix_of_columns(columns)};
    NumberTable metric{"metric by strength",
                       "strength",
                       "metric",
                       strengths,
                       {metric_label(*s.model(), curve.metric)},
                       matrix_of_columns({curve.values})};
    p.beside = metric.beside = true;
    return {p, metric};
}

}  // namespace headlight
