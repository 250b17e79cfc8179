#include "quantized_files.h"

#include <cstring>
#include <random>

namespace headlight::fuzz {

namespace {

/// Collects tensors: their entries in the header, and their bytes.
class Tensors {
public:
    explicit Tensors(Json metadata) { header_["__metadata__"] = std::move(metadata); }

    void add(const std::string& name, const char* type, const std::vector<int64_t>& shape,
             const std::string& bytes) {
        header_[name] = {{"dtype", type},
                         {"shape", shape},
                         {"data_offsets", {bytes_.size(), bytes_.size() + bytes.size()}}};
        bytes_ += bytes;
    }
    /// Adds random codes, `bytes` each.
    void codes(const std::string& name, const char* type, const std::vector<int64_t>& shape, int bytes) {
        std::string out;
        for (int64_t i = 0; i < count(shape) * bytes; ++i)
            out += static_cast<char>(random_() >> 8 & (bytes == 1 ? 0x3f : 0xff));
        add(name, type, shape, out);
    }
    void floats(const std::string& name, const std::vector<int64_t>& shape, float value) {
        std::string out;
        for (int64_t i = 0; i < count(shape); ++i) out.append(reinterpret_cast<const char*>(&value), 4);
        add(name, "F32", shape, out);
    }
    template <class T>
    void integers(const std::string& name, const char* type, const std::vector<T>& values) {
        add(name, type, {std::ssize(values)},
            {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    }
    void write(ModelFiles& to) {
        to.documents[kWeights] = header_;
        to.tensors = bytes_;
    }

private:
    static int64_t count(const std::vector<int64_t>& shape) {
        int64_t out = 1;
        for (const int64_t side : shape) out *= side;
        return out;
    }
    Json header_;
    std::string bytes_;
    std::minstd_rand random_{5};
};

using Encode = bool (*)(Tensors&, const std::string& module, int64_t out, int64_t in);

bool fp8(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    t.codes(module + ".weight", "F8_E4M3", {out, in}, 1);
    t.floats(module + ".weight_scale_inv", {(out + 63) / 64, in / 32}, 0.1f);
    return true;
}
bool words(Tensors& t, const std::string& module, std::vector<int64_t> shape, int64_t out, int64_t in) {
    t.codes(module + ".qweight", "I32", shape, 4);
    t.codes(module + ".qzeros", "I32", {in / 32, out / 8}, 4);
    t.floats(module + ".scales", {in / 32, out}, 0.01f);
    return true;
}
bool gptq(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    std::vector<int32_t> groups;
    for (int64_t i = 0; i < in; ++i) groups.push_back(static_cast<int32_t>(i % (in / 32)));
    t.integers(module + ".g_idx", "I32", groups);
    return words(t, module, {in / 8, out}, out, in);
}
bool awq(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    return words(t, module, {in, out / 8}, out, in);
}
bool packed(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    t.codes(module + ".weight_packed", "I32", {out, in / 8}, 4);
    t.codes(module + ".weight_zero_point", "I32", {out / 8, in / 32}, 4);
    t.floats(module + ".weight_scale", {out, in / 32}, 0.01f);
    t.integers(module + ".weight_shape", "I64", std::vector<int64_t>{out, in});
    return true;
}
bool int8(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    t.codes(module + ".weight", "I8", {out, in}, 1);
    t.floats(module + ".SCB", {out}, 0.2f);
    return true;
}
bool nf4(Tensors& t, const std::string& module, int64_t out, int64_t in) {
    if (in % 64 != 0) return false;
    const std::string weight = module + ".weight";
    const Json state{{"shape", {out, in}}, {"blocksize", 64},      {"nested_blocksize", 256},
                     {"dtype", "float16"}, {"nested_offset", 0.1}, {"quant_type", "nf4"}};
    const std::string text = state.dump();
    constexpr float kLevels[] = {-1.0f,         -0.696192801f, -0.525073051f,  -0.394917488f,
                                 -0.284441382f, -0.184773430f, -0.0910500363f, 0.0f,
                                 0.0795802996f, 0.160930201f,  0.246112302f,   0.337915242f,
                                 0.440709829f,  0.562617004f,  0.722956836f,   1.0f};
    t.codes(weight, "U8", {out * in / 2, 1}, 1);
    t.codes(weight + ".absmax", "U8", {out * in / 64}, 1);
    t.add(weight + ".quant_map", "F32", {16}, {reinterpret_cast<const char*>(kLevels), sizeof kLevels});
    t.floats(weight + ".nested_absmax", {(out * in / 64 + 255) / 256}, 0.1f);
    t.floats(weight + ".nested_quant_map", {256}, 0.5f);
    t.add(weight + ".quant_state.bitsandbytes__nf4", "U8", {std::ssize(text)}, text);
    return true;
}

ModelFiles encoded(const ModelFiles& llama, const char* name, Encode encode, const Json& config) {
    ModelFiles out = llama;
    out.name = name;
    out.documents["config.json"]["quantization_config"] = config;
    const Json header = llama.documents.at(kWeights);
    Tensors tensors(Json{{"format", "pt"}});
    for (const auto& [key, entry] : header.items()) {
        if (key == "__metadata__") continue;
        const auto shape = entry["shape"].get<std::vector<int64_t>>();
        const std::string module = key.substr(0, key.rfind('.'));
        if (key.ends_with("proj.weight") && encode(tensors, module, shape[0], shape[1])) continue;
        const auto begin = entry["data_offsets"][0].get<size_t>(),
                   end = entry["data_offsets"][1].get<size_t>();
        tensors.add(key, "F32", shape, llama.tensors.substr(begin, end - begin));
    }
    tensors.write(out);
    return out;
}

}  // namespace

std::vector<ModelFiles> quantized_models(const ModelFiles& llama) {
    const Json groups{{"g", {{"weights", {{"num_bits", 4}, {"group_size", 32}}}}}};
    return {
        encoded(llama, "llama-fp8", fp8, {{"quant_method", "fp8"}, {"weight_block_size", {64, 32}}}),
        encoded(llama, "llama-gptq", gptq, {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}}),
        encoded(llama, "llama-awq", awq, {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 32}}),
        encoded(llama, "llama-packed", packed,
                {{"quant_method", "compressed-tensors"},
                 {"format", "pack-quantized"},
                 {"config_groups", groups}}),
        encoded(llama, "llama-int8", int8, {{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}}),
        encoded(llama, "llama-nf4", nf4, {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}}),
    };
}

}  // namespace headlight::fuzz
