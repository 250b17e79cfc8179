// Predicts which residues of a protein touch, from the patterns of all heads (Rao et al. 2021), with the
// coefficients that ESM's contact head learned.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// S − (row sums)(column sums) / (sum of all), for S = P + Pᵀ: removes what a residue has with every other
/// one (average product correction, Dunn et al. 2008). pattern: [n, n].
Matrix corrected_pattern(const Matrix& pattern);

/// Returns [residues, residues]: the probability that two residues touch, σ(Σ_heads w_h · corrected P_h + b),
/// without the first and the last token, which stand for no residue; weights from end tokens and to them
/// count as 0. Fails if the model has no contact head.
Result<Matrix> contact_map(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight
