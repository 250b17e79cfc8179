// Lets the last layers of a Gemma 3n or 4 read the keys and values of earlier ones.
#pragma once

#include <algorithm>
#include <string>

#include "model/families/llama_like.h"

namespace headlight {

/// Returns whether a layer has no window.
inline bool is_full(const LayerSpec& layer) { return !layer.attention.window; }

/// Reads num_kv_shared_layers: each of the last layers reads the keys and values of the last layer of its
/// kind before them. Returns the first of them.
inline int share_last_keys(ConfigReader& r, ModelConfig& c, int usual) {
    StackConfig& s = c.stacks[0];
    const int first = std::max(0, s.depth() - r.integer({"num_kv_shared_layers"}, usual, 0, 1000));
    for (int l = first; l < s.depth(); ++l) {
        AttentionSpec& a = s.layers[l].attention;
        for (int before = 0; before < first; ++before)
            if (is_full(s.layers[before]) == is_full(s.layers[l])) a.source = before;
        if (a.source >= 0 && s.layers[a.source].attention.d_head == a.d_head &&
            s.layers[a.source].attention.kv_heads == a.kv_heads)
            continue;
        r.fail(r.file() + ": layer " + std::to_string(l) +
               " reads the keys and values of an earlier layer of its kind and heads, but there is none; "
               "correct \"num_kv_shared_layers\".");
        break;
    }
    return first;
}

}  // namespace headlight
