// Tests folders of other programs: quantized weights, prefixed names, numbers that JSON lacks.
#include "helpers.h"
#include "hub/library.h"
#include "model/loading/foreign_prefix.h"
#include "model/loading/quantized/quantization.h"
#include "tokenizer/files.h"

using namespace headlight;
namespace fs = std::filesystem;

namespace {

std::string method_of(const char* config) {
    const auto method = quantization_of(Json::parse(config), "x");
    return method ? method->name : "error: " + method.error().message;
}

void copy_model(const char* name, const fs::path& to) {
    fs::create_directories(to);
    for (const auto& file : fs::directory_iterator(kTests / "reference/models" / name))
        fs::copy(file.path(), to);
}

void change_config(const fs::path& folder, const Json& changes) {
    Json config = *read_json(folder / "config.json");
    config.update(changes);
    write_bytes(folder / "config.json", config.dump());
}

}  // namespace

TEST_CASE("quantization is detected in every spelling") {
    CHECK(method_of(R"({})").empty());
    CHECK(method_of(R"({"quantization_config":null})").empty());
    CHECK(method_of(R"({"quantization_config":{}})").empty());
    CHECK(
        method_of(
            R"({"quantization_config":{"load_in_4bit":false,"load_in_8bit":false,"quant_method":"bitsandbytes"}})")
            .empty());
    CHECK(method_of(R"({"quantization_config":{"load_in_8bit":true}})") == "bitsandbytes, 8 bits");
    CHECK(method_of(R"({"quantization_config":{"quant_method":"gptq","bits":4}})") == "gptq, 4 bits");
    CHECK(method_of(R"({"quantization_config":{"quant_method":"fp8"}})") == "fp8");
    CHECK(method_of(R"({"compression_config":{"format":"int"}})") == "compressed-tensors, int");
    CHECK(method_of(R"({"quantization":{"group_size":64,"bits":4}})") == "MLX, 4 bits");
    CHECK(method_of(R"({"quantization_config":7})").starts_with("error: x: \"quantization_config\""));
}

TEST_CASE("a folder of quantized weights is refused with its method and a remedy") {
    TemporaryFolder folder;
    copy_model("gpt2", folder.path);
    write_bytes(folder.path / "quantize_config.json", R"({"bits":5,"group_size":128})");
    const auto beside = Model::open(folder.path);
    REQUIRE(!beside);
    CHECK(beside.error().message.find("quantized weights (gptq, 5 bits)") != std::string::npos);
    change_config(folder.path, {{"quantization_config", {{"quant_method", "hqq"}, {"bits", 4}}}});
    const auto model = Model::open(folder.path);
    REQUIRE(!model);
    CHECK(model.error().message.find("hqq, 4 bits") != std::string::npos);
    CHECK(model.error().message.find("GGUF") != std::string::npos);
    CHECK(examine_model(folder.path, "x", "y").problem.find("hqq") != std::string::npos);
    CHECK(open_config(folder.path));  // the configuration can still be shown
}

TEST_CASE("a prefix of every tensor's name is named") {
    const std::vector<std::string> asked{"transformer.wte.weight", "wte.weight"};
    CHECK(foreign_prefix({"module.transformer.h.0.w", "module.transformer.wte.weight"}, asked) == "module.");
    CHECK(foreign_prefix({"_orig_mod.module.wte.weight"}, asked) == "_orig_mod.module.");
    CHECK(foreign_prefix({"other.weight", "xwte.weight"}, asked).empty());
    const std::string every = wrapped_names({"module.a", "module.b"}, "module.");
    CHECK(every.starts_with("every tensor's name begins with \"module.\""));
    CHECK(every.find("removeprefix(\"module.\")") != std::string::npos);
    const std::string adapters = wrapped_names(
        {"base_model.model.q.base_layer.weight", "base_model.model.q.lora_A.w"}, "base_model.model.");
    CHECK(adapters.find("merge_and_unload") != std::string::npos);
    CHECK(wrapped_names({"module.a", "b"}, "module.").starts_with("tensors' names begin"));
}

TEST_CASE("NaN and infinities as Python writes them are errors only where they are read") {
    const std::string text =
        R"({"a": NaN, "b": [-Infinity, 1, {"c": Infinity}], "d": "NaN \" NaN", "NaN": "\\"})";
    const auto any = parse_json(text, "x", JsonNumbers::any);
    REQUIRE(any);
    CHECK(std::isnan((*any)["a"].get<double>()));
    CHECK((*any)["b"][0] == -INFINITY);
    CHECK((*any)["b"][2]["c"] == INFINITY);
    CHECK((*any)["d"] == "NaN \" NaN");
    CHECK((*any)["NaN"] == "\\");
    CHECK(!parse_json(text, "x"));
    for (const char* wrong : {"NaNs", "{\"a\": Nan}", "{\"a\": NaN", "+Infinity", "--Infinity"})
        CHECK(!parse_json(wrong, "x", JsonNumbers::any));
    TemporaryFolder folder;
    copy_model("gpt2", folder.path);
    const auto with = [&](const char* file, const std::string& entry) {
        const std::string old = fs::exists(folder.path / file) ? read_bytes(folder.path / file) : "{}";
        const std::string body = old.substr(old.find('{') + 1);
        const bool empty = body.find('"') == std::string::npos;
        write_bytes(folder.path / file, "{" + entry + (empty ? "" : ",") + body);
        const auto model = Model::open(folder.path);
        const std::string problem = !model                 ? model.error().message
                                    : !(*model)->tokenizer ? (*model)->tokenizer.error().message
                                                           : "";
        write_bytes(folder.path / file, old);
        return problem;
    };
    for (const char* file : {"config.json", "generation_config.json", "tokenizer_config.json"}) {
        CAPTURE(file);
        CHECK(with(file, R"("nobody_reads": NaN, "nor": [Infinity, -Infinity])") == "");
    }
    change_config(folder.path, {{"layer_norm_epsilon", 1e-5}});
    Json config = *read_json(folder.path / "config.json");
    config.erase("layer_norm_epsilon");
    write_bytes(folder.path / "config.json", config.dump());
    const std::string problem = with("config.json", R"("layer_norm_epsilon": NaN)");
    CHECK(problem.find("\"layer_norm_epsilon\" must be a number, not NaN") != std::string::npos);
    CHECK(with("generation_config.json", R"("eos_token_id": Infinity)").find("eos_token_id") !=
          std::string::npos);
}
