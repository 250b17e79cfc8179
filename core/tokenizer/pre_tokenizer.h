// Splits text into words before the vocabulary is applied.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "io/json.h"
#include "tokenizer/text.h"

namespace headlight {

/// Replaces pieces by smaller ones, in place and in order.
using PreTokenizer = std::function<Status(std::vector<AlignedText>&)>;

/// Makes the pre-tokenizer that tokenizer.json describes. Unknown types are an error that names them.
Result<PreTokenizer> make_pre_tokenizer(const Json& description, const std::string& name);

PreTokenizer in_sequence(std::vector<PreTokenizer> steps);

/// Splits by each pattern in order; each match remains a piece of its own.
Result<PreTokenizer> make_regex_splits(std::span<const char* const> patterns);

/// Removes white space and isolates punctuation.
PreTokenizer make_bert_pre_tokenizer();

/// Says where SentencePiece puts a space in front: before every piece, the text's first, nowhere.
enum class Prepend { always, first, never };

/// Replaces spaces by `blank` ("▁"); with `cut`, begins a piece at each.
Result<PreTokenizer> make_metaspace(const std::string& blank, Prepend prepend, bool cut);

/// GPT-2's regular expression (Radford et al. 2019).
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Makes GPT-2's: an optional space in front, its regular expression (Radford et al. 2019), printable bytes.
Result<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex);

}  // namespace headlight
