// Reads the tokenizer inside a GGUF file.
#pragma once

#include <memory>

#include "io/gguf.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// Reads tokenizer.ggml.*: llama (SentencePiece BPE), gpt2 (byte-level BPE), bert (WordPiece), t5 (Unigram).
Result<std::shared_ptr<const Tokenizer>> gguf_tokenizer(const Gguf& file, const std::string& name);

}  // namespace headlight
