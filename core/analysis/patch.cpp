#include "analysis/patch.h"

#include <algorithm>
#include <map>

#include "analysis/compare.h"
#include "model/input.h"

namespace headlight {

namespace {

bool waits(const Change& c) { return c.kind == ChangeKind::freeze && !c.from.empty(); }

Result<std::shared_ptr<const Trace>> run_source(const std::string& text, const Trace& own, ThreadPool& pool,
                                                const CancelFlag* cancel) {
    if (own.config().can.read_image) return Error{"A vision model has no text to take a pattern from."};
    TextInput typed;
    typed.text = text;
    TRY(ModelInput input, encode_input(*own.model, typed));
    if (input.sequences.size() > 1) input.sequences.back() = own.output();  // the same target
    if (input.sequences[0].size() == 0)
        return Error{"The text to take a pattern from is empty; write it behind freeze:L.H=."};
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

}  // namespace

bool needs_patching(const Intervention& intervention) {
    return std::any_of(intervention.changes.begin(), intervention.changes.end(), waits);
}

Result<Intervention> patched(Intervention intervention, const Trace& own, ThreadPool& pool,
                             const CancelFlag* cancel) {
    std::map<std::string, std::shared_ptr<const Trace>> sources;
    for (Change& change : intervention.changes) {
        if (!waits(change)) continue;
        auto& source = sources[change.from];
        if (!source) {
            TRY(source, run_source(change.from, own, pool, cancel));
        }
        change.pattern = std::make_shared<const Matrix>(along(own, *source, change.block, change.head));
    }
    return intervention;
}

}  // namespace headlight
