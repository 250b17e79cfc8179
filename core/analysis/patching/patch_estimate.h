// Attribution patching (Nanda 2023; Syed et al. 2023): all cells of a map of patching from one reverse pass.
#pragma once

#include "analysis/patching/patch_map.h"

namespace headlight {

/// The map to first order, [rows, columns] as PatchMap::values: (clean − corrupted value) · gradient of the
/// metric by it in the corrupted run, as a share of what lies between the metrics of both; NaN: no such
/// place. An error means that a gradient is not finite, or that `cancel` was set.
Result<Matrix> patch_estimates(const PatchMap& map, const Trace& clean, const Trace& corrupted,
                               ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// How the estimates agree with what is measured by now.
struct PatchAgreement {
    int cells = 0;          // that are measured
    float correlation = 0;  // Pearson's; NaN below two cells, or where one of both does not vary
    float largest = 0;      // error of an estimate
};
PatchAgreement patch_agreement(const PatchMap& map);

}  // namespace headlight
