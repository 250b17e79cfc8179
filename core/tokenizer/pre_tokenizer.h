// Pre-tokenizers: how text is cut into words before the vocabulary is applied.
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

/// The pre-tokenizer that tokenizer.json describes. Unknown types are an error that names them.
Result<PreTokenizer> make_pre_tokenizer(const Json& description, const std::string& name);

/// One step after the other.
PreTokenizer in_sequence(std::vector<PreTokenizer> steps);

/// Cuts at what each pattern finds, one after the other; what was found stays a piece of its own.
Result<PreTokenizer> make_regex_splits(std::span<const char* const> patterns);

/// White space out, punctuation signs apart.
PreTokenizer make_bert_pre_tokenizer();

/// Where SentencePiece puts a blank in front: of every piece, of the text's first, of none.
enum class Prepend { always, first, never };

/// Blanks become `blank` ("▁"); with `cut`, a piece begins at each of them.
Result<PreTokenizer> make_metaspace(const std::string& blank, Prepend prepend, bool cut);

/// GPT-2's regular expression (Radford et al. 2019).
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// GPT-2's own: an optional blank in front, then its regular expression (Radford et al. 2019), then bytes in
/// their printable form.
Result<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex);

}  // namespace headlight
