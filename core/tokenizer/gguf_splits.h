// What tokenizer.ggml.pre stands for.
#pragma once

#include <span>
#include <string_view>

namespace headlight {

struct SplitRow {
    std::span<const char* const> patterns;  // one after the other, each cutting what it finds apart
    bool begin = false;        // bos_token_id stands in front unless add_bos_token says otherwise
    bool whole_words = false;  // a word that the vocabulary has is one token, whatever the merges say
    bool composed = false;     // NFC comes first
};

/// The row of a name, or null. Names, and what they stand for when entries are missing, are llama.cpp's;
/// patterns are those of the models' own tokenizer.json files.
const SplitRow* split_named(std::string_view name);

}  // namespace headlight
