// BigBird's block-sparse attention (Zaheer et al. 2020), as far as it is full attention.
#pragma once

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families.h"

namespace headlight {

/// Bounds the context by the longest text that these classes read with full attention, whatever
/// attention_type says; in longer ones a query sees random blocks.
inline void read_block_sparse(ConfigReader& r, ModelConfig& c) {
    const std::string type = r.text({"attention_type"}, "block_sparse");
    const int64_t block = r.integer({"block_size"}, 64, 1, 1 << 16),
                  random = r.integer({"num_random_blocks"}, 3, 0, 1 << 12);
    if (type == "original_full") return;
    if (type != "block_sparse")
        r.fail(r.file() + ": the attention_type " + in_quotes(type) +
               " is not one that Headlight computes; it knows original_full and block_sparse.");
    c.position_table = c.context + c.position_offset;
    c.context = narrow<int>(std::min<int64_t>(c.context, (5 + 2 * random) * block));
}

}  // namespace headlight
