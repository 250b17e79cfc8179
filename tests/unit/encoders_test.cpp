// Tests what encoders with BERT's layers, and encoder–decoders with BART's, have of their own.
#include "helpers.h"
#include "model/loading/made_tensors.h"
#include "model/sequence.h"
#include "model/sinusoids.h"

using namespace headlight;

namespace {

Result<ModelConfig> encoder_config(const std::string& family, const std::string& rest) {
    return parse_config(
        Json::parse(R"({"model_type":")" + family + R"(","num_hidden_layers":2,)" + rest + "}"), "x");
}

std::string encoder_problem(const std::string& family, const std::string& rest) {
    const auto config = encoder_config(family, rest);
    return config ? "" : config.error().message;
}

}  // namespace

TEST_CASE("BigBird: the context ends where random blocks begin, the table of positions does not") {
    for (const char* family : {"big_bird", "bigbird_pegasus"}) {
        CAPTURE(family);
        const auto sparse = encoder_config(family, R"("num_random_blocks":2,"block_size":16)"),
                   full = encoder_config(family, R"("attention_type":"original_full")");
        REQUIRE((sparse && full));
        CHECK(sparse->context == (5 + 2 * 2) * 16);
        CHECK(sparse->position_rows(sparse->stacks[0]) == 4096);
        CHECK(full->context == 4096);
    }
}

TEST_CASE("Longformer: one window for all layers, or one for each") {
    const auto one = encoder_config("longformer", R"("attention_window":6)"),
               each = encoder_config("longformer", R"("attention_window":[4,8])");
    REQUIRE((one && each));
    CHECK(one->stacks[0].layers[1].attention.window == 4);  // itself and 3 to either side
    CHECK(each->stacks[0].layers[0].attention.window == 3);
    CHECK(each->stacks[0].layers[1].attention.window == 5);
}

TEST_CASE("configurations of encoders that no pass computes are refused in a sentence") {
    const std::tuple<const char*, const char*, const char*> cases[] = {
        {"ibert", R"("quant_mode":true)", "quant_mode"},
        {"roformer", R"("rotary_value":true)", "rotary_value"},
        {"mpnet", R"("relative_attention_num_buckets":16)", "32 buckets"},
        {"longformer", R"("attention_window":[4])", "2 layers"},
        {"longformer", R"("attention_window":5)", "no halves"},
        {"big_bird", R"("attention_type":"other")", "original_full"},
        {"esm", R"("position_embedding_type":"relative_key")", "absolute or rotary"},
        {"squeezebert", R"("layer_norm_eps":0.001)", "1e-12"},
        {"squeezebert", R"("embedding_size":64)", "hidden_size"}};
    for (const auto& [family, rest, part] : cases)
        CHECK(encoder_problem(family, rest).find(part) != std::string::npos);
}

TEST_CASE("M2M100's sinusoids: the slowest turns by 1/10000, the padding id's row is 0") {
    const auto config = encoder_config("m2m_100", R"("d_model":64)");
    REQUIRE(config);
    CHECK(config->position_offset == 2);
    const Matrix rows = position_waves(*config, 64, 0, 4);
    CHECK(rows.row(1).norm() == 0);
    CHECK(rows(2, 0) == doctest::Approx(std::sin(2.0)));
    CHECK(rows(3, 31) == doctest::Approx(std::sin(3.0 / 10000)));
    CHECK(rows(3, 63) == doctest::Approx(std::cos(3.0 / 10000)));
}

TEST_CASE("ESM: masks embed as 0, and the other tokens make up for them") {
    const auto config = encoder_config("esm", R"("token_dropout":true,"mask_token_id":32)");
    REQUIRE(config);
    Sequence text;
    text.ids = {5, 32, 6, 7};
    const std::vector<float> scales = embedding_scales(*config, text);
    CHECK(scales[1] == 0);
    CHECK(scales[0] == doctest::Approx(0.88 / 0.75));
}

TEST_CASE("SqueezeBERT's groups: each block of outputs reads its block of inputs") {
    WeightStore store = WeightStore::of_files({}, "x", false);
    const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};  // 4 outputs of 2 inputs each
    const Linear w = block_diagonal(store, values, 4, 4, 2);
    float row[4];
    w.read(1, 0, 4, row);
    CHECK((row[0] == 3 && row[1] == 4 && row[2] == 0 && row[3] == 0));
    w.read(2, 0, 4, row);
    CHECK((row[0] == 0 && row[1] == 0 && row[2] == 5 && row[3] == 6));
}
