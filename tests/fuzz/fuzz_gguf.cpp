#include "io/gguf.h"
#include "model/loading/gguf_model.h"
#include "model/loading/parameters.h"
#include "tokenizer/gguf_tokenizer.h"

/// A whole file: its header, every tensor decoded, its configuration and tokenizer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = headlight::parse_gguf({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (!file) return 0;
    for (const auto& [name, t] : file->tensors) {
        if (!t.dtype->holds_weights()) continue;
        std::vector<float> values(headlight::element_count(t.shape));
        t.dtype->decode(t.bytes.data(), static_cast<int64_t>(values.size()), values.data());
    }
    if (const auto config = headlight::gguf_config(*file, "input")) headlight::parameter_count(*config);
    if (const auto tokenizer = headlight::gguf_tokenizer(*file, "input"))
        if (const auto encoding = (*tokenizer)->encode("Hello wörld 12 <s>"))
            (*tokenizer)->decode(encoding->ids);
    return 0;
}
