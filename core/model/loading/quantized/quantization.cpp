// Reads quantization_config and its like.
#include "model/loading/quantized/quantization.h"

#include <algorithm>

#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

using Method = Quantization::Method;

bool Quantization::keeps(const std::string& module) const {
    return std::any_of(plain.begin(), plain.end(), [&](const std::string& part) {
        if (part.empty() || part.size() > module.size()) return false;
        if (part == module) return true;
        return (module.starts_with(part) && module[part.size()] == '.') ||
               (module.ends_with(part) && module[module.size() - part.size() - 1] == '.');
    });
}

namespace {

constexpr int64_t kLargestGroup = 1 << 24;

/// Returns the first of these keys that holds an integer, as ", 4 bits".
std::string bits_of(const Json& object) {
    for (const char* key : {"bits", "w_bit", "nbits", "num_bits"})
        if (const auto it = object.find(key); it != object.end() && it->is_number_integer())
            return ", " + json_text(*it) + " bits";
    return "";
}

bool is_true(const Json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && *it == true;
}

std::string method_of(const Json& object, const std::string& usual) {
    const bool four = is_true(object, "load_in_4bit"), eight = is_true(object, "load_in_8bit");
    if (four || eight) return std::string("bitsandbytes, ") + (four ? "4" : "8") + " bits";
    if (object.contains("load_in_4bit") || object.contains("load_in_8bit")) return "";  // neither is set
    const auto it = object.find("quant_method");
    return (it != object.end() && it->is_string() ? it->get<std::string>() : usual) + bits_of(object);
}

/// Returns a key's text, in small letters; "" if it is missing or no text.
std::string word(const Json& object, const char* key) {
    const auto it = object.find(key);
    std::string out = it != object.end() && it->is_string() ? it->get<std::string>() : "";
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 'a' - 'A') : c; });
    return out;
}

/// Reads the modules that were not converted, under any of the keys for them.
Status read_plain(const Json& object, const std::string& name, Quantization& q) {
    for (const char* key :
         {"modules_to_not_convert", "ignored_layers", "ignore", "llm_int8_skip_modules", "exclude_modules"}) {
        TRY(const Json list, json_list(object, or_null(key), name));
        for (const Json& module : list)
            if (module.is_string()) q.plain.push_back(module.get<std::string>());
    }
    return success();
}

/// Reads bits and group size of GPTQ and AWQ. −1, a whole row, becomes 0.
Status read_groups(const Json& object, const std::string& name, Quantization& q) {
    const char* bits = object.contains("w_bit") ? "w_bit" : "bits";
    const char* size = object.contains("q_group_size") ? "q_group_size" : "group_size";
    TRY(const int64_t count, json_integer(object, or_null(bits), 4, 1, 16, name));
    TRY(const int64_t group, json_integer(object, or_null(size), 128, -1, kLargestGroup, name));
    if (group == 0)
        return Error{name + ": \"" + size +
                     "\" is 0, but each scale serves one weight or more; use the model's own configuration."};
    q.bits = int(count);
    q.group = group < 0 ? 0 : group;
    return success();
}

Status read_gptq(const Json& object, const std::string& name, Quantization& q) {
    const std::string format = word(object, "checkpoint_format");
    TRY_STATUS(read_groups(object, name, q));
    const bool known = format.empty() || format == "gptq" || format == "gptq_v2";
    q.zeros_less_one = format != "gptq_v2";
    if (known && (q.bits == 2 || q.bits == 3 || q.bits == 4 || q.bits == 8)) q.method = Method::gptq;
    if (!known) q.name += ", stored as " + format;
    return success();
}

Status read_awq(const Json& object, const std::string& name, Quantization& q) {
    const std::string version = word(object, "version");
    TRY_STATUS(read_groups(object, name, q));
    const bool known = version.empty() || version == "gemm";
    if (known && q.bits == 4) q.method = Method::awq;
    if (!known) q.name += ", version " + version;
    return success();
}

/// Reads weight_block_size, [rows, columns] that share a scale.
Status read_fp8(const Json& object, const std::string& name, Quantization& q) {
    TRY(const Json size, json_list(object, or_null("weight_block_size"), name));
    if (!size.empty()) {
        const Error wrong{name + ": \"weight_block_size\" is " + json_text(size) +
                          ", not two numbers above 0; use the model's own configuration."};
        if (size.size() != 2) return wrong;
        for (const Json& side : size)
            if (!side.is_number_integer() || side < 1 || side > kLargestGroup) return wrong;
        q.block_rows = size[0].get<int64_t>();
        q.block_columns = size[1].get<int64_t>();
    }
    q.method = Method::fp8;
    return success();
}

/// Checks the schemes of compressed-tensors; bits and groups follow from the tensors.
Status read_compressed(const Json& object, const std::string& name, Quantization& q) {
    const std::string format = word(object, "format");
    const bool packed = format == "pack-quantized" || format == "nvfp4-pack-quantized",
               mixed = format == "mixed-precision",
               plain =
                   format == "naive-quantized" || format == "int-quantized" || format == "float-quantized";
    if (!packed && !plain && !mixed) {
        if (!format.empty()) q.name += ", " + format;
        return success();
    }
    TRY(const Json groups, json_object(object, or_null("config_groups"), name));
    for (const auto& [key, scheme] : groups.items()) {
        const Json* weights = scheme.is_object() ? json_find(scheme, or_null("weights")) : nullptr;
        if (!weights || !weights->is_object()) continue;
        TRY(const int64_t size, json_integer(*weights, or_null("group_size"), -1, -1, kLargestGroup, name));
        if (size == 0)
            return Error{name + ": \"group_size\" of " + key +
                         " is 0, but each scale serves one weight or more; use the model's own "
                         "configuration."};
    }
    q.method = Method::packed;
    return success();
}

/// Reads the settings of a method; leaves `unreadable` what no reader is for.
Status read_method(const Json& object, const std::string& name, Quantization& q) {
    const std::string method = q.name.substr(0, q.name.find(','));
    TRY_STATUS(read_plain(object, name, q));
    if (method == "gptq") return read_gptq(object, name, q);
    if (method == "awq") return read_awq(object, name, q);
    if (method == "compressed-tensors") return read_compressed(object, name, q);
    const bool modelopt8 = method == "modelopt" && word(object, "quant_algo") == "fp8";
    if (method == "fp8" || method == "fbgemm_fp8" || modelopt8) return read_fp8(object, name, q);
    if (method == "mxfp4") q.method = Method::mxfp4;
    if (method == "bitsandbytes") q.method = Method::bitsandbytes;
    return success();
}

Result<Quantization> read_quantization(const Json& object, const std::string& usual,
                                       const std::string& name) {
    Quantization q;
    q.name = method_of(object, usual);
    if (q.name.empty()) return q;
    q.method = Method::unreadable;
    TRY_STATUS(read_method(object, name, q));
    return q;
}

}  // namespace

Result<Quantization> quantization_of(const Json& root, const std::string& name) {
    constexpr std::pair<const char*, const char*> keys[] = {{"quantization_config", "a method of its own"},
                                                            {"compression_config", "compressed-tensors"},
                                                            {"quantization", "MLX"}};
    for (const auto& [key, usual] : keys) {
        TRY(const Json object, json_object(root, or_null(key), name));
        if (object.empty()) continue;
        TRY(const Quantization q, read_quantization(object, usual, name + ", " + key));
        if (q.method != Method::none) return q;
    }
    return Quantization();
}

Result<Quantization> quantization_beside(const fs::path& folder) {
    constexpr std::pair<const char*, const char*> files[] = {
        {"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}, {"hf_quant_config.json", "modelopt"}};
    for (const auto& [file, usual] : files) {
        std::error_code ignored;
        if (!fs::exists(folder / file, ignored)) continue;
        TRY(const Json object, read_json(folder / file, JsonNumbers::any));
        if (!object.is_object()) continue;
        const Json* inner = json_find(object, or_null("quantization"));  // of modelopt
        return read_quantization(inner && inner->is_object() ? *inner : object, usual,
                                 display_path(folder / file));
    }
    return Quantization();
}

std::span<const QuantizedForm> quantized_forms() {
    static constexpr QuantizedForm kForms[] = {
        {"bitsandbytes", "nf4 and fp4, scales quantized in turn too; int8"},
        {"GPTQ", "2, 3, 4 and 8 bits, groups or whole rows, act-order, formats gptq and gptq_v2"},
        {"AWQ", "4 bits, version gemm"},
        {"FP8", "E4M3 and E5M2 with scales of tensors, rows or blocks (DeepSeek, Qwen, fbgemm, ModelOpt)"},
        {"compressed-tensors",
         "integers and floats of 8 bits; integers of up to 8 bits packed, with groups, "
         "zeros and act-order; NVFP4"},
        {"MXFP4", "experts as gpt-oss has them"},
    };
    return kForms;
}

Error quantized_weights(const std::string& folder, const std::string& method) {
    return Error{
        folder + " holds quantized weights (" + method +
        "), which Headlight does not read; use the model's unquantized weights, or a GGUF file of it."};
}

}  // namespace headlight
