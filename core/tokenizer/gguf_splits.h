// Maps tokenizer.ggml.pre to regular expressions.
#pragma once

#include <span>
#include <string_view>

namespace headlight {

struct SplitRow {
    std::span<const char* const> patterns;  // applied in order, each to the pieces of the last
    bool begin = false;                     // bos_token_id comes first unless add_bos_token says otherwise
    bool whole_words = false;               // a word in the vocabulary is one token, whatever the merges
    bool composed = false;                  // normalizes to NFC first
};

/// Returns the row of a name, or null. Names and defaults: llama.cpp's; patterns: tokenizer.json's.
const SplitRow* split_named(std::string_view name);

}  // namespace headlight
