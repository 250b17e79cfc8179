// Detects quantized checkpoints.
#include "model/loading/quantized.h"

#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

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

}  // namespace

Result<std::string> quantization_of(const Json& root, const std::string& name) {
    constexpr std::pair<const char*, const char*> keys[] = {{"quantization_config", "a method of its own"},
                                                            {"compression_config", "compressed-tensors"},
                                                            {"quantization", "MLX"}};
    for (const auto& [key, usual] : keys) {
        TRY(const Json object, json_object(root, or_null(key), name));
        const std::string method = object.empty() ? "" : method_of(object, usual);
        if (!method.empty()) return method;
    }
    return std::string();
}

Result<std::string> quantization_beside(const fs::path& folder) {
    constexpr std::pair<const char*, const char*> files[] = {
        {"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}, {"hf_quant_config.json", "modelopt"}};
    for (const auto& [file, usual] : files) {
        std::error_code ignored;
        if (!fs::exists(folder / file, ignored)) continue;
        TRY(const Json object, read_json(folder / file, JsonNumbers::any));
        if (object.is_object()) return method_of(object, usual);
    }
    return std::string();
}

Error quantized_weights(const std::string& folder, const std::string& method) {
    return Error{
        folder + " holds quantized weights (" + method +
        "), which Headlight does not read; use the model's unquantized weights, or a GGUF file of it."};
}

}  // namespace headlight
