// Activation patching (Meng et al. 2022; Wang et al. 2022): how much of the clean run's metric returns if one
// activation of the corrupted run gets its clean value.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/metric.h"
#include "io/numbers.h"

namespace headlight {

/// Says what is patched, and the cells of the map: the input of a layer, the output of its attention or MLP,
/// by layer and position; z of each head at all positions, by layer and head; z of one head, by position; the
/// residual stream between attention and MLP, by layer and position; z of each head, by head and position; a
/// head's queries, keys, values or pattern at all positions, by layer and head.
enum class PatchPart {
    resid_pre,
    attn_out,
    mlp_out,
    heads,
    head,
    resid_mid,
    heads_by_position,
    q,
    k,
    v,
    pattern
};

struct PatchPartRow {
    PatchPart part;
    const char* word;
    const char* name;   // in the window
    ChangeKind change;  // that puts it into a run
    const char* help;
    bool by_head = false;  // a cell is a head at all positions
    bool spelled = true;   // its change can be spelled, and so be applied to a run by itself
};
std::span<const PatchPartRow> patch_parts();
inline const PatchPartRow& patch_part(PatchPart part) { return patch_parts()[static_cast<size_t>(part)]; }

struct PatchRequest {
    PatchPart part = PatchPart::resid_pre;
    AttentionHead head;  // for PatchPart::head
    Metric metric;
    bool operator==(const PatchRequest&) const = default;
};

struct PatchMap {
    PatchRequest asked;  // its metric resolved in the clean run
    MetricValues clean, corrupted;
    /// attention block of each row; a layer's self-attention also identifies its other parts
    std::vector<int> blocks;
    std::vector<int> heads;  // of each row, where a row is a head by position; empty: none
    Matrix values;     // [rows, columns]; 0: as corrupted, 1: as clean; NaN: not measured, or no such cell
    Matrix estimates;  // first-order estimates (patch_estimate.h); empty: none
    int done = 0, cells = 0;  // measured, and total
    std::string warning;      // why its values say little, or ""
    bool by_head() const { return patch_part(asked.part).by_head; }
    /// Counts the columns of a row: heads of its block, or positions of its text; 0 if the block lacks what
    /// is patched.
    int columns(const Trace& corrupted_run, int row) const;
    bool whole() const { return cells > 0 && done == cells; }
    /// Returns the value of a cell, its estimate until it is measured; NaN: neither.
    float shown(int row, int column) const;
};

/// Returns the name of a row: of its layer ("3", "cross.1"), or of its head.
std::string patch_row_label(const PatchMap& map, const ModelConfig& config, int row);

/// Returns the change of a cell: clean values patched into the corrupted run. Does not include the values yet
/// (patch_cells.h), nor the text that they come from.
Change patch_of(const PatchMap& map, int row, int column);

/// Returns the map without measured cells. Fails with one sentence if the runs differ in length (naming both,
/// and where their tokens diverge) or model, or the metric is undefined or equal in both, so that nothing can
/// be normalized.
Result<PatchMap> empty_patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                                 ThreadPool& pool);

/// Estimates all cells, then measures them, coarse to fine: each by a pass over `corrupted` with the clean
/// value, which reuses the rows before it or the layers below it from `corrupted`. Passes the map to `seen`
/// (or null) with its estimates and after every few passes. `known`: the same map with cells measured before,
/// which are not repeated. Fails if `cancel` was set.
Result<PatchMap> patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                           ThreadPool& pool, const CancelFlag* cancel = nullptr,
                           const std::function<void(const PatchMap&)>& seen = nullptr,
                           const PatchMap* known = nullptr);

/// Says between which runs a view patches: from the model's own run into the changed one, or from another
/// text's into the model's own of this one; and what. Leaves out active patches, so that applying one does
/// not change the map.
struct PatchMapRequest {
    using Answer = struct PatchMapFound;
    bool from_other = false;
    PatchRequest patch;
    void clamp_to(const Trace& trace);
    bool operator==(const PatchMapRequest&) const = default;
};
/// Returns whether there are two such runs.
bool has_patch_runs(const Runs& runs, bool from_other);

/// Holds the map, or why there is none.
struct PatchMapFound {
    PatchMap map;
    std::string refusal;
};
Result<PatchMapFound> answer_patch_map(const Runs& runs, const PatchMapRequest& asked, ThreadPool& pool,
                                       const CancelFlag* cancel);

/// Returns the request of the corrupted run: that of a trace without the active patches.
ForwardRequest without_patches(ForwardRequest request);

/// Lists the map as a table, rows by block and columns by token or head; beside it its estimates, and the
/// metric of both runs. Before any measurement, the estimates alone.
std::vector<NumberTable> patch_numbers(const PatchMap& map, const Trace& corrupted);

}  // namespace headlight
