// The tokenizer inside a GGUF file.
#pragma once

#include <memory>

#include "io/gguf.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// From the entries tokenizer.ggml.*: the kinds llama (SentencePiece BPE), gpt2 (byte-level BPE) and bert
/// (WordPiece).
Result<std::shared_ptr<const Tokenizer>> gguf_tokenizer(const Gguf& file, const std::string& name);

}  // namespace headlight
