#include "analysis/patching/patch_cells.h"

#include <algorithm>

#include "analysis/patching/patch.h"
#include "model/attention.h"
#include "model/engine.h"

namespace headlight {

Result<Matrix> RunValues::made(const Change& patch) {
    Engine* engine = run_.model->engine.get();
    if (!engine || patch.kind != ChangeKind::patch_head) return patch_values(run_, patch, pool_);
    auto& z = z_[patch.block];
    if (z.size() == 0) {
        TRY(z, engine->z(run_, patch.block, cancel_));
    }
    const Index width = run_.config().d_value(patch.block);
    return Matrix(z.middleCols(patch.head * width, width));
}

Result<RunValues::Values> RunValues::kept(const Change& patch) {
    Values& values = values_[{patch.block, patch.head}];
    if (!values) {
        TRY(Matrix computed, made(patch));
        values = std::make_shared<const Matrix>(std::move(computed));
    }
    return values;
}

/// Computes the pattern of the corrupted run with the clean run's queries, or keys, or the clean pattern.
Matrix PatchCells::pattern_with(PatchPart part, AttentionHead head) const {
    const auto [block, h] = head;
    if (part == PatchPart::pattern) return clean_.pattern(block, h);
    const Trace &of_q = part == PatchPart::q ? clean_ : corrupted_,
                &of_k = part == PatchPart::k ? clean_ : corrupted_;
    Matrix out(corrupted_.query_count(block), corrupted_.key_count(block));
    head_pattern(corrupted_.rule(block), h, of_q.q(block, h), of_k.rated_keys(block, h), 0, out);
    return out;
}

/// z = pattern of the corrupted run · v of the clean one.
Result<Matrix> PatchCells::z_with_clean_v(AttentionHead head) const {
    if (clean_.attention(head.block).v.rows() == 0)
        return Error{"The values do not cross from the process that computes; patch z of the heads instead."};
    return Matrix(corrupted_.pattern(head.block, head.head) * clean_.v(head.block, head.head).all());
}

/// Computes what the block would add if the residual stream after it were the clean run's:
/// attn_out + clean resid_mid − resid_mid, since what enters the layer stays as it is.
PatchCells::Values PatchCells::added_to_clean_mid(int block) {
    Values& values = mid_[block];
    if (values) return values;
    const AttentionBlock at = corrupted_.config().block(block);
    Matrix added = corrupted_.attn_out(block, pool_) + clean_.resid_mid(at.stack, at.layer, pool_) -
                   corrupted_.resid_mid(at.stack, at.layer, pool_);
    return values = std::make_shared<const Matrix>(std::move(added));
}

Result<Change> PatchCells::change(const PatchMap& map, int row, int column) {
    Change patch = patch_of(map, row, column);
    const AttentionHead head{patch.block, patch.head};
    switch (map.asked.part) {
        case PatchPart::resid_mid:
            patch.pattern = added_to_clean_mid(patch.block);
            return patch;
        case PatchPart::q:
        case PatchPart::k:
        case PatchPart::pattern:
            patch.pattern = std::make_shared<const Matrix>(pattern_with(map.asked.part, head));
            return patch;
        case PatchPart::v: {
            TRY(Matrix z, z_with_clean_v(head));
            patch.pattern = std::make_shared<const Matrix>(std::move(z));
            return patch;
        }
        default:
            TRY(patch.pattern, values_.kept(patch));
            return patch;
    }
}

Status check_patch_part(PatchPart part, const ModelConfig& c) {
    if (part != PatchPart::resid_mid) return success();
    for (int block = 0; block < c.blocks(); ++block) {
        const LayerSpec& layer = c.layer_of(block);
        if (layer.parallel)
            return Error{
                "Attention and MLP of " + c.family_name +
                " read the same input side by side, so there is no resid_mid; patch attn_out or mlp_out."};
        if (layer.norms_sum() || layer.laurel_rank || c.has_streams())
            return Error{
                c.family_name +
                " adds what attention gives and then transforms the sum, so resid_mid cannot be set alone; "
                "patch attn_out or mlp_out."};
    }
    return success();
}

}  // namespace headlight
