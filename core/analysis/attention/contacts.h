// Predicts which residues of a protein touch, from the patterns of all heads (Rao et al. 2021), with the
// coefficients that ESM's contact head learned.
#pragma once

#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// S − (row sums)(column sums) / (sum of all), for S = P + Pᵀ: removes what a residue has with every other
/// one (average product correction, Dunn et al. 2008). pattern: [n, n].
Matrix corrected_pattern(const Matrix& pattern);

/// Returns [residues, residues]: the probability that two residues touch, σ(Σ_heads w_h · corrected P_h + b),
/// without the first and the last token, which stand for no residue; weights from end tokens and to them
/// count as 0. Fails if the model has no contact head.
Result<Matrix> contact_map(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel = nullptr);

struct ContactsRequest {
    using Answer = Matrix;
    bool operator==(const ContactsRequest&) const = default;
};
Result<Matrix> answer_contacts(const Trace& trace, const ContactsRequest& request, ThreadPool& pool,
                               const CancelFlag* cancel = nullptr);

/// Names two residues, counted from 0 in the map, the first before the second.
struct Contact {
    int first = 0, second = 0;
    float probability = 0;
    int apart() const { return second - first; }
};

/// Returns the `count` most probable contacts of residues at least `apart` from each other along the chain,
/// the most probable first: near ones touch whatever the fold.
std::vector<Contact> likely_contacts(const Matrix& map, int apart, int count);

}  // namespace headlight
