// Station "Three uses in one translator": self-attention of encoder and decoder, cross-attention, and what
// depends on them; the parts of a block with the values of one token.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ThreeUsesState {
    bool chosen = false;  // shows the selected head for its kind; else the sharpest of each kind
    bool tired_or_wide = true;

    void visit(ControlVisitor& v);
};

Result<Page> three_uses_page(const StationInput& input, const ThreeUsesState& state, ThreadPool& pool);

/// Lists the parts of the selected head's block with the values of the selected query, else of the second.
Table block_parts_table(const Trace& trace, AttentionHead head, int query, ThreadPool& pool);

}  // namespace headlight::learn
