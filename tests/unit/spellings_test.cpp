// Tests what config.json may say in several ways, against transformers 5.
#include "helpers.h"
#include "model/rope.h"

using namespace headlight;

namespace {

Result<ModelConfig> spelled_config(const std::string& family, const std::string& rest) {
    const std::string small =
        R"("hidden_size":72,"num_attention_heads":6,"num_hidden_layers":1,"intermediate_size":8,"vocab_size":9,"max_position_embeddings":64,"num_key_value_heads":6)";
    return parse_config(
        Json::parse(R"({"model_type":")" + family + R"(",)" + small + (rest.empty() ? "" : ",") + rest + "}"),
        "x");
}

Rope spelled_rope(const std::string& family, const std::string& rest) {
    CAPTURE(rest);
    const auto config = spelled_config(family, rest);
    REQUIRE_MESSAGE(config, (config ? "" : config.error().message));
    return config->stacks[0].layers[0].attention.rope;
}

std::string spelled_problem(const std::string& family, const std::string& rest) {
    const auto config = spelled_config(family, rest);
    return config ? "" : config.error().message;
}

bool tells(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("rotary positions: which spelling of theta counts") {
    const std::pair<const char*, double> cases[] = {
        {"", 10000},
        {R"("rope_theta":500)", 500},
        {R"("rope_parameters":{},"rope_theta":500)", 500},
        {R"("rope_parameters":{"rope_type":"default"},"rope_theta":500)", 500},
        {R"("rope_parameters":{"rope_theta":300},"rope_theta":500)", 300},
        {R"("rope_scaling":{"rope_type":"linear","factor":2},"rope_theta":500)", 500},
        {R"("rope_scaling":{"rope_type":"linear","factor":2,"rope_theta":700},"rope_theta":500)", 700},
        {R"("rope_scaling":{"type":"default"},"rope_parameters":{"rope_theta":300},"rope_theta":500)", 500},
        {R"("rope_scaling":{},"rope_parameters":{"rope_theta":300})", 300},
        {R"("rotary_emb_base":500)", 10000},  // only GPT-NeoX's
    };
    for (const auto& [rest, theta] : cases) CHECK(spelled_rope("llama", rest).theta == theta);
    CHECK(spelled_rope("gpt_neox", R"("rotary_emb_base":500,"rope_theta":300)").theta == 500);
    CHECK(spelled_rope("gpt_neox", R"("rotary_emb_base":500,"rope_parameters":{"rope_theta":300})").theta ==
          300);
}

TEST_CASE("rotary positions: which scaling counts, and what it needs") {
    const Rope both = spelled_rope(
        "llama",
        R"("rope_parameters":{"rope_type":"default"},"rope_scaling":{"type":"default","rope_type":"linear","factor":4})");
    CHECK((both.scaling == RopeScaling::linear && both.factor == 4));
    const std::string llama3 =
        R"("rope_parameters":{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4)";
    CHECK(spelled_rope("llama", llama3 + "}").original_context == 64);
    CHECK(spelled_rope("llama", llama3 + R"(,"original_max_position_embeddings":16})").original_context ==
          16);
    CHECK(spelled_rope(
              "llama",
              llama3 + R"(,"original_max_position_embeddings":16},"original_max_position_embeddings":32)")
              .original_context == 32);
    const Rope yarn = spelled_rope(
        "llama",
        R"("rope_scaling":{"type":"yarn","factor":null,"original_max_position_embeddings":16,"beta_fast":0,"mscale":1,"mscale_all_dim":0})");
    CHECK((yarn.factor == 4 && yarn.beta_fast == 32));
    CHECK(yarn.attention_factor == doctest::Approx(0.1 * std::log(4) + 1));
    CHECK(tells(spelled_problem("llama", R"("rope_scaling":{"type":"linear"})"), "\"factor\""));
    CHECK(
        tells(spelled_problem("llama", R"("rope_scaling":{"type":"llama3","factor":8,"high_freq_factor":4})"),
              "low_freq_factor"));
    CHECK(tells(spelled_problem("qwen2", R"("rope_parameters":{"full_attention":{"rope_theta":5}})"),
                "full_attention"));
    CHECK(spelled_rope("llama", R"("rope_parameters":{"full_attention":{"rope_theta":5}})").theta == 10000);
}

TEST_CASE("ModernBERT: each layer type has its own rotary positions") {
    const std::string bert = R"("hidden_activation":"gelu",)";
    const auto ropes = [&](const std::string& rest) {
        const auto config = spelled_config("modernbert", R"("num_hidden_layers":2,)" + rest);
        REQUIRE_MESSAGE(config, (config ? "" : config.error().message));
        const std::vector<LayerSpec>& layers = config->stacks[0].layers;
        REQUIRE((layers[0].attention.window == 0 && layers[1].attention.window > 0));
        return std::pair(layers[0].attention.rope, layers[1].attention.rope);
    };
    const auto plain = ropes(R"("global_rope_theta":900)");
    CHECK((plain.first.theta == 900 && plain.second.theta == 10000));
    const auto half = ropes(
        R"("rope_parameters":{"full_attention":{"rope_type":"linear","factor":2}},"global_rope_theta":900,"local_rope_theta":70)");
    CHECK((half.first.theta == 900 && half.first.factor == 2 && half.second.theta == 70));
    const auto scaled = ropes(R"("rope_scaling":{"rope_type":"linear","factor":3})");
    CHECK((scaled.first.factor == 3 && scaled.second.factor == 3));
    const auto flat = ropes(R"("rope_parameters":{"rope_type":"linear","factor":3})");
    CHECK((flat.first.scaling == RopeScaling::none && flat.first.theta == 160000));
}

TEST_CASE("an odd share of a head rotates in pairs, with the frequencies of the odd number") {
    const Rope neox = spelled_rope("gpt_neox", "");  // a quarter of 12
    CHECK((neox.dims == 4 && neox.odd));
    const std::vector<float> frequencies = rope_frequencies(neox, 5);
    REQUIRE(frequencies.size() == 2);
    CHECK(frequencies[0] == 1);
    CHECK(frequencies[1] == doctest::Approx(std::pow(10000.0, -2.0 / 3)));
    CHECK(spelled_rope("gpt_neox", R"("rotary_pct":0.6)").dims == 8);   // 7 of 12
    CHECK(spelled_rope("gpt_neox", R"("head_dim":20)").dims == 6);      // 5, of a head_dim that counts here
    CHECK(spelled_rope("gpt_neox", R"("rotary_pct":0.05)").dims == 0);  // no pair rotates
    CHECK(spelled_rope("phi", R"("rope_parameters":{"partial_rotary_factor":0.34})").dims == 4);
    CHECK(tells(spelled_problem("phi", R"("partial_rotary_factor":0.25)"), "3 of the 12"));
    CHECK(tells(spelled_problem("gpt_neox", R"("rotary_pct":1.1)"), "13 of the 12"));
    // its class rotates whole heads
    CHECK(spelled_rope("llama", R"("partial_rotary_factor":0.5)").dims == 12);
    CHECK(tells(spelled_problem("llama",
                                R"("partial_rotary_factor":0.5,"rope_scaling":{"type":"linear","factor":2})"),
                "6 of the 12"));
    CHECK(spelled_rope("gpt_neox", R"("rope_scaling":{"type":"yarn","factor":2})").dims == 4);
    CHECK(tells(spelled_problem("gpt_neox", R"("rotary_pct":0.45,"rope_scaling":{"type":"yarn","factor":2})"),
                "5 of the 12"));
}

TEST_CASE("a BERT that is_decoder reads as a decoder does") {
    for (const char* family : {"bert", "roberta", "xlm-roberta", "camembert", "electra"}) {
        CAPTURE(family);
        const auto decoder = spelled_config(family, R"("is_decoder":true)");
        REQUIRE(decoder);
        CHECK((decoder->stacks[0].causal && decoder->can.continue_text && !decoder->can.fill_masks));
        const auto encoder = spelled_config(family, R"("is_decoder":false)");
        REQUIRE(encoder);
        CHECK((!encoder->stacks[0].causal && encoder->can.fill_masks));
        CHECK(tells(spelled_problem(family, R"("is_decoder":true,"add_cross_attention":true)"),
                    "add_cross_attention"));
    }
    for (const char* family : {"albert", "distilbert", "modernbert"})  // their classes read no is_decoder
        CHECK(!spelled_config(family, R"("is_decoder":true)")->stacks[0].causal);
    CHECK(tells(spelled_problem("gpt2", R"("add_cross_attention":true)"), "add_cross_attention"));
}

TEST_CASE("a T5's encoder alone is an encoder, halves of BART are refused") {
    const auto parsed = [](const char* text) { return parse_config(Json::parse(text), "x"); };
    for (const char* text :
         {R"({"model_type":"t5","architectures":["T5EncoderModel"]})",
          R"({"model_type":"mt5","architectures":["MT5EncoderModel"],"is_encoder_decoder":true})",
          R"({"model_type":"t5","architectures":["T5ForTokenClassification"]})",
          R"({"model_type":"t5","is_encoder_decoder":false})"}) {
        CAPTURE(text);
        const auto config = parsed(text);
        REQUIRE(config);
        CHECK((config->kind == ModelKind::encoder && config->stacks.size() == 1 &&
               config->blocks() == 6 + (config->family == "mt5" ? 2 : 0)));
        CHECK(config->stacks[0].name == "encoder");
    }
    CHECK(
        parsed(
            R"({"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":false})")
            ->stacks.size() == 2);
    for (const char* text : {R"({"model_type":"bart","architectures":["BartForCausalLM"]})",
                             R"({"model_type":"marian","architectures":["MarianForCausalLM"]})"}) {
        CAPTURE(text);
        const auto config = parsed(text);
        REQUIRE(config);
        CHECK((config->kind == ModelKind::decoder && config->stacks.size() == 1));
        CHECK((!config->stacks[0].cross() && !config->stacks[0].layers[0].second));
    }
    for (const char* text : {R"({"model_type":"bart","architectures":["BartEncoder"]})",
                             R"({"model_type":"bart","is_encoder_decoder":false})"}) {
        CAPTURE(text);
        const auto config = parsed(text);
        REQUIRE(!config);
        CHECK(tells(config.error().message, "one half of an encoder–decoder"));
    }
}

TEST_CASE("mT5 and RoBERTa's relatives have their classes' defaults") {
    const auto mt5 = parse_config(Json{{"model_type", "mt5"}}, "x");
    REQUIRE(mt5);
    CHECK((mt5->vocab == 250112 && mt5->stacks[0].layers[0].mlp.width == 1024 &&
           mt5->stacks[0].depth() == 8 && mt5->heads(0) == 6 && mt5->stacks[0].layers[0].mlp.gated &&
           mt5->logit_scale == 1));
    for (const char* family : {"xlm-roberta", "camembert"})
        CHECK(parse_config(Json{{"model_type", family}}, "x")->vocab == 30522);
    CHECK(parse_config(Json{{"model_type", "roberta"}}, "x")->vocab == 50265);
}

TEST_CASE("of two names of one value transformers' choice counts") {
    const auto layers = [](const char* text) {
        return parse_config(Json::parse(text), "x")->stacks[0].depth();
    };
    CHECK(layers(R"({"model_type":"gpt2","n_layer":2,"num_hidden_layers":3})") == 3);
    CHECK(layers(R"({"model_type":"gpt2","num_hidden_layers":3})") == 3);
    CHECK(layers(R"({"model_type":"distilbert","n_layers":2,"num_hidden_layers":3})") == 3);
    CHECK(layers(R"({"model_type":"bart","encoder_layers":2,"num_hidden_layers":3})") == 3);
    CHECK(layers(R"({"model_type":"t5","num_layers":2,"num_hidden_layers":3})") == 3);
    CHECK(
        parse_config(Json::parse(R"({"model_type":"bloom","hidden_size":64,"n_embed":128})"), "x")->d_model ==
        128);
}

TEST_CASE("a text ends as the class says, unless the file says otherwise") {
    const auto ends = [](const char* text) {
        return parse_config(Json::parse(text), "x")->generation.eos_token_ids;
    };
    CHECK(ends(R"({"model_type":"gpt2"})") == std::vector{50256});
    CHECK(ends(R"({"model_type":"gpt2","eos_token_id":null})").empty());
    CHECK(ends(R"({"model_type":"llama"})") == std::vector{2});
    CHECK(ends(R"({"model_type":"llama","eos_token_id":[5,6]})") == std::vector{5, 6});
    CHECK(ends(R"({"model_type":"qwen2"})").empty());
}

TEST_CASE("Gemma has its own defaults, and its gelu is the tanh form") {
    const auto first = parse_config(Json{{"model_type", "gemma"}}, "x"),
               second = parse_config(Json{{"model_type", "gemma2"}}, "x");
    REQUIRE((first && second));
    CHECK((first->d_model == 3072 && first->heads(0) == 16 && first->layers() == 28));
    CHECK((second->d_model == 2304 && second->heads(0) == 8 && second->layers() == 26));
    for (const char* name : {"gelu", "gelu_new"})
        CHECK(parse_config(Json{{"model_type", "gemma"}, {"hidden_act", name}}, "x")
                  ->stacks[0]
                  .layers[0]
                  .mlp.activation == Activation::gelu_tanh);
}
