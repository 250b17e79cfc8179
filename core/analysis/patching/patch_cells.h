// Computes what each cell of a patching map gives the corrupted run.
#pragma once

#include <map>

#include "analysis/patching/patch_map.h"

namespace headlight {

/// Returns what a run gives patches, here or by its engine, which is asked for a block's z once.
class RunValues {
public:
    using Values = std::shared_ptr<const Matrix>;
    RunValues(const Trace& run, ThreadPool& pool, const CancelFlag* cancel)
        : run_(run), pool_(pool), cancel_(cancel) {}
    Result<Matrix> made(const Change& patch);
    /// The same, kept by place for the next time.
    Result<Values> kept(const Change& patch);

private:
    const Trace& run_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    std::map<int, Matrix> z_;  // by block, of an engine
    std::map<AttentionHead, Values> values_;
};

/// Makes the change of each cell.
class PatchCells {
public:
    PatchCells(const Trace& clean, const Trace& corrupted, ThreadPool& pool, const CancelFlag* cancel)
        : clean_(clean), corrupted_(corrupted), pool_(pool), values_(clean, pool, cancel) {}
    /// Returns a cell's change with its values. Fails where the run is elsewhere and the values do not cross.
    Result<Change> change(const PatchMap& map, int row, int column);

private:
    using Values = RunValues::Values;
    Matrix pattern_with(PatchPart part, AttentionHead head) const;
    Result<Matrix> z_with_clean_v(AttentionHead head) const;
    Values added_to_clean_mid(int block);

    const Trace &clean_, &corrupted_;
    ThreadPool& pool_;
    RunValues values_;  // of the clean run
    std::map<int, Values> mid_;
};

/// Fails with one sentence if a model has no such activation.
Status check_patch_part(PatchPart part, const ModelConfig& config);

}  // namespace headlight
