// Estimates patching by gradients.
#include "analysis/patching/patch_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/attribution/influence.h"
#include "analysis/patching/patch.h"
#include "base/cast.h"

namespace headlight {

namespace {

/// Returns the gradient by the activation that a row's cells patch.
const Matrix& gradient_by(const Gradients& gradients, const ModelConfig& c, PatchPart part, int block) {
    const AttentionBlock at = c.block(block);
    const StackGradients& stack = gradients.stacks[at.stack];
    const LayerGradients& layer = stack.layers[at.layer];
    const AttentionGradients& attention = at.is_second() ? layer.second : layer.self;
    switch (part) {
        case PatchPart::resid_pre:
            return c.has_streams() ? layer.resid_pre : stack.resid[at.layer];
        case PatchPart::attn_out:
            return attention.out;
        case PatchPart::mlp_out:
            return layer.mlp_out;
        default:
            return attention.z;
    }
}

/// Σ (clean − corrupted) ∘ gradient for each cell of a row.
Vector estimate_row(const PatchMap& map, const Trace& clean, const Trace& corrupted,
                    const Gradients& gradients, int row, ThreadPool& pool) {
    const int block = map.blocks[row];
    const Matrix& gradient = gradient_by(gradients, corrupted.config(), map.asked.part, block);
    const Index width = corrupted.config().d_value(block);
    const auto by_position = [&](int head) -> Vector {
        Change patch = patch_of(map, row, 0);
        patch.head = head;
        const Matrix moved = patch_values(clean, patch, pool) - patch_values(corrupted, patch, pool);
        const Index first = patch.kind == ChangeKind::patch_head ? head * width : 0;
        return moved.cwiseProduct(gradient.middleCols(first, moved.cols())).rowwise().sum();
    };
    if (!map.by_head()) return by_position(map.heads.empty() ? 0 : map.heads[row]);
    Vector out(map.columns(corrupted, row));
    for (int head = 0; head < isize(out); ++head) out[head] = by_position(head).sum();
    return out;
}

}  // namespace

Result<Matrix> patch_estimates(const PatchMap& map, const Trace& clean, const Trace& corrupted,
                               ThreadPool& pool, const CancelFlag* cancel) {
    if (corrupted.model->engine) return Error{"Estimates need the model's weights here."};
    if (!patch_part(map.asked.part).spelled)
        return Error{std::string("There are no estimates of ") + patch_part(map.asked.part).word +
                     "; measure it, or estimate resid_pre, attn_out, mlp_out or heads."};
    TRY(const GradientSeed seed, metric_seed(map.asked.metric, corrupted, &clean, pool));
    TRY(const Gradients gradients, backward(corrupted, {&seed, 1}, pool, cancel));
    Matrix out =
        Matrix::Constant(map.values.rows(), map.values.cols(), std::numeric_limits<float>::quiet_NaN());
    constexpr float kNoMinusZero = 0;
    const float between = map.clean.value - map.corrupted.value;
    for (int row = 0; row < isize(map.blocks); ++row) {
        if (stopped(cancel)) return cancelled();
        const Vector moved = estimate_row(map, clean, corrupted, gradients, row, pool);
        out.row(row).head(moved.size()) = (moved.transpose() / between).array() + kNoMinusZero;
    }
    return out;
}

PatchAgreement patch_agreement(const PatchMap& map) {
    PatchAgreement out;
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (Index i = 0; i < map.estimates.size(); ++i) {
        const float exact = map.values.data()[i], estimate = map.estimates.data()[i];
        if (std::isnan(exact) || std::isnan(estimate)) continue;
        ++out.cells;
        out.largest = std::max(out.largest, std::abs(estimate - exact));
        x += exact, y += estimate;
        xx += double(exact) * exact, yy += double(estimate) * estimate, xy += double(exact) * estimate;
    }
    const double n = out.cells, spread = std::sqrt((n * xx - x * x) * (n * yy - y * y));
    out.correlation = spread > 0 ? float((n * xy - x * y) / spread) : std::numeric_limits<float>::quiet_NaN();
    return out;
}

}  // namespace headlight
