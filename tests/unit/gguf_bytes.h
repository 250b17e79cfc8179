// Writes GGUF files for tests.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "io/gguf.h"
#include "model/loading/gguf_model.h"

namespace headlight {

/// Writes a GGUF file value by value.
class GgufBytes {
public:
    void set(const std::string& key, uint32_t value) { number(begin(key, 4), value); }
    void set(const std::string& key, float value) { number(begin(key, 6), value); }
    void set(const std::string& key, bool value) { begin(key, 7).push_back(value ? 1 : 0); }
    void set(const std::string& key, const std::string& value) { text(begin(key, 8), value); }
    void set(const std::string& key, const std::vector<std::string>& values) {
        std::string& out = begin(key, 9);
        number(out, uint32_t{8});
        number(out, uint64_t{values.size()});
        for (const auto& v : values) text(out, v);
    }
    void set(const std::string& key, const std::vector<uint32_t>& values) {
        std::string& out = begin(key, 9);
        number(out, uint32_t{4});
        number(out, uint64_t{values.size()});
        for (const uint32_t v : values) number(out, v);
    }
    /// Adds an F32 tensor; all data is zeros.
    void tensor(const std::string& name, uint64_t rows, uint64_t columns, uint64_t offset) {
        text(tensors_, name);
        number(tensors_, uint32_t{2});
        number(tensors_, columns);
        number(tensors_, rows);
        number(tensors_, uint32_t{0});
        number(tensors_, offset);
        ++tensor_count_;
        data_ = std::max<uint64_t>(data_, offset + rows * columns * sizeof(float));
    }
    std::string bytes() const {
        std::string out = "GGUF";
        number(out, uint32_t{3});
        number(out, tensor_count_);
        number(out, entry_count_);
        out += entries_ + tensors_;
        out.resize((out.size() + 31) / 32 * 32 + data_);
        return out;
    }

private:
    template <class T>
    static void number(std::string& out, T value) {
        out.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static void text(std::string& out, const std::string& value) {
        number(out, uint64_t{value.size()});
        out += value;
    }
    std::string& begin(const std::string& key, uint32_t type) {
        text(entries_, key);
        number(entries_, type);
        ++entry_count_;
        return entries_;
    }
    std::string entries_, tensors_;
    uint64_t entry_count_ = 0, tensor_count_ = 0, data_ = 0;
};

inline Result<Gguf> parsed(const std::string& bytes) {
    return parse_gguf(std::as_bytes(std::span(bytes)), "x.gguf");
}

/// Returns the header of a decoder with two heads of 80, as llama.cpp's converter writes it: without
/// key_length.
inline GgufBytes decoder_header(const std::string& architecture) {
    GgufBytes out;
    out.set("general.architecture", architecture);
    const std::pair<const char*, uint32_t> sizes[] = {
        {"embedding_length", 160},      {"block_count", 2},          {"attention.head_count", 2},
        {"attention.head_count_kv", 2}, {"feed_forward_length", 64}, {"context_length", 64}};
    for (const auto& [key, value] : sizes) out.set(architecture + "." + key, value);
    out.tensor("token_embd.weight", 3, 160, 0);
    return out;
}

inline Result<ModelConfig> config_of(const GgufBytes& file) {
    const std::string bytes = file.bytes();
    TRY(const Gguf gguf, parsed(bytes));
    return gguf_config(gguf, "x.gguf");
}

}  // namespace headlight
