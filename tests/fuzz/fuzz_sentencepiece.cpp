#include "tokenizer/sentence_piece.h"
#include "tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = headlight::parse_sentence_piece({reinterpret_cast<const char*>(data), size}, "input");
    if (!file) return 0;
    headlight::TokenizerParts parts;
    const auto model = headlight::sentence_piece_model(*file, "input");
    if (!model) return 0;
    parts.model = *model;
    parts.normalizer = headlight::sentence_piece_normalizer(*file);
    parts.spelling = headlight::Spelling::metaspace;
    const auto tokenizer = headlight::Tokenizer::make(std::move(parts), "input");
    if (!tokenizer) return 0;
    if (const auto encoding = (*tokenizer)->encode("Hello wörld ﬁ 12\u3000猫 <s>"))
        (*tokenizer)->decode(encoding->ids);
    return 0;
}
