// Tests configurations, tokenizers and GGUF headers with values of the wrong type, or missing ones.
#include "base/check.h"
#include "gguf_bytes.h"
#include "helpers.h"
#include "tokenizer/files.h"
#include "tokenizer/gguf_tokenizer.h"

using namespace headlight;
namespace fs = std::filesystem;

namespace {

std::string problem_of(const Json& config) {
    const auto parsed = parse_config(config, "x");
    return parsed ? "" : parsed.error().message;
}

}  // namespace

TEST_CASE("values of another type and unknown names are refused by key") {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"model_type":"gpt2","n_head":null})", "n_head"},
        {R"({"model_type":"gpt2","n_layer":null})", "n_layer"},
        {R"({"model_type":"gpt2","n_embd":"768"})", "n_embd"},
        {R"({"model_type":"gpt2","n_inner":[]})", "n_inner"},
        {R"({"model_type":"gpt2","scale_attn_weights":null})", "scale_attn_weights"},
        {R"({"model_type":"gpt2","pad_token_id":"0"})", "pad_token_id"},
        {R"({"model_type":"gpt2","eos_token_id":"2"})", "eos_token_id"},
        {R"({"model_type":"gpt2","eos_token_id":[2,[true]]})", "eos_token_id"},
        {R"({"model_type":"gpt2","eos_token_id":18446744073709551615})", "eos_token_id"},
        {R"({"model_type":"gpt2","layer_norm_epsilon":1e300})", "layer_norm_epsilon"},
        {R"({"model_type":"llama","rope_parameters":[]})", "rope_parameters"},
        {R"({"model_type":"llama","rope_scaling":"linear"})", "rope_scaling"},
        {R"({"model_type":"llama","rope_theta":null})", "rope_theta"},
        {R"({"model_type":"llama","rope_parameters":{"rope_theta":1e4,"rope_type":null}})", "rope_type"},
        {R"({"model_type":"llama","rope_parameters":{"rope_type":"linear","factor":[2]}})", "factor"},
        {R"({"model_type":"phi","partial_rotary_factor":-0.5})", "partial_rotary_factor"},
        {R"({"model_type":"phi","partial_rotary_factor":1.5})", "partial_rotary_factor"},
        {R"({"model_type":"mistral","num_key_value_heads":null})", "num_key_value_heads"},
        {R"({"model_type":"gemma2","sliding_window":null})", "sliding_window"},
        {R"({"model_type":"gemma2","num_hidden_layers":2,"layer_types":["sliding_attention","ful_attention"]})",
         "layer_types"},
        {R"({"model_type":"gemma2","num_hidden_layers":2,"layer_types":["sliding_attention",1]})",
         "layer_types"},
        {R"({"model_type":"gemma2","layer_types":{}})", "layer_types"},
        {R"({"model_type":"gemma4_text","num_kv_shared_layers":30})", "num_kv_shared_layers"},
        {R"({"model_type":"gemma4_text","num_kv_shared_layers":26})", "num_kv_shared_layers"},
        {R"({"model_type":"gemma4_text","enable_moe_block":true,"num_experts":4})", "top_k_experts"},
        {R"({"model_type":"gemma4_text","per_layer_config":{"30":{}}})", "per_layer_config"},
        {R"({"model_type":"gemma4_text","per_layer_config":{"5":{"head_dim":8}}})", "per_layer_config"},
        {R"({"model_type":"gemma4_text","vocab_size_per_layer_input":9})", "vocab_size_per_layer_input"},
        {R"({"model_type":"gemma4_text","use_bidirectional_attention":"no"})", "use_bidirectional_attention"},
        {R"({"model_type":"gemma3n_text","altup_active_idx":4})", "altup_active_idx"},
        {R"({"model_type":"gemma3n_text","num_kv_shared_layers":32})", "num_kv_shared_layers"},
        {R"({"model_type":"gemma3n_text","intermediate_size":[8,8]})", "intermediate_size"},
        {R"({"model_type":"gemma3n_text","activation_sparsity_pattern":0.95})",
         "activation_sparsity_pattern"},
        {R"({"model_type":"gemma3n_text","activation_sparsity_pattern":[1]})", "activation_sparsity_pattern"},
        {R"({"model_type":"modernbert","rope_parameters":{"full_attention":7}})", "full_attention"},
        {R"({"model_type":"vit","id2label":["cat","dog"]})", "id2label"},
        {R"({"model_type":"vit","id2label":{"0":"cat","1":2}})", "id2label"},
        {R"({"model_type":"bart","decoder_start_token_id":null})", "decoder_start_token_id"},
    };
    for (const auto& wrong : cases) {
        CAPTURE(wrong.first);
        CHECK(says(problem_of(Json::parse(wrong.first)), wrong.second));
    }
}

TEST_CASE(
    "a null counts as missing where the class's default is None, and keys that are not read never matter") {
    const auto same = [](const char* with, const char* without) {
        CAPTURE(with);
        const auto a = parse_config(Json::parse(with), "x"), b = parse_config(Json::parse(without), "x");
        REQUIRE(a);
        REQUIRE(b);
        CHECK(*a == *b);
    };
    same(
        R"({"model_type":"gpt2","n_inner":null,"pad_token_id":null,"summary_type":[1],"n_ctx":null,"dtype":7})",
        R"({"model_type":"gpt2"})");
    same(
        R"({"model_type":"llama","num_key_value_heads":null,"head_dim":null,"rope_scaling":null,"rope_parameters":null,"layer_types":3})",
        R"({"model_type":"llama"})");
    same(R"({"model_type":"qwen2","layer_types":null,"sliding_window":null})", R"({"model_type":"qwen2"})");
    same(R"({"model_type":"qwen2","num_attention_heads":16,"hidden_size":64,"num_key_value_heads":null})",
         R"({"model_type":"qwen2","num_attention_heads":16,"hidden_size":64,"num_key_value_heads":16})");
    same(R"({"model_type":"opt","word_embed_proj_dim":null})", R"({"model_type":"opt"})");
    same(R"({"model_type":"marian","decoder_vocab_size":null})", R"({"model_type":"marian"})");
    same(R"({"model_type":"t5","num_decoder_layers":null,"decoder_start_token_id":null})",
         R"({"model_type":"t5"})");
    same(R"({"model_type":"bart","eos_token_id":[2,7]})",
         R"({"model_type":"bart","eos_token_id":[2,7],"architectures":null})");
}

TEST_CASE("end and start tokens are read with their types") {
    GenerationConfig rules;
    CHECK(parse_generation_config(
        Json::parse(
            R"({"eos_token_id":[1,2],"suppress_tokens":[-1,7],"bad_words_ids":[[4],[5,6]],"forced_bos_token_id":null})"),
        "x", rules));
    CHECK((rules.eos_token_ids == std::vector{1, 2} && rules.suppress_tokens == std::vector{4, 7} &&
           rules.forced_bos_token_id == -1));
    for (const char* wrong :
         {R"({"eos_token_id":1.5})", R"({"suppress_tokens":["a"]})", R"({"bad_words_ids":[[4,"x"]]})",
          R"({"forced_bos_token_id":{}})", R"({"eos_token_id":true})"})
        CHECK(!parse_generation_config(Json::parse(wrong), "x", rules));
}

TEST_CASE("preprocessor_config.json is read with its types") {
    VisionConfig vision;
    CHECK(parse_preprocessor(
        Json::parse(R"({"resample":3,"image_mean":null,"do_rescale":null,"size":"any"})"), "x", vision));
    CHECK(vision.resampling == Resampling::bicubic);
    for (const char* wrong :
         {R"({"resample":1})", R"({"resample":"bicubic"})", R"({"image_mean":0.5})",
          R"({"image_mean":[1,2,1e300]})", R"({"image_std":[1,0,1]})", R"({"do_normalize":"yes"})"})
        CHECK(!parse_preprocessor(Json::parse(wrong), "x", vision));
}

TEST_CASE(
    "tokenizer files: values of another type are refused, null where the library allows none is missing") {
    Json tokenizer = *read_json(kTests / "reference/models/bert/tokenizer.json");
    const auto opens = [&](const char* at, const Json& value) {
        Json changed = tokenizer;
        changed[Json::json_pointer(at)] = value;
        return static_cast<bool>(Tokenizer::parse(changed.dump(), "x"));
    };
    CHECK(opens("/normalizer/strip_accents", nullptr));
    CHECK(opens("/decoder", nullptr));
    CHECK(opens("/truncation", 5));
    CHECK(!opens("/normalizer/clean_text", nullptr));
    CHECK(!opens("/normalizer/lowercase", "true"));
    CHECK(!opens("/decoder", 5));
    CHECK(!opens("/post_processor/single/1/Sequence/id", "C"));
    CHECK(!opens("/post_processor/special_tokens/[CLS]/tokens", "[CLS]"));
    CHECK(!opens("/post_processor/special_tokens/[CLS]/tokens", Json::array({7})));
    TemporaryFolder folder;
    write_bytes(folder.path / "vocab.txt", "[UNK]\ncat\n[CLS]\n[SEP]\n");
    const auto flags = [&](const char* config) {
        write_bytes(folder.path / "tokenizer_config.json", config);
        return static_cast<bool>(open_tokenizer_files(folder.path));
    };
    CHECK(flags(R"({"do_lower_case":false,"strip_accents":null,"added_tokens_decoder":{}})"));
    CHECK(!flags(R"({"added_tokens_decoder":3})"));
    CHECK(!flags(R"({"added_tokens_decoder":{"x":{"content":"y"}}})"));
    CHECK(!flags(R"({"unk_token":3})"));
    CHECK(!flags(R"({"do_lower_case":"false"})"));
    CHECK(!flags(R"({"do_lower_case":null})"));
    CHECK(!flags(R"(["do_lower_case"])"));
}

TEST_CASE("head_dim counts only in classes that read it, so that fused projections are split correctly") {
    for (const char* family :
         {"gpt2", "bloom", "bert", "roberta", "albert", "electra", "distilbert", "opt", "marian", "bart"}) {
        CAPTURE(family);
        Json config = *read_json(kTests / "reference/models" / family / "config.json");
        const auto plain = parse_config(config, "x");
        REQUIRE(plain);
        for (const Json& other : {Json(6), Json(16384), Json("x"), Json()}) {
            config["head_dim"] = other;
            const auto same = parse_config(config, "x");
            CHECK((same && *same == *plain));
        }
    }
    for (const char* family : {"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi", "vit"}) {
        CAPTURE(family);
        const auto read = parse_config({{"model_type", family}, {"head_dim", 48}}, "x");
        CHECK((read && read->d_head(0) == 48));
        CHECK(problem_of({{"model_type", family}, {"head_dim", "48"}}) != "");
    }
    CHECK(problem_of({{"model_type", "qwen3"}, {"head_dim", nullptr}}) != "");  // an int in its class
    CHECK(says(problem_of({{"model_type", "gpt2"}, {"n_embd", 100}, {"n_head", 12}, {"head_dim", 12}}),
               "divide"));
}

TEST_CASE("a GPT-2 with its own head_dim gives the same outputs as one without") {
    TemporaryFolder folder;
    for (const char* file : {"model.safetensors", "tokenizer.json"})
        fs::copy(kTests / "reference/models/gpt2" / file, folder.path / file);
    Json config = *read_json(kTests / "reference/models/gpt2/config.json");
    config["head_dim"] = 6;
    write_bytes(folder.path / "config.json", config.dump());
    const auto model = Model::open(folder.path);
    REQUIRE(model);
    ThreadPool pool(1);
    CHECK(trace_of(*model, {1, 5, 9}, pool)->normalized().all() ==
          trace_of(reference_model("gpt2"), {1, 5, 9}, pool)->normalized().all());
}

TEST_CASE("a slice of a matrix is bounded by the matrix") {
    abort_on_failed_check(false);
    const float weight[6] = {}, bias[3] = {};
    const Linear matrix = Linear::of_floats(weight, bias, 2, 3, WeightLayout::out_in);
    CHECK(matrix.columns(1, 2).out == 2);
    for (const auto& [first, count] : {std::pair(0, 4), {2, 2}, {-1, 2}, {4, 0}, {1, -1}})
        CHECK_THROWS_AS((void)matrix.columns(first, count), CheckFailed);
    abort_on_failed_check(true);
}

TEST_CASE("GGUF: tensors that share bytes or a name are refused") {
    const auto opens = [](uint64_t second, const char* name) {
        GgufBytes file;
        file.tensor("a", 2, 8, 0);  // 64 bytes
        file.tensor(name, 2, 8, second);
        return static_cast<bool>(parsed(file.bytes()));
    };
    CHECK(opens(64, "b"));
    CHECK(!opens(32, "b"));
    CHECK(!opens(0, "b"));
    CHECK(!opens(64, "a"));
}

TEST_CASE(
    "GGUF without key_length: a head is embedding_length / head_count wide, and "
    "rope.dimension_count of it rotate") {
    for (const char* architecture : {"phi2", "qwen3", "gemma", "llama"}) {
        CAPTURE(architecture);
        GgufBytes file = decoder_header(architecture);
        const auto whole = config_of(file);
        REQUIRE(whole);
        CHECK((whole->d_head(0) == 80 && whole->attention(0).rope.dims == 80));
        file.set(std::string(architecture) + ".rope.dimension_count", 32u);
        const auto part = config_of(file);
        REQUIRE(part);
        CHECK((part->d_head(0) == 80 && part->attention(0).rope.dims == 32));
    }
    for (const uint32_t wrong : {0u, 31u, 82u}) {
        GgufBytes file = decoder_header("phi2");
        file.set("phi2.rope.dimension_count", wrong);
        CHECK(!config_of(file));
    }
}

TEST_CASE("GGUF: entries of another type are refused") {
    const auto opens = [](const char* key, const auto& value) {
        GgufBytes file = decoder_header("llama");
        file.set(key, value);
        return static_cast<bool>(config_of(file));
    };
    CHECK(opens("llama.rope.freq_base.unread", std::string("x")));
    CHECK(!opens("llama.rope.freq_base", std::string("10000")));
    CHECK(!opens("llama.rope.dimension_count", std::string("80")));
    CHECK(!opens("llama.rope.scaling.type", 3u));
    CHECK(!opens("tokenizer.ggml.eos_token_id", std::string("2")));
    CHECK(!opens("llama.rope.scaling.attn_factor", std::string("2")));
    const auto tokenizes = [](const char* key, const auto& value) {
        GgufBytes file;
        file.set("tokenizer.ggml.model", std::string("bert"));
        file.set("tokenizer.ggml.tokens", std::vector<std::string>{"[UNK]", "[CLS]", "[SEP]", "▁cat"});
        file.set(key, value);
        const std::string bytes = file.bytes();
        return static_cast<bool>(gguf_tokenizer(*parsed(bytes), "x.gguf"));
    };
    CHECK(tokenizes("tokenizer.ggml.cls_token_id", 1u));
    CHECK(tokenizes("tokenizer.ggml.cls_token_id", 0xFFFFFFFFu));
    CHECK(!tokenizes("tokenizer.ggml.cls_token_id", 4u));
    CHECK(!tokenizes("tokenizer.ggml.cls_token_id", std::string("1")));
    CHECK(!tokenizes("tokenizer.ggml.token_type", std::vector<std::string>{"1", "1", "1", "1"}));
}

TEST_CASE("a family that is not known is refused by what its configuration needs") {
    const auto refused = [](Json config, const char* type) {
        config["model_type"] = type;
        const auto parsed = parse_config(config, "config.json");
        REQUIRE(!parsed);
        return parsed.error().message;
    };
    CHECK(says(refused({{"state_size", 16}}, "some_ssm"), "needs state spaces, which"));
    CHECK(says(refused({{"lru_width", 8}, {"conv_L_cache", 3}}, "some_mix"),
               "recurrent layers, short convolutions"));
    CHECK(says(refused({{"lru_width", 0}}, "other"), "is not one that Headlight computes"));
    CHECK(says(refused({}, "other"), "headlight.trace"));
}
