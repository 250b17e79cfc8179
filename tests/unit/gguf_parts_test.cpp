// Tests GGUF: files in parts, biases known only by their tensors, experts, and defaults of missing keys.
#include "io/gguf_parts.h"

#include "gguf_bytes.h"
#include "helpers.h"
#include "hub/library.h"

using namespace headlight;

namespace {

template <class T>
std::string message_of_gguf(const Result<T>& result) {
    return result ? "" : result.error().message;
}

struct Part {
    uint32_t number, count, tensors;
    std::string tensor, architecture;
};

void write_part(const std::filesystem::path& path, const Part& part) {
    GgufBytes file;
    if (part.number == 0) file = decoder_header("llama");
    if (part.number > 0 && !part.architecture.empty()) file.set("general.architecture", part.architecture);
    if (part.number > 0) file.tensor(part.tensor, 1, 8, 0);
    file.set("split.no", part.number);
    file.set("split.count", part.count);
    file.set("split.tensors.count", part.tensors);
    write_bytes(path, file.bytes());
}

/// Opens a model in three parts with this last part, and returns the error.
std::string problem_with(const Part& last, const std::string& named = "m-00002-of-00003.gguf") {
    const TemporaryFolder folder;
    write_part(folder.path / "m-00001-of-00003.gguf", {0, 3, 3, "", ""});
    write_part(folder.path / "m-00002-of-00003.gguf", {1, 3, 3, "output_norm.weight", ""});
    if (last.count) write_part(folder.path / "m-00003-of-00003.gguf", last);
    const auto model = open_gguf_model(folder.path / named);
    if (!model) return model.error().message;
    CHECK(model->whole.tensors.size() == 3);
    CHECK(model->files.size() == 3);
    CHECK(model->whole.value("llama.block_count") == 2);
    return "";
}

}  // namespace

TEST_CASE(
    "GGUF in parts opens as one, whichever part is named; parts that do not belong together are refused") {
    const Part good{2, 3, 3, "output.weight", "llama"};
    for (const char* named : {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"})
        CHECK(problem_with(good, named) == "");
    CHECK(says(problem_with({}), "\"m-00003-of-00003.gguf\" is not beside it"));
    CHECK(says(problem_with({1, 3, 3, "output.weight", ""}),
               "says that it is part 2 of 3, but its name says part 3 of 3"));
    CHECK(says(problem_with({2, 4, 3, "output.weight", ""}), "part 3 of 4"));
    CHECK(says(problem_with({2, 3, 9, "output.weight", ""}), "split.tensors.count is 9"));
    CHECK(says(problem_with({2, 3, 3, "output.weight", "qwen2"}), "general.architecture"));
    CHECK(says(problem_with({2, 3, 3, "output_norm.weight", ""}), "another part holds too"));
    const TemporaryFolder folder;
    write_part(folder.path / "m.gguf", {0, 2, 3, "", ""});
    CHECK(says(message_of_gguf(open_gguf_model(folder.path / "m.gguf")), "NAME-00001-of-00002.gguf"));
    write_part(folder.path / "m-00001-of-00001.gguf", {0, 1, 1, "", ""});
    CHECK(open_gguf_model(folder.path / "m-00001-of-00001.gguf"));
}

TEST_CASE("GGUF in parts is listed as one model of the parts' total size") {
    const TemporaryFolder cache;
    const char* before = std::getenv("LLAMA_CACHE");
    const std::string kept = before ? before : "";
    setenv("LLAMA_CACHE", cache.path.c_str(), 1);
    write_part(cache.path / "m-00001-of-00002.gguf", {0, 2, 2, "", ""});
    write_part(cache.path / "m-00002-of-00002.gguf", {1, 2, 2, "output.weight", ""});
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(cache.path))
        bytes += static_cast<int64_t>(file.file_size());
    std::vector<FoundModel> found;
    for (const FoundModel& m : models_on_computer())
        if (m.source == "llama.cpp cache") found.push_back(m);
    before ? setenv("LLAMA_CACHE", kept.c_str(), 1) : unsetenv("LLAMA_CACHE");
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "m");
    CHECK(found[0].bytes == bytes);
    CHECK(found[0].problem == "");
    CHECK(model_name(found[0].path) == "m");
}

TEST_CASE("GGUF: experts in an architecture without are refused as such, not for missing tensors") {
    GgufBytes file = decoder_header("qwen2"), none = file;
    file.set("qwen2.expert_count", 8u);
    CHECK(says(message_of_gguf(config_of(file)), "is a mixture of experts (qwen2.expert_count is 8)"));
    none.set("qwen2.expert_count", 0u);
    CHECK(config_of(none));
    none.tensor("blk.0.ffn_gate_inp.weight", 1, 8, 4096);
    CHECK(says(message_of_gguf(config_of(none)), "is a mixture of experts,"));
}

TEST_CASE("GGUF: a Llama with experts is a Mixtral") {
    GgufBytes file = decoder_header("llama");
    CHECK(config_of(file)->family == "llama");
    file.set("llama.expert_count", 8u);
    file.set("llama.expert_used_count", 3u);
    const auto config = config_of(file);
    REQUIRE(config);
    CHECK(config->family == "mixtral");
    const auto& experts = config->stacks[0].layers[1].mlp.experts;
    REQUIRE(experts);
    CHECK((experts->count == 8 && experts->used == 3 && experts->width == 64));
    file.set("llama.expert_gating_func", 2u);
    CHECK(says(message_of_gguf(config_of(file)), "llama.expert_gating_func is 2, a router that"));
}

TEST_CASE("GGUF: routers weigh experts as the file says") {
    GgufBytes file = decoder_header("qwen3moe");
    const auto experts_of = [](const GgufBytes& of) {
        return *config_of(of)->stacks[0].layers[0].mlp.experts;
    };
    CHECK((experts_of(file).normalize && experts_of(file).scale == 1));
    file.set("qwen3moe.expert_weights_norm", false);
    file.set("qwen3moe.expert_weights_scale", 2.5f);
    CHECK((!experts_of(file).normalize && experts_of(file).scale == 2.5f));
}

TEST_CASE("GGUF: layers that predict later tokens are not the model's") {
    GgufBytes file = decoder_header("glm4moe");
    file.set("glm4moe.nextn_predict_layers", 1u);
    const auto config = config_of(file);
    REQUIRE(config);
    CHECK(config->stacks[0].depth() == 1);
    CHECK(config->stacks[0].skipped == std::vector{1});
}

TEST_CASE("GGUF: a key that changes what is computed is not ignored") {
    GgufBytes file = decoder_header("qwen2"), neutral = file;
    neutral.set("qwen2.logit_scale", 0.0f);
    CHECK(config_of(neutral));
    file.set("qwen2.logit_scale", 0.5f);
    CHECK(
        says(message_of_gguf(config_of(file)), "qwen2.logit_scale is 0.5, which Headlight does not compute"));
}

TEST_CASE("GGUF: files that hold no model are refused by what they hold") {
    GgufBytes file = decoder_header("llama"), adapter = file;
    file.set("general.type", std::string("model"));
    CHECK(config_of(file));
    adapter.set("general.type", std::string("adapter"));
    CHECK(says(message_of_gguf(config_of(adapter)), "holds \"adapter\" (general.type), not a model"));
}

TEST_CASE("GGUF: biases are those that are stored") {
    for (const char* architecture : {"llama", "qwen3", "gemma"}) {
        CAPTURE(architecture);
        GgufBytes file = decoder_header(architecture);
        const auto without = config_of(file);
        REQUIRE(without);
        const LayerSpec& plain = without->stacks[0].layers[0];
        CHECK((!plain.attention.bias && !plain.attention.output_bias && !plain.mlp.bias &&
               !without->logits_bias));
        file.tensor("blk.1.attn_k.bias", 1, 8, 4096);
        file.tensor("output.bias", 1, 8, 8192);
        const auto with = config_of(file);
        REQUIRE(with);
        const LayerSpec& biased = with->stacks[0].layers[0];
        CHECK((biased.attention.bias && !biased.attention.output_bias && !biased.mlp.bias &&
               with->logits_bias));
    }
}

TEST_CASE("GGUF: llama.cpp's defaults for missing entries, and older spellings") {
    GgufBytes file = decoder_header("qwen2");
    const auto plain = config_of(file);
    REQUIRE(plain);
    CHECK((plain->stacks[0].layers[0].attention.rope.theta == 10000 &&
           plain->stacks[0].layers[0].attention.rope.scaling == RopeScaling::none));
    for (const char* key : {"qwen2.rope.scale_linear", "qwen2.rope.scaling.factor"}) {
        GgufBytes scaled = file;
        scaled.set(key, 4.0f);
        const auto config = config_of(scaled);
        REQUIRE(config);
        CHECK((config->stacks[0].layers[0].attention.rope.scaling == RopeScaling::linear &&
               config->stacks[0].layers[0].attention.rope.factor == 4));
        scaled.set("qwen2.rope.scaling.type", std::string("none"));
        CHECK(config_of(scaled)->stacks[0].layers[0].attention.rope.scaling == RopeScaling::none);
    }
    GgufBytes unscaled = file;
    unscaled.set("qwen2.rope.scaling.type", std::string("linear"));
    unscaled.set("qwen2.rope.scaling.factor", 0.0f);
    CHECK(config_of(unscaled)->stacks[0].layers[0].attention.rope.scaling == RopeScaling::none);
    GgufBytes yarn = file;
    yarn.set("qwen2.rope.scaling.type", std::string("yarn"));
    yarn.set("qwen2.rope.scaling.factor", 4.0f);
    const double usual = config_of(yarn)->stacks[0].layers[0].attention.rope.attention_factor;
    yarn.set("qwen2.rope.scaling.attn_factor", 0.5f);
    CHECK(config_of(yarn)->stacks[0].layers[0].attention.rope.attention_factor == doctest::Approx(usual / 2));
    GgufBytes both_ways = file;
    both_ways.set("qwen2.attention.causal", false);
    CHECK(!config_of(both_ways)->stacks[0].causal);
}

TEST_CASE("GGUF: lists of head counts, and missing sizes") {
    const auto header = [](const std::string& left_out) {
        GgufBytes out;
        out.set("general.architecture", std::string("llama"));
        for (const auto& [key, value] : {std::pair<const char*, uint32_t>{"embedding_length", 160},
                                         {"block_count", 2},
                                         {"attention.head_count", 2},
                                         {"feed_forward_length", 64},
                                         {"context_length", 64}})
            if (key != left_out) out.set(std::string("llama.") + key, value);
        out.tensor("token_embd.weight", 3, 160, 0);
        return out;
    };
    const auto alone = config_of(header(""));
    REQUIRE(alone);
    CHECK(alone->kv_heads(0) == 2);
    for (const char* key : {"embedding_length", "block_count", "attention.head_count", "context_length"})
        CHECK(says(message_of_gguf(config_of(header(key))), std::string("does not say its llama.") + key));
    GgufBytes alike = header("attention.head_count"), unlike = alike;
    alike.set("llama.attention.head_count", std::vector<uint32_t>{2, 2});
    CHECK(config_of(alike)->heads(0) == 2);
    unlike.set("llama.attention.head_count", std::vector<uint32_t>{2, 4});
    CHECK(says(message_of_gguf(config_of(unlike)), "llama.attention.head_count differs between layers"));
}
