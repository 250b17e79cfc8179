// Integrates the slopes of a metric along a path, with points where it bends.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight {

/// A metric at a place 0 … 1 of the path, and how much each token's part of the way adds to it there: its
/// slope, which the parts sum to.
struct PathPoint {
    double value = 0;
    Eigen::VectorXd slopes;
};
using PathAt = std::function<Result<PathPoint>(double place)>;

struct PathIntegral {
    Eigen::VectorXd parts;  // ∫ slopes
    double missing = 0;  // Σ over panels of |value at its end − value at its begin − what the parts sum to|
    double error = 0;  // estimated for the parts, summed over them
    int points = 0;    // so far
};

/// Returns points and weights of the Gauss–Legendre rule on [0, 1]; the weights sum to 1.
std::vector<std::pair<double, double>> gauss_legendre(int points);

/// Integrates by the Gauss–Legendre rule with so many points. `step` is called after each.
Result<PathIntegral> integrate_fixed(const PathAt& at, int points, const std::function<void()>& step);

/// Bounds and tolerance of the adaptive rule.
inline constexpr int kMaxPoints = 511;
inline constexpr double kPathTolerance = 0.01;

/// Says when the adaptive rule ends: at kPathTolerance, or at so many points; once it has taken `some` of
/// them, already where `missing` is at most `good_enough` of the change.
struct PathBudget {
    int points = kMaxPoints, some = kMaxPoints;
    double good_enough = kPathTolerance;
};

/// Integrates panel by panel with a Gauss–Kronrod rule of 7 points (Kronrod 1965; QUADPACK, Piessens et al.
/// 1983), halving the panel that misses most, until `missing` is at most kPathTolerance of the change and
/// `error` of Σ |parts|, or the budget ends. `begin`, `end`: the metric at both ends. `step` is called after
/// each point, `seen` after each panel.
Result<PathIntegral> integrate_adaptively(const PathAt& at, double begin, double end,
                                          const PathBudget& budget, const std::function<void()>& step,
                                          const std::function<void(const PathIntegral&)>& seen);

}  // namespace headlight
