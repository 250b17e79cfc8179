// Attribution patching (Nanda 2023; Syed et al. 2023): estimates a whole patching map by one reverse pass.
#pragma once

#include "analysis/patching/patch_map.h"

namespace headlight {

/// (clean − corrupted value) · gradient of the metric in the corrupted run, as a share of the difference of
/// both metrics: [rows, columns] as PatchMap::values; NaN: no such cell. Fails if a gradient is not finite,
/// or `cancel` was set.
Result<Matrix> patch_estimates(const PatchMap& map, const Trace& clean, const Trace& corrupted,
                               ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Compares the estimates with what is measured so far.
struct PatchAgreement {
    int cells = 0;          // measured ones
    float correlation = 0;  // Pearson's; NaN below two cells, or if either does not vary
    float largest = 0;      // error of an estimate
};
PatchAgreement patch_agreement(const PatchMap& map);

}  // namespace headlight
