#include "analysis/layer_patterns.h"

#include <algorithm>

namespace headlight {

namespace {

constexpr Index kMostEntries = 64;

Matrix pooled(const Matrix& w, Index step) {
    Matrix out((w.rows() + step - 1) / step, (w.cols() + step - 1) / step);
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c) out(r, c) = w.block(r * step, c * step, std::min(step, w.rows() - r * step), std::min(step, w.cols() - c * step)).maxCoeff();
    return out;
}

}  // namespace

Result<std::vector<SitePattern>> find(const Trace& trace, const LayerPatternsWanted& wanted, ThreadPool&, const CancelFlag* cancel) {
    std::vector<SitePattern> out;
    for (size_t stack = 0; stack < trace.config().stacks.size(); ++stack) {
        const int layer = std::min(wanted.layer, trace.config().stacks[stack].layers - 1);
        for (const int site : trace.config().sites_of(static_cast<int>(stack), layer)) {
            if (stopped(cancel)) return Error{"Cancelled."};
            if (wanted.head >= trace.config().heads(site)) continue;
            const Matrix whole = mean_pattern(trace, site, wanted.head < 0 ? std::vector<int>() : std::vector{wanted.head});
            const Index step = (std::max(whole.rows(), whole.cols()) + kMostEntries - 1) / kMostEntries;
            out.push_back({site, static_cast<int>(step), pooled(whole, step)});
        }
    }
    return out;
}

}  // namespace headlight
