// Estimates patching by gradients.
#include "analysis/patching/patch_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/attribution/engine_gradients.h"
#include "analysis/attribution/influence.h"
#include "analysis/patching/patch_cells.h"
#include "base/cast.h"

namespace headlight {

namespace {

/// Names the activation that a row's cells patch, for an engine.
NamedShape named(const Trace& trace, PatchPart part, int block) {
    const AttentionBlock at = trace.config().block(block);
    switch (part) {
        case PatchPart::resid_pre:
            return resid_pre_named(trace, at.stack, at.layer);
        case PatchPart::attn_out:
            return attn_out_named(trace, block);
        case PatchPart::mlp_out:
            return mlp_out_named(trace, at.stack, at.layer);
        default:
            return z_named(trace, block);
    }
}

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

/// Computes the values and gradients of rows' activations, here or by an engine, which is asked for each
/// tensor once.
class Moves {
public:
    Moves(const PatchMap& map, const Trace& clean, const Trace& corrupted, ThreadPool& pool,
          const CancelFlag* cancel)
        : map_(map),
          clean_(clean),
          corrupted_(corrupted),
          pool_(pool),
          cancel_(cancel),
          clean_values_(clean, pool, cancel),
          corrupted_values_(corrupted, pool, cancel) {}

    Status prepare() {
        const Metric& metric = map_.asked.metric;
        if (!corrupted_.model->engine) {
            TRY(const GradientSeed seed, metric_seed(metric, corrupted_, &clean_, pool_));
            TRY(gradients_, backward(corrupted_, {&seed, 1}, pool_, cancel_));
            return success();
        }
        std::vector<int> blocks = map_.blocks;
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        std::vector<NamedShape> names;
        for (const int block : blocks) names.push_back(named(corrupted_, map_.asked.part, block));
        TRY(std::vector<Matrix> asked, engine_gradients(corrupted_, metric, names, cancel_));
        for (size_t i = 0; i < blocks.size(); ++i) asked_[blocks[i]] = std::move(asked[i]);
        return success();
    }
    const Matrix& gradient(int block) const {
        if (const auto found = asked_.find(block); found != asked_.end()) return found->second;
        return gradient_by(gradients_, corrupted_.config(), map_.asked.part, block);
    }
    /// clean − corrupted value of a patch.
    Result<Matrix> of(const Change& patch) {
        TRY(Matrix moved, clean_values_.made(patch));
        TRY(const Matrix from, corrupted_values_.made(patch));
        moved -= from;
        return moved;
    }

private:
    const PatchMap& map_;
    const Trace &clean_, &corrupted_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    Gradients gradients_;
    std::map<int, Matrix> asked_;  // by block, of an engine
    RunValues clean_values_, corrupted_values_;
};

/// Σ (clean − corrupted) ∘ gradient for each cell of a row.
Result<Vector> estimate_row(const PatchMap& map, const Trace& corrupted, Moves& moves, int row) {
    const int block = map.blocks[row];
    const Matrix& gradient = moves.gradient(block);
    const Index width = corrupted.config().d_value(block);
    const auto by_position = [&](int head) -> Result<Vector> {
        Change patch = patch_of(map, row, 0);
        patch.head = head;
        TRY(const Matrix moved, moves.of(patch));
        const Index first = patch.kind == ChangeKind::patch_head ? head * width : 0;
        return Vector(moved.cwiseProduct(gradient.middleCols(first, moved.cols())).rowwise().sum());
    };
    if (!map.by_head()) return by_position(map.heads.empty() ? 0 : map.heads[row]);
    Vector out(map.columns(corrupted, row));
    for (int head = 0; head < isize(out); ++head) {
        TRY(const Vector one, by_position(head));
        out[head] = one.sum();
    }
    return out;
}

}  // namespace

Result<Matrix> patch_estimates(const PatchMap& map, const Trace& clean, const Trace& corrupted,
                               ThreadPool& pool, const CancelFlag* cancel) {
    if (!patch_part(map.asked.part).spelled)
        return Error{std::string("There are no estimates of ") + patch_part(map.asked.part).word +
                     "; measure it, or estimate resid_pre, attn_out, mlp_out or heads."};
    Moves moves(map, clean, corrupted, pool, cancel);
    TRY_STATUS(moves.prepare());
    Matrix out =
        Matrix::Constant(map.values.rows(), map.values.cols(), std::numeric_limits<float>::quiet_NaN());
    constexpr float kNoMinusZero = 0;
    const float between = map.clean.value - map.corrupted.value;
    for (int row = 0; row < isize(map.blocks); ++row) {
        if (stopped(cancel)) return cancelled();
        TRY(const Vector moved, estimate_row(map, corrupted, moves, row));
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
