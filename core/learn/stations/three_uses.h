// Station "Three uses in one translator": self-attention of encoder and decoder, cross-attention, and what
// rests on them; the parts of a block with the numbers of one token.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ThreeUsesState {
    bool chosen = false;  // show the chosen head where it is of that kind; else the sharpest of each kind
    bool tired_or_wide = true;

    void visit(ControlVisitor& v);
};

Result<Page> three_uses_page(const StationInput& input, const ThreeUsesState& state, ThreadPool& pool);

/// The parts of the chosen head's block, with the numbers of one token: of the chosen query, else the second.
Table block_parts_table(const Trace& trace, AttentionHead head, int query, ThreadPool& pool);

}  // namespace headlight::learn
