// Activation patching (Meng et al. 2022; Wang et al. 2022): how much of the clean run's metric returns when
// one activation of the corrupted run is given its clean value.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"
#include "io/numbers.h"

namespace headlight {

/// What is patched, and the cells of the map: what enters a layer, what its attention or its MLP adds, by
/// layer and position; z of each head at all positions, by layer and head; z of one head, by position.
enum class PatchPart { resid_pre, attn_out, mlp_out, heads, head };

/// The table of parts.
struct PatchPartRow {
    PatchPart part;
    const char* word;
    ChangeKind change;
    const char* help;
};
std::span<const PatchPartRow> patch_parts();
inline const PatchPartRow& patch_part(PatchPart part) { return patch_parts()[static_cast<size_t>(part)]; }

struct PatchRequest {
    PatchPart part = PatchPart::resid_pre;
    AttentionHead head;  // of PatchPart::head
    Metric metric;
    bool operator==(const PatchRequest&) const = default;
};

struct PatchMap {
    PatchRequest asked;  // its metric resolved in the clean run
    MetricValues clean, corrupted;
    std::vector<int> blocks;  // attention block of each row; a layer's own stands for its other parts
    Matrix values;     // [rows, columns] 0: as corrupted, 1: as clean; NaN: not measured, or no such place
    Matrix estimates;  // the same to first order (patch_estimate.h); empty: not there
    int done = 0, cells = 0;  // measured, and in all
    bool by_head() const { return asked.part == PatchPart::heads; }
    /// Columns that a row has: heads of its block, or positions of its text.
    int columns(const Trace& corrupted_run, int row) const;
    bool whole() const { return cells > 0 && done == cells; }
    /// The value of a cell, until it is measured its estimate; NaN: neither is there.
    float shown(int row, int column) const;
};

/// The change that a cell is: clean values put into the corrupted run. Its values are not in it yet
/// (patch_values), nor the text that they come from.
Change patch_of(const PatchMap& map, int row, int column);

/// The map without a cell measured, or one sentence: the runs differ in length (both counts, and where their
/// tokens part) or in their model, the metric cannot be taken, or it is equal in both, so that nothing can be
/// normalized.
Result<PatchMap> empty_patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                                 ThreadPool& pool);

/// Estimates all cells, then measures them, coarse to fine: each a pass over `corrupted` with the clean value
/// put in, which takes the rows before it or the layers below it from `corrupted`. `seen` (or null) gets the
/// map with its estimates and after every few passes. `known`: the same map, of which some cells were
/// measured before; they are not measured again. An error also says that `cancel` was set.
Result<PatchMap> patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                           ThreadPool& pool, const CancelFlag* cancel = nullptr,
                           const std::function<void(const PatchMap&)>& seen = nullptr,
                           const PatchMap* known = nullptr);

/// Between which runs a view patches: from the model's own run into the changed one, or from that of another
/// text into the model's own of this one; and what. Patches in force are left out, so that putting one in
/// force leaves the map as it is.
struct PatchMapRequest {
    using Answer = struct PatchMapFound;
    bool from_other = false;
    PatchRequest patch;
    void clamp_to(const Trace& trace);
    bool operator==(const PatchMapRequest&) const = default;
};
/// Whether there are two such runs.
bool has_patch_runs(const Runs& runs, bool from_other);

/// The map, or why there is none.
struct PatchMapFound {
    PatchMap map;
    std::string refusal;
};
Result<PatchMapFound> answer_patch_map(const Runs& runs, const PatchMapRequest& asked, ThreadPool& pool,
                                       const CancelFlag* cancel);

/// The request of the corrupted run: that of a trace without the patches in force.
ForwardRequest without_patches(ForwardRequest request);

/// The map as a table, rows by block and columns by token or head; beside it its estimates, and the metric of
/// both runs. Before anything is measured, the estimates alone.
std::vector<NumberTable> patch_numbers(const PatchMap& map, const Trace& corrupted);

}  // namespace headlight
