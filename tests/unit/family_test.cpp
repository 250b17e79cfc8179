// Tests the differences between families on cases computed by hand.
#include <cmath>

#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/comparison/compare.h"
#include "analysis/patching/effects.h"
#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "figure/figure.h"
#include "helpers.h"
#include "model/activation.h"
#include "model/attention.h"
#include "model/input.h"
#include "model/interventions/change.h"
#include "model/loading/config.h"
#include "model/loading/parameters.h"
#include "model/position_scheme.h"
#include "model/rope.h"

using namespace headlight;

TEST_CASE("rotary positions by hand: half-split and interleaved") {
    ThreadPool pool(1);
    Rope rope;
    rope.dims = 4;
    rope.theta = 100;  // frequencies 1 and 1/10
    CHECK(rope_frequencies(rope, 8)[1] == doctest::Approx(0.1));
    const RopeTable table = make_rope_table(rope, 8, 3, 1);  // position 3
    Matrix x(1, 5);
    x << 1, 2, 3, 4, 5;  // the fifth component is not rotated
    apply_rope(rope, table, 1, pool, x);
    CHECK(x(0, 0) == doctest::Approx(std::cos(3.0) - 3 * std::sin(3.0)));
    CHECK(x(0, 2) == doctest::Approx(3 * std::cos(3.0) + std::sin(3.0)));
    CHECK(x(0, 1) == doctest::Approx(2 * std::cos(0.3) - 4 * std::sin(0.3)));
    CHECK(x(0, 4) == 5);
    rope.interleaved = true;
    x << 1, 2, 3, 4, 5;
    apply_rope(rope, table, 1, pool, x);
    CHECK(x(0, 0) == doctest::Approx(std::cos(3.0) - 2 * std::sin(3.0)));
    CHECK(x(0, 3) == doctest::Approx(4 * std::cos(0.3) + 3 * std::sin(0.3)));
}

TEST_CASE(
    "rotary scalings: linear divides, llama3 keeps high frequencies, dynamic applies to long texts, "
    "yarn blends") {
    Rope rope;
    rope.dims = 64;
    rope.original_context = 64;
    const auto plain = rope_frequencies(rope, 32);
    rope.factor = 4;
    rope.scaling = RopeScaling::linear;
    CHECK(rope_frequencies(rope, 32)[7] == doctest::Approx(plain[7] / 4));
    rope.scaling = RopeScaling::llama3;
    CHECK(rope_frequencies(rope, 32)[0] == plain[0]);  // a wave of 2π, shorter than 64 / 4
    CHECK(rope_frequencies(rope, 32)[31] == doctest::Approx(plain[31] / 4));  // longer than 64
    rope.scaling = RopeScaling::dynamic;
    CHECK(rope_frequencies(rope, 64) == plain);
    CHECK(
        rope_frequencies(rope, 128)[31] ==
        doctest::Approx(
            plain[31] /
            5));  // the base grows so that the longest wave stretches by factor · n / context − (factor − 1)
    rope.scaling = RopeScaling::yarn;
    CHECK(rope_frequencies(rope, 32)[31] == doctest::Approx(plain[31] / 4));
}

TEST_CASE("ALiBi slopes: powers of two, with odd ones between if the number of heads is not one") {
    const PositionBias eight = alibi_bias({}, 8, 3);
    CHECK(eight.by_key(0, 2) == doctest::Approx(2 * 0.5));
    CHECK(eight.by_key(7, 1) == doctest::Approx(1.0 / 256));
    const PositionBias six = alibi_bias({}, 6, 2);  // 2^-2, 2^-4, 2^-6, 2^-8, then 2^-1, 2^-3
    CHECK(six.by_key(3, 1) == doctest::Approx(1.0 / 256));
    CHECK(six.by_key(4, 1) == doctest::Approx(0.5));
    CHECK(six.by_key(5, 1) == doctest::Approx(0.125));
    CHECK(alibi_bias({.steepness = 4}, 8, 2).by_key(7, 1) == doctest::Approx(1.0 / 16));  // MPT
    const PositionBias falcon = alibi_bias({.scale = 0.25f, .bfloat16 = true}, 8, 302);
    CHECK(falcon.by_key(0, 301) == 0.25f * 0.5f * 300);  // 301 takes 9 bits
}

TEST_CASE("T5's buckets: exact near, logarithmic far, separate for both directions") {
    Matrix table(32, 1);
    for (int b = 0; b < 32; ++b) table(b, 0) = float(b);
    const auto bucket = [&](int key_minus_query, bool causal) {
        return bucket_bias({32, 128}, table.data(), causal, 1, 200).by_distance(0, key_minus_query + 199);
    };
    CHECK(bucket(0, false) == 0);
    CHECK(bucket(-3, false) == 3);
    CHECK(bucket(3, false) == 19);  // 16 + 3
    CHECK(bucket(-8, false) == 8);
    CHECK(bucket(-100, false) == 15);
    CHECK(bucket(150, false) == 31);
    CHECK(bucket(5, true) == 0);  // a later key
    CHECK(bucket(-15, true) == 15);
    CHECK(bucket(-64, true) == 26);  // 16 + floor(16 · log 4 / log 8)
    CHECK(bucket(-199, true) == 31);
}

TEST_CASE("norms by hand") {
    ThreadPool pool(1);
    Matrix x(1, 2);
    x << 3, 5;
    const float weight[] = {2, 2}, bias[] = {1, 1};
    ModelConfig c;
    c.norm_eps = 0;
    const Matrix layer = apply_norm(c, {weight, bias}, x, pool);
    CHECK(layer(0, 0) == doctest::Approx(-1));
    CHECK(layer(0, 1) == doctest::Approx(3));
    c.norm = NormKind::rms_norm;
    CHECK(apply_norm(c, {weight, nullptr}, x, pool)(0, 1) == doctest::Approx(2 * 5 / std::sqrt(17.0)));
}

TEST_CASE("xIELU is p x² + β x above 0, n (exp x − 1 − x) + β x below, by the parameters of its layer") {
    const float zero = 0, beta = 0.25f, end = -1e-6f;  // softplus(0) = ln 2
    Eigen::ArrayXf x(2);
    x << 2, -1;
    apply_activation(Activation::xielu, {&zero, &zero, &beta, &end}, x);
    const double p = std::log(2.0), n = 0.25 + std::log(2.0);
    CHECK(x[0] == doctest::Approx(4 * p + 0.5));
    CHECK(x[1] == doctest::Approx(n * std::exp(-1.0) - 0.25));
}

TEST_CASE("tables of activations and position schemes follow their enums; each family has a scheme") {
    int place = 0;
    for (const ActivationRow& row : activations()) CHECK(static_cast<int>(row.activation) == place++);
    for (int i = 0; i <= static_cast<int>(PositionScheme::relative); ++i)
        CHECK(static_cast<int>(position_scheme(static_cast<PositionScheme>(i)).scheme) == i);
    const std::pair<const char*, PositionScheme> families[] = {
        {"gpt2", PositionScheme::learned},      {"bert", PositionScheme::learned},
        {"opt", PositionScheme::learned},       {"vit", PositionScheme::learned},
        {"bart", PositionScheme::learned},      {"marian", PositionScheme::sinusoidal},
        {"llama", PositionScheme::rotary},      {"phi", PositionScheme::rotary},
        {"modernbert", PositionScheme::rotary}, {"bloom", PositionScheme::alibi},
        {"t5", PositionScheme::relative}};
    for (const auto& family : families) {
        CAPTURE(family.first);
        CHECK(reference_model(family.first)->config.positions == family.second);
    }
    CHECK((reference_model("vit")->config.can.read_image && reference_model("bert")->config.can.read_pair &&
           reference_model("t5")->config.can.write_target &&
           reference_model("phi")->config.can.continue_text));
}

namespace {
LayerSpec with_heads(int heads) {
    LayerSpec layer;
    layer.attention.heads = layer.attention.kv_heads = heads;
    return layer;
}
}  // namespace

TEST_CASE("blocks of one stack may have different numbers of heads") {
    ModelConfig c;
    c.stacks[0].layers = {with_heads(3), with_heads(1), with_heads(5)};
    c.number_blocks();
    CHECK((c.blocks() == 3 && c.head_count() == 9 && c.max_heads() == 5));
    for (int i = 0; i < c.head_count(); ++i) CHECK(c.head_index(c.head_at(i)) == i);
    CHECK(c.head_at(3) == AttentionHead{1, 0});
    CHECK(c.head_at(4) == AttentionHead{2, 0});
    CHECK((c.has_head({0, 2}) && !c.has_head({1, 1})));
    CHECK(per_stack(c, &AttentionSpec::heads) == "1–5");
}

TEST_CASE("heads are numbered across blocks of different sizes: head_index and head_at are inverse") {
    ModelConfig c;
    c.stacks.assign(2, {});
    c.stacks[0].layers.assign(2, with_heads(2));
    c.stacks[1].layers.assign(3, with_heads(4));
    for (LayerSpec& layer : c.stacks[1].layers) layer.second = layer.attention;
    c.stacks[1].source = 0;
    c.number_blocks();
    CHECK(c.blocks() == 8);
    CHECK(c.head_count() == 2 * 2 + 2 * 3 * 4);
    CHECK(c.max_heads() == 4);
    CHECK(c.head_index({0, 1}) == 1);
    CHECK(c.head_index({1, 1}) == 3);
    CHECK(c.head_index({2, 0}) == 4);   // decoder 0
    CHECK(c.head_index({5, 2}) == 18);  // cross 0
    int next = 0;
    for (int block = 0; block < c.blocks(); ++block)
        for (int head = 0; head < c.heads(block); ++head, ++next) {
            CHECK(c.head_index({block, head}) == next);
            CHECK(c.head_at(next) == AttentionHead{block, head});
        }
    CHECK(next == c.head_count());
    PerHead<int> numbers(c, -1);
    ThreadPool pool(2);
    for_heads(c, pool, [&](AttentionHead h) { numbers[h] = 10 * h.block + h.head; });
    CHECK(isize(numbers) == next);
    for (int i = 0; i < next; ++i) CHECK(numbers[i] == 10 * c.head_at(i).block + c.head_at(i).head);
    abort_on_failed_check(false);
    CHECK_THROWS_AS((numbers[{0, -1}]), CheckFailed);
    CHECK_THROWS_AS((numbers[{8, 0}]), CheckFailed);
    abort_on_failed_check(true);
    CHECK(!c.has_head({1, 2}));
    CHECK(c.has_head({2, 2}));
    CHECK(!c.has_head({8, 0}));
    CHECK(!c.has_head({0, -1}));
}

TEST_CASE(
    "encoder and decoder with different numbers of heads: each block counts its own, in patterns, statistics "
    "and figures") {
    ThreadPool pool(2);
    const auto model = bart_with_heads(2, 4);
    const ModelConfig& c = model->config;
    CHECK(c.head_count() == 2 * 2 + 4 * 4);
    ForwardRequest request = request_of({5, 6, 7});
    request.inputs.push_back(request_of({2, 8}).inputs[0]);
    const auto trace = *run_trace(model, request, pool);
    for (int block = 0; block < c.blocks(); ++block) {
        const int heads = block < 2 ? 2 : 4;
        REQUIRE(c.heads(block) == heads);
        CHECK(c.d_head(block) * heads == 48);
        CHECK(trace->q(block, heads - 1).cols() == 48 / heads);
        CHECK(trace->results(block, 0, pool).rows() == heads);
        for (int h = 0; h < heads; ++h)
            CHECK((trace->pattern(block, h).rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
        CHECK((trace->results(block, 1, pool).colwise().sum() +
               Eigen::Map<const Eigen::RowVectorXf>(trace->weights(block).o.bias, 48) -
               trace->attn_out(block, 1, 1, pool).row(0))
                  .cwiseAbs()
                  .maxCoeff() < 1e-4f);
    }
    const auto summaries = summarize_heads(*trace, 4, pool);
    REQUIRE(summaries);
    CHECK(summaries->size() == static_cast<size_t>(c.head_count()));
    const auto effects = head_effects(*trace, nullptr, {MetricKind::probability, 5, -1, 1}, pool);
    REQUIRE(effects);
    CHECK(effects->change.size() == summaries->size());
    CHECK(!same_heads(c, bart_with_heads(4, 4)->config));
    CHECK(report_cell(*trace, {4, 3, 1, 2}, true, pool).weight_by_head.size() == summaries->size());
    CHECK(parse_change(c, "ablate:cross.1.3:zero"));
    CHECK(!parse_change(c, "ablate:encoder.1.3:zero"));
    CHECK(find_figure("heads")->make(trace, {}, pool));
}

TEST_CASE("query heads that share a key/value head read the same keys") {
    ThreadPool pool(1);
    const auto model = reference_model("llama");  // four query heads, two key/value heads
    const auto trace = trace_of(model, {1, 5, 9, 33}, pool);
    CHECK(trace->attention(0).k.cols() == 2 * model->config.d_head(0));
    CHECK(trace->k(0, 0).all() == trace->k(0, 1).all());
    CHECK(trace->k(0, 1).all() != trace->k(0, 2).all());
    CHECK(trace->rule(0).kv_head(3) == 1);
}

TEST_CASE("encoder–decoder models: three kinds of attention, numbered consecutively") {
    const auto model = reference_model("marian");
    const ModelConfig& c = model->config;
    CHECK(c.blocks() == 6);
    CHECK(block_path(c, 0) == "encoder.0");
    CHECK(block_path(c, 3) == "decoder.1");
    CHECK(head_name(c, 5, 2) == "cross 1.2");
    CHECK(c.block(5).key_stack == 0);
    ThreadPool pool(1);
    const auto input = encode_input(*model, {"The cat", "", "Die", {}, {}, {}, nullptr});
    REQUIRE(input);
    CHECK(input->sequences[0].tokens.back() == "</s>");
    CHECK(input->sequences[1].tokens == std::vector<std::string>{"<pad>", "▁Die"});
    const auto trace = *run_trace(model, {input->sequences, {}}, pool);
    CHECK(trace->pattern(5, 0).rows() == 2);
    CHECK(trace->pattern(5, 0).cols() == trace->key_count(5));
    CHECK(predicting_positions(*trace) == std::vector<int>{1});
}

TEST_CASE("masked models predict at their mask tokens; vision models at the class token") {
    ThreadPool pool(1);
    const auto bert = reference_model("bert");
    const auto input = encode_input(*bert, {"The [MASK] sat on the [MASK].", "", "", {}, {}, {}, nullptr});
    const auto trace = *run_trace(bert, {input->sequences, {}}, pool);
    const auto places = predicting_positions(*trace);
    REQUIRE(places.size() == 2);
    for (const int p : places) CHECK(trace->output().tokens[p] == "[MASK]");
    const auto filled = generated_ids(bert, {input->sequences, {}}, {{}, 1, {}}, pool);
    REQUIRE(filled);
    CHECK((*filled)[places[1]] == predictions(*trace, places[1], 1, pool)[0].id);
    const auto vit = reference_model("vit");
    CHECK(!encode_input(*vit, {"text", "", "", {}, {}, {}, nullptr}));
    TextInput picture;
    picture.image = std::make_shared<const RgbImage>(*open_image(kTests / "reference/models/vit/gray.png"));
    const auto seen = *run_trace(vit, {encode_input(*vit, picture)->sequences, {}}, pool);
    CHECK(predicting_positions(*seen) == std::vector<int>{0});
    CHECK(prediction_label(*vit, predictions(*seen, 0, 1, pool)[0].id).starts_with("LABEL_"));
}

TEST_CASE("a second sentence has token type 1, and unreadable input is an error") {
    const auto bert = reference_model("bert");
    const auto pair = encode_input(*bert, {"the cat", "the mat", "", {}, {}, {}, nullptr});
    REQUIRE(pair);
    CHECK(pair->sequences[0].types.front() == 0);
    CHECK(pair->sequences[0].types.back() == 1);
    CHECK(!encode_input(*bert, {"", "", "", {1, 2}, {}, {0}, nullptr}));
    CHECK(!encode_input(*bert, {"", "", "", {1, 2}, {}, {0, 2}, nullptr}));
    CHECK(!encode_input(*bert, {"the", "", "target", {}, {}, {}, nullptr}));
    TextInput picture;
    picture.image = std::make_shared<const RgbImage>(RgbImage{1, 1, {0, 0, 0}});
    CHECK(!encode_input(*bert, picture));
}

TEST_CASE("parameters from a configuration alone, for well-known models") {
    const auto count = [](const char* json) {
        return parameter_count(*parse_config(Json::parse(json), "x"));
    };
    CHECK(count(R"({"model_type":"bert"})") == 109'514'298);  // bert-base with its masked-language head
    CHECK(count(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096})") ==
          6'738'415'616);                                          // Llama 2 7B
    CHECK(count(R"({"model_type":"mistral"})") == 7'241'732'096);  // Mistral 7B
    CHECK(count(R"({"model_type":"gpt2","n_embd":12288,"n_head":96,"n_layer":96,"n_positions":2048})") ==
          174'604'259'328);                                              // GPT-3
    CHECK(count(R"({"model_type":"t5","d_model":512})") == 60'506'624);  // t5-small
}
