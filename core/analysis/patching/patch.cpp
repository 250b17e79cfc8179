// Computes the values that patches give.
#include "analysis/patching/patch.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/comparison/compare.h"
#include "base/cast.h"
#include "base/check.h"
#include "base/draws.h"
#include "base/quoted.h"
#include "model/engine.h"
#include "model/input.h"
#include "model/interventions/change_place.h"
#include "model/interventions/check_changes.h"
#include "model/interventions/patch_change.h"
#include "model/loading/table_sums.h"

namespace headlight {

namespace {

bool waits(const Change& c) {
    if (c.kind == ChangeKind::freeze) return !c.from.empty();
    return (is_patch(c.kind) || c.kind == ChangeKind::noise) && !c.pattern;
}

Result<std::shared_ptr<const Trace>> run_source(const std::string& text, const Trace& own, ThreadPool& pool,
                                                const CancelFlag* cancel) {
    if (own.config().can.read_image) return Error{"A vision model has no text to take values from."};
    TextInput typed;
    typed.text = text;
    TRY(ModelInput input, encode_input(*own.model, typed));
    if (input.sequences.size() > 1) input.sequences.back() = own.output();  // the same target
    if (input.sequences[0].size() == 0)
        return Error{"The text to take values from is empty; write it behind the = of the change."};
    return run_trace(own.model, {std::move(input.sequences), {}}, pool, cancel);
}

Matrix along(const Trace& own, const Trace& source, int block, int head) {
    const BlockPairs pairs = align_blocks({}, own, block, source, block);
    Matrix out = own.pattern(block, head);
    const Matrix theirs = source.pattern(block, head);
    for (const TokenPair& query : pairs.queries) {
        if (!query.both()) continue;
        Eigen::RowVectorXf row = Eigen::RowVectorXf::Zero(out.cols());
        for (const TokenPair& key : pairs.keys)
            if (key.both()) row[key.a] = theirs(query.b, key.b);
        if (const float sum = row.sum(); sum > 0) out.row(query.a) = row / sum;
    }
    return out;
}

/// Returns the standard deviation of all entries of the token embeddings, as they enter the model.
double embedding_deviation(const Model& model, ThreadPool& pool) {
    const Linear& table = model.weights.stacks[0].token_embedding;
    const TableSums sums = table_sums(table, pool);
    const double count = double(table.out) * double(table.in), mean = sums.sum.sum() / count;
    return double(model.config.embed_scale) * std::sqrt(std::max(0.0, sums.squares / count - mean * mean));
}

Result<Matrix> rows_of(const Change& change, const Trace& own, const Trace& source, ThreadPool& pool,
                       const CancelFlag* cancel) {
    if (change.kind == ChangeKind::noise)
        return guarded([&]() -> Result<Matrix> {
            const CancelScope scope(pool, cancel);
            return embedding_noise(*own.model, own.request.inputs[0].size(), int(change.value), pool);
        });
    Matrix values = patch_values(source, change, pool);
    const int last = last_named(change.query, change.queries);
    if (last < narrow<int>(values.rows())) return values;
    return Error{"The text " + in_quotes(change.from) + " has positions 0 … " +
                 std::to_string(values.rows() - 1) + ", so it has no values of position " +
                 std::to_string(last) + " to patch in; make it as long as the text that is shown."};
}

}  // namespace

Matrix embedding_noise(const Model& model, int tokens, int seed, ThreadPool& pool) {
    Draws draws(static_cast<uint32_t>(seed));
    return normal_matrix(tokens, model.config.d_model, 3 * embedding_deviation(model, pool), draws);
}

Matrix patch_values(const Trace& source, const Change& patch, ThreadPool& pool) {
    const AttentionBlock at = source.config().block(patch.block);
    const Index width = source.config().d_value(patch.block);
    switch (patch.kind) {
        case ChangeKind::patch_attention:
            return source.attn_out(patch.block, pool);
        case ChangeKind::patch_mlp:
            return source.mlp_out(at.stack, at.layer, pool);
        case ChangeKind::patch_head:
            return source.z(patch.block, 0, source.query_count(patch.block), pool)
                .middleCols(patch.head * width, width);
        default:
            return source.stack(at.stack).layers[at.layer]->resid_pre.all();
    }
}

bool needs_patching(const Intervention& intervention) {
    return std::any_of(intervention.changes.begin(), intervention.changes.end(), waits);
}

Result<Intervention> patched(Intervention intervention, const Trace& own, ThreadPool& pool,
                             const CancelFlag* cancel) {
    TRY_STATUS(check_changes(*own.model, intervention));
    std::map<std::string, std::shared_ptr<const Trace>> sources;
    for (Change& change : intervention.changes) {
        if (!waits(change) || (own.model->engine && change.kind != ChangeKind::freeze)) continue;
        auto& source = sources[change.from];
        if (!source && !change.from.empty()) {
            TRY(source, run_source(change.from, own, pool, cancel));
        }
        if (change.kind == ChangeKind::freeze) {
            change.pattern = std::make_shared<const Matrix>(along(own, *source, change.block, change.head));
            continue;
        }
        TRY(Matrix rows, rows_of(change, own, source ? *source : own, pool, cancel));
        change.pattern = std::make_shared<const Matrix>(std::move(rows));
    }
    return intervention;
}

}  // namespace headlight
