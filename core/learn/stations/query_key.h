// Provides the queries and keys that stations compare: the open head's, or three numbers per word.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct QueryKey {
    Matrix q, k;                             // [queries, d], [keys, d]; of long texts the first kMaxWords
    std::vector<std::string> queries, keys;  // labels
    std::vector<std::vector<bool>> allowed;  // [queries][keys]: keys that the head's mask allows
    int query = 0;                           // the selected one
    bool of_head = false, one_text = true;   // one_text: queries and keys are the same words
    std::string origin;                      // "q and k of head 1.2"
    Cells cells;                             // cells of the keys in the sentence

    /// Sets masked scores to NaN.
    Matrix masked(Matrix scores) const;
};

/// Returns whether the open head's q and k are known, and its matrices.
bool has_head(const StationInput& input);

QueryKey head_query_key(const StationInput& input);
/// q = k = three numbers per word of the text, ours or as edited by the user; nothing is masked.
QueryKey small_query_key(const StationInput& input, const std::vector<float>& by_hand = {});

}  // namespace headlight::learn
