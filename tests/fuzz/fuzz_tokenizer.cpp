#include "tokenizer/tokenizer.h"

/// The file up to the first zero byte, a text after it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t cut = all.find('\0');
    const auto tokenizer = headlight::Tokenizer::parse(all.substr(0, cut), "input");
    if (!tokenizer) return 0;
    const auto text =
        cut == std::string_view::npos ? std::string_view("Hello wörld 12 <s>") : all.substr(cut + 1, 2000);
    if (const auto encoding = (*tokenizer)->encode(text)) (*tokenizer)->decode(encoding->ids);
    return 0;
}
