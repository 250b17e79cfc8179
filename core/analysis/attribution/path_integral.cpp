#include "analysis/attribution/path_integral.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace headlight {

std::vector<std::pair<double, double>> gauss_legendre(int points) {
    HEADLIGHT_CHECK(points > 0);
    std::vector<std::pair<double, double>> out;
    for (int i = 0; i < points; ++i) {
        double x = std::cos(M_PI * (i + 0.75) / (points + 0.5)), slope = 1;
        for (int turn = 0; turn < 100; ++turn) {  // Newton's method on the Legendre polynomial
            double p = 1, before = 0;
            for (int k = 1; k <= points; ++k)
                before = std::exchange(p, ((2 * k - 1) * x * p - (k - 1) * before) / k);
            slope = points * (x * p - before) / (x * x - 1);
            const double step = p / slope;
            x -= step;
            if (std::abs(step) < 1e-15) break;
        }
        out.emplace_back((1 - x) / 2, 1 / ((1 - x * x) * slope * slope));
    }
    return out;
}

namespace {

/// A point of the rule on [−1, 1]; its Gauss weight is 0 where Kronrod added it.
struct RulePoint {
    double place, kronrod, gauss;
};

constexpr std::array<RulePoint, 7> kKronrod{{{-0.960491268708020283, 0.104656226026467265, 0},
                                             {-0.774596669241483377, 0.268488089868333440, 5.0 / 9},
                                             {-0.434243749346802558, 0.401397414775962223, 0},
                                             {0, 0.450916538658474142, 8.0 / 9},
                                             {0.434243749346802558, 0.401397414775962223, 0},
                                             {0.774596669241483377, 0.268488089868333440, 5.0 / 9},
                                             {0.960491268708020283, 0.104656226026467265, 0}}};
constexpr int kRulePoints = kKronrod.size();

struct Panel {
    double from, to;        // places
    double begin, end;      // the metric there
    double middle = 0;      // … and halfway
    Eigen::VectorXd parts;  // ∫ slopes
    double missing = 0, error = 0;
};

/// Estimates how far the Kronrod rule is off from how far it is from the Gauss rule of half the order.
double estimated_error(const Eigen::VectorXd& apart, double size) {
    if (size == 0) return 0;
    const double off = apart.cwiseAbs().sum() / size;
    return size * std::min(off, 100 * off * off);
}

Status measure_panel(const PathAt& at, Panel& panel, const std::function<void()>& step) {
    const double half = (panel.to - panel.from) / 2;
    Eigen::VectorXd apart;
    double size = 0;
    for (const RulePoint& point : kKronrod) {
        TRY(const PathPoint found, at(panel.from + half * (1 + point.place)));
        if (panel.parts.size() == 0) panel.parts = apart = Eigen::VectorXd::Zero(found.slopes.size());
        panel.parts += half * point.kronrod * found.slopes;
        apart += half * (point.kronrod - point.gauss) * found.slopes;
        size += half * point.kronrod * found.slopes.cwiseAbs().sum();
        if (point.place == 0) panel.middle = found.value;
        if (step) step();
    }
    panel.missing = std::abs(panel.end - panel.begin - panel.parts.sum());
    panel.error = estimated_error(apart, size);
    return success();
}

PathIntegral sum_of(const std::vector<Panel>& panels, int points) {
    PathIntegral out;
    out.parts = Eigen::VectorXd::Zero(panels.front().parts.size());
    for (const Panel& panel : panels) {
        out.parts += panel.parts;
        out.missing += panel.missing;
        out.error += panel.error;
    }
    out.points = points;
    return out;
}

}  // namespace

Result<PathIntegral> integrate_fixed(const PathAt& at, int points, const std::function<void()>& step) {
    PathIntegral out;
    for (const auto& [place, weight] : gauss_legendre(points)) {
        TRY(const PathPoint found, at(place));
        if (out.parts.size() == 0) out.parts = Eigen::VectorXd::Zero(found.slopes.size());
        out.parts += weight * found.slopes;
        ++out.points;
        if (step) step();
    }
    return out;
}

Result<PathIntegral> integrate_adaptively(const PathAt& at, double begin, double end,
                                          const PathBudget& budget, const std::function<void()>& step,
                                          const std::function<void(const PathIntegral&)>& seen) {
    std::vector<Panel> panels{{0, 1, begin, end, 0, {}, 0, 0}};
    TRY_STATUS(measure_panel(at, panels.front(), step));
    const double change = std::abs(end - begin);
    for (int points = kRulePoints;; points += 2 * kRulePoints) {
        PathIntegral now = sum_of(panels, points);
        const double size = now.parts.cwiseAbs().sum();
        const bool exact = now.missing <= kPathTolerance * change && now.error <= kPathTolerance * size,
                   good = points >= budget.some && now.missing <= budget.good_enough * change;
        if (exact || good || points + 2 * kRulePoints > budget.points) return now;
        if (seen) seen(now);
        const auto share = [&](const Panel& panel) {
            return std::max(change > 0 ? panel.missing / change : panel.missing,
                            size > 0 ? panel.error / size : 0.0);
        };
        const auto worst =
            std::max_element(panels.begin(), panels.end(),
                             [&](const Panel& a, const Panel& b) { return share(a) < share(b); });
        const double half = (worst->from + worst->to) / 2;
        Panel first{worst->from, half, worst->begin, worst->middle, 0, {}, 0, 0},
            second{half, worst->to, worst->middle, worst->end, 0, {}, 0, 0};
        TRY_STATUS(measure_panel(at, first, step));
        TRY_STATUS(measure_panel(at, second, step));
        *worst = std::move(first);
        panels.push_back(std::move(second));
    }
}

}  // namespace headlight
