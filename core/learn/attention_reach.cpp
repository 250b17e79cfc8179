// Computes path lengths and costs of ways to mix tokens.
#include "learn/attention_reach.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headlight {

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double no_scores_at_all(double, const ReachSizes&) { return kNoNumber; }
double one_step(double, const ReachSizes&) { return 1; }

/// Counts layers that each carry information `reach` tokens further.
double layers_of(double n, double reach) { return reach > 0 ? std::ceil((n - 1) / reach) : kNoNumber; }

/// Counts layers whose reach grows by a factor each; in a loop: quotients of logarithms miss exact powers.
double doubling_layers(double n, double factor) {
    double layers = 0;
    for (double seen = 1; factor > 1 && seen < n; seen *= factor) ++layers;
    return factor > 1 ? layers : kNoNumber;
}

}  // namespace

std::span<const Reach> reaches() {
    static constexpr const char *kFixed = "fixed", *kOfData = "made from the data";
    static const Reach table[] = {
        {"recurrence", "Recurrence", "Hochreiter and Schmidhuber 1997", kFixed, "",
         [](double n, const ReachSizes&) { return n - 1; }, [](double n, const ReachSizes&) { return n; },
         no_scores_at_all},
        {"convolution", "Convolution", "LeCun et al. 1989", kFixed, "",
         [](double n, const ReachSizes& s) { return layers_of(n, s.kernel - 1); }, one_step,
         no_scores_at_all},
        {"dilated", "Dilated convolution", "Kalchbrenner et al. 2016", kFixed, "",
         [](double n, const ReachSizes& s) { return doubling_layers(n, s.kernel); }, one_step,
         no_scores_at_all},
        {"full", "Full attention", "Vaswani et al. 2017", kOfData, "n²", one_step, one_step,
         [](double n, const ReachSizes&) { return n * n; }},
        {"windowed", "Windowed attention", "Beltagy et al. 2020", kOfData, "n · w",
         [](double n, const ReachSizes& s) { return layers_of(n, s.window - 1); }, one_step,
         [](double n, const ReachSizes& s) { return n * std::min<double>(n, s.window); }},
        {"strided", "Strided attention", "Child et al. 2019", kOfData, "n · 2√n",
         [](double, const ReachSizes&) { return 2.0; }, one_step,
         [](double n, const ReachSizes&) { return n * std::min(n, 2 * std::sqrt(n)); }},
        {"low-rank", "Low-rank attention", "Wang et al. 2020", kOfData, "n · r", one_step, one_step,
         [](double n, const ReachSizes& s) { return n * std::min<double>(n, s.rank); }},
    };
    return table;
}

}  // namespace headlight
