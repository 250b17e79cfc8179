// Tests attention, masks and passes on cases computed by hand.
#include <cmath>
#include <cstring>
#include <limits>

#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "base/check.h"
#include "changed.h"
#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/attention.h"
#include "model/input.h"
#include "model/loading/parameters.h"
#include "trace/trace_file.h"

using namespace headlight;

TEST_CASE("dense product: both layouts, every row count, odd sizes, equal a plain sum") {
    ThreadPool pool(2);
    const std::pair<int, int> sizes[] = {{1, 1},    {4, 3},     {48, 144}, {48, 420},
                                         {33, 257}, {400, 130}, {800, 32}, {770, 65}};
    for (const auto& size : sizes)
        for (const int n : {1, 2, 7, 8, 9, 16, 17, 24, 25, 70}) {
            const int in = size.first, out = size.second;
            const Matrix x = random_matrix(n, in, 1), w = random_matrix(in, out, 2),
                         bias = random_matrix(1, out, 3), wt = w.transpose();
            const Eigen::MatrixXd want =
                (x.cast<double>() * w.cast<double>()).rowwise() + bias.row(0).cast<double>();
            CAPTURE(n);
            CAPTURE(in);
            CAPTURE(out);
            for (const bool transposed : {false, true}) {
                const Linear linear =
                    Linear::of_floats(transposed ? wt.data() : w.data(), bias.data(), in, out,
                                      transposed ? WeightLayout::out_in : WeightLayout::in_out);
                Matrix y = Matrix::Constant(n, out, NAN);
                apply_linear(pool, x, linear, y);
                CHECK((y.cast<double>() - want).cwiseAbs().maxCoeff() < 1e-3);
                if (out < 100) continue;
                Matrix part = Matrix::Constant(n, 37, NAN);
                apply_linear(pool, x, linear.columns(50, 37), part);
                CHECK((part.cast<double>() - want.middleCols(50, 37)).cwiseAbs().maxCoeff() < 1e-3);
            }
        }
}

TEST_CASE("attention by hand: two tokens, one head") {
    // q·k = [[1, 0], [2, 4]] with scale 0.5: row 1 is softmax(1, 2) = (1, e) / (1 + e)
    Matrix q(2, 1), k(2, 1), v(2, 1), z(2, 1);
    q << 1, 2;
    k << 1, 2;
    v << 10, 20;
    ThreadPool pool(1);
    AttentionRule rule;
    rule.mask = MaskPlan::make({}, {true, 0}, std::vector<int>(2, 0));
    rule.scale = 0.5f;
    attend(pool, rule, q, k, v, 0, z);
    const float e = std::exp(1.0f);
    CHECK(z(0, 0) == doctest::Approx(10));
    CHECK(z(1, 0) == doctest::Approx((10 + 20 * e) / (1 + e)));
    Matrix pattern(2, 2);
    head_pattern(rule, 0, q, k, 0, pattern);
    CHECK(pattern(0, 1) == 0);
    CHECK(pattern(1, 1) == doctest::Approx(e / (1 + e)));
    AttentionRule capped = rule;
    capped.cap = 3;  // scores 1 and 2 become 3 tanh(1/3) and 3 tanh(2/3)
    head_pattern(capped, 0, q, k, 0, pattern);
    CHECK(pattern(1, 1) ==
          doctest::Approx(1 / (1 + std::exp(3 * std::tanh(1.0 / 3) - 3 * std::tanh(2.0 / 3)))));
}

TEST_CASE("attention by hand: a sink takes its share of each row") {
    // scores (1) and (1, 2), and a sink of score 0.5: row 1 is (e, e²) / (e + e² + e^0.5)
    Matrix q(2, 1), k(2, 1), pattern(2, 2);
    q << 1, 2;
    k << 1, 2;
    AttentionRule rule;
    rule.mask = MaskPlan::make({}, {true, 0}, std::vector<int>(2, 0));
    rule.scale = 0.5f;
    rule.sinks = {0.5f};
    head_pattern(rule, 0, q, k, 0, pattern);
    const float e = std::exp(1.0f), sum = e + e * e + std::exp(0.5f), first = std::exp(0.5f) + std::exp(0.5f);
    CHECK(pattern(0, 0) == doctest::Approx(std::exp(0.5f) / first));
    CHECK(pattern(1, 0) == doctest::Approx(e / sum));
    CHECK(pattern(1, 1) == doctest::Approx(e * e / sum));
    CHECK(sink_weight(rule, pattern.row(1)) == doctest::Approx(std::exp(0.5f) / sum));
    rule.changed.resize(1);
    rule.changed[0].temperature = 0;  // all on the largest score: of row 0 the keys', 0.5 like the sink's
    rule.sinks = {3};
    head_pattern(rule, 0, q, k, 0, pattern);
    CHECK(pattern.isZero(0));
    rule.changed[0].temperature = INFINITY;
    head_pattern(rule, 0, q, k, 0, pattern);
    CHECK(pattern(1, 1) == doctest::Approx(1.0 / 3));
}

TEST_CASE("masks: a chunk hides the keys before the query's own") {
    const MaskParams own{.causal = true, .window = 0, .chunk = 4};
    CHECK(own.visible(3, 10) == KeyRange{0, 4});
    CHECK(own.visible(4, 10) == KeyRange{4, 5});
    CHECK(MaskParams{.causal = false, .window = 0, .chunk = 4}.visible(5, 7) == KeyRange{4, 7});
    CHECK_FALSE(Mask().allowed({5, 3, own, {}}));
    CHECK(Mask().allowed({5, 4, own, {}}));
}

TEST_CASE("masks: a window spans the query itself and the nearest keys before it") {
    const std::vector<int> sentences(10, 0);
    const auto seen = [&](const char* name, int q, MaskParams own) {
        return MaskPlan::make(*Mask::parse(name), own, sentences).visible[q];
    };
    CHECK(seen("own", 5, {false, 0}).size() == 10);
    CHECK(seen("own", 5, {true, 0}).end == 6);
    CHECK(seen("own", 5, {true, 3}).begin == 3);  // 3, 4, 5
    CHECK(seen("own", 5, {true, 3}).size() == 3);
    CHECK(seen("own", 5, {false, 3}).begin == 3);  // 3 … 7
    CHECK(seen("own", 5, {false, 3}).end == 8);
    CHECK(seen("own", 0, {false, 3}).size() == 3);
    CHECK(seen("causal", 5, {false, 3}).size() == 6);
    CHECK(seen("none", 5, {true, 3}).size() == 10);
    CHECK(!Mask::parse("sideways"));
}

TEST_CASE(
    "properties: rows sum to 1, masked weights are 0, heads sum to the layer, in every kind of attention") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "mistral", "bert", "marian", "t5", "bloom", "modernbert"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        ForwardRequest request = request_of({5, 9, 200, 31, 5, 9, 77, 300, 2, 11, 12, 13});
        if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7, 9}).inputs[0]);
        const auto trace = *run_trace(model, request, pool);
        const ModelConfig& c = model->config;
        for (int block = 0; block < c.blocks(); ++block) {
            const AttentionBlock where = c.block(block);
            const Matrix z = trace->z(block, 0, trace->query_count(block), pool);
            for (int h = 0; h < c.heads(block); ++h) {
                const Matrix p = trace->pattern(block, h);
                CHECK(p.rows() == trace->query_count(block));
                CHECK(p.cols() == trace->key_count(block));
                CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
                for (int q = 0; q < p.rows(); ++q)
                    for (int k = 0; k < p.cols(); ++k)
                        if (!trace->rule(block).mask.allowed(q, k)) CHECK(p(q, k) == 0.0f);
                CHECK(
                    (p * trace->v(block, h).all() - z.middleCols(Index{h} * c.d_head(block), c.d_head(block)))
                        .cwiseAbs()
                        .maxCoeff() < 1e-4f);
            }
            const LayerWeights& layer = model->weights.stacks[where.stack].layers[where.layer];
            const Linear& o = where.kind == AttentionKind::cross ? layer.second.o : layer.self.o;
            for (int q = 0; q < trace->query_count(block); ++q) {
                Eigen::RowVectorXf sum = trace->results(block, q, pool).colwise().sum();
                if (o.bias) sum += Eigen::Map<const Eigen::RowVectorXf>(o.bias, c.d_model);
                CHECK((sum - trace->attn_out(block, q, 1, pool).row(0)).cwiseAbs().maxCoeff() < 1e-4f);
            }
        }
    }
}

TEST_CASE("the mask 'none' allows every key, and a longer sentence does not change earlier rows") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const auto open = trace_of(model, {5, 9, 200}, pool, *Mask::parse("none"));
    CHECK(open->pattern(0, 0)(0, 2) > 0);
    const auto brief = trace_of(model, {5, 9, 200}, pool),
               longer = trace_of(model, {5, 9, 200, 31, 77}, pool);
    CHECK((brief->normalized().all() - longer->normalized().topRows(3)).cwiseAbs().maxCoeff() < 1e-5f);
}

TEST_CASE("typing: rows reused from the previous trace equal those of a full pass") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "bloom", "phi", "opt", "bert"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto past = trace_of(model, {5, 9, 200, 31, 77}, pool);
        for (const std::vector<int>& ids : {std::vector<int>{5, 9, 200, 31, 77, 8},
                                            {5, 9, 200, 31, 78},
                                            {5, 9},
                                            {5, 9, 200, 31, 77},
                                            {6, 9, 200},
                                            {5, 10, 200, 31, 77, 1, 2, 3}}) {
            const auto full = trace_of(model, ids, pool);
            ForwardRequest request = request_of(ids);
            const auto quick = *run_trace(model, request, pool, nullptr, past.get());
            CHECK((full->normalized().all() - quick->normalized().all()).cwiseAbs().maxCoeff() < 1e-5f);
            CHECK(
                (full->stack(0).resid_final.all() - quick->stack(0).resid_final.all()).cwiseAbs().maxCoeff() <
                2e-5f);
            for (int l = 0; l < model->config.layers(); ++l) {
                CHECK((full->pattern(l, 1) - quick->pattern(l, 1)).cwiseAbs().maxCoeff() < 1e-5f);
                CHECK((full->attn_out(l, pool) - quick->attn_out(l, pool)).cwiseAbs().maxCoeff() < 1e-5f);
                CHECK((full->z(l, 0, isize(ids), pool) - quick->z(l, 0, isize(ids), pool))
                          .cwiseAbs()
                          .maxCoeff() < 1e-5f);
                CHECK((full->stack(0).layers[l]->resid_pre.all() - quick->stack(0).layers[l]->resid_pre.all())
                          .cwiseAbs()
                          .maxCoeff() < 1e-5f);
            }
            request.intervention.mask = *Mask::parse("none");  // every key counts: nothing may be reused
            const auto open = *run_trace(model, request, pool, nullptr, past.get());
            CHECK((open->normalized().all() -
                   trace_of(model, ids, pool, request.intervention.mask)->normalized().all())
                      .cwiseAbs()
                      .maxCoeff() < 1e-5f);
        }
    }
}

TEST_CASE("generation: a growing target reuses the encoder and its own rows") {
    ThreadPool pool(2);
    for (const char* name : {"marian", "t5", "bart"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto request = [](std::vector<int> source, std::vector<int> target) {
            return ForwardRequest{
                {request_of(std::move(source)).inputs[0], request_of(std::move(target)).inputs[0]}, {}};
        };
        const auto past = *run_trace(model, request({5, 9, 20, 31}, {0, 7, 8}), pool);
        const auto longer = request({5, 9, 20, 31}, {0, 7, 8, 11, 12}),
                   other = request({5, 9, 21, 31}, {0, 7, 8});
        const auto quick = *run_trace(model, longer, pool, nullptr, past.get());
        CHECK(quick->activations.stacks[0] == past->activations.stacks[0]);
        CHECK((quick->normalized().all() - (*run_trace(model, longer, pool))->normalized().all())
                  .cwiseAbs()
                  .maxCoeff() < 1e-5f);
        CHECK(((*run_trace(model, other, pool, nullptr, past.get()))->normalized().all() -
               (*run_trace(model, other, pool))->normalized().all())
                  .cwiseAbs()
                  .maxCoeff() == 0);
    }
}

TEST_CASE("one thread and several give the same numbers") {
    ThreadPool one(1), three(3);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 48; ++i) ids.push_back(i * 7 % 420);
    const Matrix want = trace_of(model, ids, one)->normalized().all();
    for (int repeat = 0; repeat < 20; ++repeat) {
        const bool same = trace_of(model, ids, three)->normalized().all() == want;
        CHECK(same);
    }
}

namespace {

/// Opens a reference model with one NaN weight.
std::shared_ptr<const Model> with_nan(const std::string& name, const std::string& tensor,
                                      const TemporaryFolder& folder) {
    const auto copy = folder.path / tensor;
    std::filesystem::copy(kTests / "reference/models" / name, copy, std::filesystem::copy_options::recursive);
    std::string bytes = read_bytes(copy / "model.safetensors");
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    const Json tensors = Json::parse(bytes.substr(8, header));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(bytes.data() + 8 + header + tensors.at(tensor).at("data_offsets").at(0).get<size_t>(), &nan,
                sizeof nan);
    write_bytes(copy / "model.safetensors", bytes);
    const auto model = Model::open(copy);
    REQUIRE(model);
    return *model;
}

}  // namespace

TEST_CASE("a pass names the first stage that is not finite") {
    ThreadPool pool(2);
    const TemporaryFolder folder;
    const std::pair<const char*, const char*> cases[] = {
        {"transformer.wpe.weight", "embeddings are"},
        {"transformer.h.1.attn.c_attn.bias", "layer 1's queries"},
        {"transformer.h.2.attn.c_proj.bias", "layer 2's outputs"},
        {"transformer.h.0.mlp.c_fc.weight", "layer 0's outputs"},
        {"transformer.ln_f.bias", "final norm's outputs"}};
    for (const auto& one : cases) {
        const std::string tensor = one.first, first = one.second;
        CAPTURE(tensor);
        const auto trace = run_trace(with_nan("gpt2", tensor, folder), request_of({5, 9, 20}), pool);
        REQUIRE(!trace);
        CHECK(trace.error().message.find(first) != std::string::npos);
        CHECK(!trace.error().cancelled);
    }
    const auto t = run_trace(with_nan("marian", "model.decoder.layers.1.encoder_attn.k_proj.bias", folder),
                             {{request_of({5, 9}).inputs[0], request_of({3, 4}).inputs[0]}, {}}, pool);
    REQUIRE(!t);
    CHECK(t.error().message.find("decoder layer 1's keys") != std::string::npos);
    const auto trace = run_trace(with_nan("gpt2", "transformer.wte.weight", folder), request_of({5, 9}),
                                 pool);  // of a token that is predicted but not read
    REQUIRE(trace);
    CHECK_THROWS_AS(static_cast<void>(logits_at(**trace, 1, pool)), Failure);
}

TEST_CASE("a cancelled pass returns an error, a cancelled opening ends between steps") {
    ThreadPool pool(1);
    CancelFlag cancel{true};
    const auto pass = run_trace(reference_model("gpt2"), request_of({1, 2}), pool, &cancel);
    REQUIRE(!pass);
    CHECK(pass.error().cancelled);
    CHECK(Model::open(kTests / "reference/models/gpt2", &cancel).error().message == "Cancelled.");
}

TEST_CASE("a rule of attention refuses a head that its block does not have") {
    AttentionRule rule;
    rule.heads = 4;
    rule.changed.resize(4);
    CHECK(rule.change(3) == &rule.changed[3]);
    abort_on_failed_check(false);
    CHECK_THROWS_AS(rule.change(7), CheckFailed);
    abort_on_failed_check(true);
}

TEST_CASE("pass: a layer that reads an earlier one's keys and values reads those of the same pass") {
    ThreadPool pool(2);
    const auto model = reference_model("gemma4");
    const auto plain = changed(model, {}, pool);
    for (const char* change : {"skip-attention:0", "skip-attention:1", "skip-mlp:0", "ablate:0.1:zero",
                               "positions:shuffle:3", "mask:6>2"}) {
        CAPTURE(change);
        const auto trace = changed(model, {change}, pool),
                   reused = changed(model, {change}, pool, plain.get());
        for (int block = 2; block < 5; ++block) {
            const int source = model->config.key_block(block);
            CHECK(source == (block == 2 ? 0 : 1));
            for (int head = 0; head < 4; ++head) {
                CHECK(same(trace->k(block, head).all(), trace->k(source, head).all()));
                CHECK(same(trace->v(block, head).all(), trace->v(source, head).all()));
                CHECK(same(reused->v(block, head).all(), trace->v(block, head).all()));
            }
        }
    }
    CHECK(!same(plain->k(3, 0).all(), plain->k(2, 0).all()));
}
