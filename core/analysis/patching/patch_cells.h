// Computes what each cell of a patching map gives the corrupted run.
#pragma once

#include <map>

#include "analysis/patching/patch_map.h"

namespace headlight {

/// Caches clean values by place: each is computed once.
class PatchCells {
public:
    PatchCells(const Trace& clean, const Trace& corrupted, ThreadPool& pool, const CancelFlag* cancel)
        : clean_(clean), corrupted_(corrupted), pool_(pool), cancel_(cancel) {}
    /// Returns a cell's change with its values. Fails where the run is elsewhere and the values do not cross.
    Result<Change> change(const PatchMap& map, int row, int column);

private:
    using Values = std::shared_ptr<const Matrix>;
    Result<Values> clean_values(const Change& patch);
    Result<Matrix> made_for(const Change& patch);
    Matrix pattern_with(PatchPart part, AttentionHead head) const;
    Result<Matrix> z_with_clean_v(AttentionHead head) const;
    Values added_to_clean_mid(int block);

    const Trace &clean_, &corrupted_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    std::map<int, Matrix> z_;  // by block, of an engine
    std::map<int, Values> mid_;
    std::map<AttentionHead, Values> values_;
};

/// Fails with one sentence if a model has no such activation.
Status check_patch_part(PatchPart part, const ModelConfig& config);

}  // namespace headlight
