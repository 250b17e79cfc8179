// Tests pictures of a block's matrices and their singular values against the matrices themselves.
#include "analysis/attention/block_weights.h"

#include <cmath>

#include "analysis/circuits/head_matrices.h"
#include "helpers.h"
#include "io/json.h"
#include "model/sinusoids.h"

using namespace headlight;

namespace {

/// Max-pools by magnitude, the plain way.
Matrix pooled(const Matrix& m, int down, int across) {
    Matrix out = Matrix::Zero((m.rows() + down - 1) / down, (m.cols() + across - 1) / across);
    for (Index r = 0; r < m.rows(); ++r)
        for (Index c = 0; c < m.cols(); ++c)
            if (std::abs(m(r, c)) > std::abs(out(r / down, c / across))) out(r / down, c / across) = m(r, c);
    return out;
}

/// Returns a matrix as the forward pass multiplies by it, without its bias: [in, out].
Matrix multiplied(Linear w, ThreadPool& pool) {
    w.bias = nullptr;
    Matrix out(w.in, w.out);
    apply_linear(pool, Matrix::Identity(w.in, w.in), w, out);
    return out;
}

}  // namespace

TEST_CASE("block weights: a head's pictures are its matrices, in every layout") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gpt_neox", "bart", "phi", "llama_gguf/llama-q8_0.gguf"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const ModelConfig& c = model->config;
        const int block = c.blocks() - 1, head = c.heads(block) - 1;
        const auto shown = block_weights(*model, {WeightsPart::attention, block, head}, pool);
        REQUIRE(shown.maps.size() == 4);
        const AttentionWeights& w = weights_of(*model, block);
        const Index d = c.d_head(block), kv = head / (c.heads(block) / c.kv_heads(block));
        const Matrix q = multiplied(w.q, pool).middleCols(head * d, d),
                     k = multiplied(w.k, pool).middleCols(kv * d, d), o = multiplied(w.o, pool);
        const Matrix up = o.middleRows(head * d, d);
        CHECK((shown.maps[0].values - pooled(q.transpose(), shown.maps[0].down, shown.maps[0].across))
                  .cwiseAbs()
                  .maxCoeff() == 0);
        CHECK((shown.maps[1].values - pooled(k.transpose(), shown.maps[1].down, shown.maps[1].across))
                  .cwiseAbs()
                  .maxCoeff() == 0);
        CHECK((shown.maps[3].values - pooled(up, shown.maps[3].down, shown.maps[3].across))
                  .cwiseAbs()
                  .maxCoeff() == 0);
        CHECK(shown.maps[0].typical == doctest::Approx(q.norm() / std::sqrt(double(q.size()))));
        // ‖A‖² = Σ σᵢ² over the singular values.
        CHECK(shown.matrices[0].values.squaredNorm() == doctest::Approx(q.squaredNorm()).epsilon(1e-4));
        CHECK(shown.circuits[0].values.squaredNorm() ==
              doctest::Approx((q * k.transpose()).squaredNorm()).epsilon(1e-3));
        CHECK(shown.circuits[0].values.size() == d);
    }
}

TEST_CASE("block weights: tables, MLPs and norms, pooled if large") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const LayerWeights& layer = model->weights.stacks[0].layers[1];
        const auto mlp = block_weights(*model, {WeightsPart::mlp, 1, 0}, pool);
        const WeightMap& out = mlp.maps.back();
        CHECK((out.values - pooled(multiplied(layer.mlp_out, pool), out.down, out.across))
                  .cwiseAbs()
                  .maxCoeff() == 0);
        const WeightMap& in = mlp.maps[mlp.maps.size() - 2];
        CHECK(in.columns == model->config.d_model);
        CHECK((in.values - pooled(multiplied(layer.mlp_in, pool).transpose(), in.down, in.across))
                  .cwiseAbs()
                  .maxCoeff() == 0);
        const auto embedding = block_weights(*model, {WeightsPart::embedding, 0, 0}, pool);
        const WeightMap& table = embedding.maps[0];
        CHECK(table.rows == model->config.vocab);
        CHECK(table.values.rows() <= 64);
        Vector row(model->config.d_embed);
        model->weights.stacks[0].token_embedding.read(0, 0, row.size(), row.data());
        CHECK(table.largest >= row.cwiseAbs().maxCoeff());
        const auto norm = block_weights(*model, {WeightsPart::mlp_norm, 1, 0}, pool);
        CHECK(norm.maps.size() == (layer.mlp_norm.bias ? 2 : 1));
    }
}

TEST_CASE("block weights: singular values of one matrix by hand") {
    Matrix m(2, 3);
    m << 3, 0, 0, 0, -4, 0;
    const Vector values = singular_values(m), turned = singular_values(Matrix(m.transpose()));
    CHECK(values[0] == doctest::Approx(4));
    CHECK(values[1] == doctest::Approx(3));
    CHECK((values - turned).norm() < 1e-5f);
}

TEST_CASE("block weights: every part of every family is read") {
    ThreadPool pool(2);
    for (const char* name : {"albert", "bart",     "bert",  "bloom",   "distilbert", "electra",    "gemma2",
                             "gpt2",   "gpt_neox", "llama", "marian",  "mistral",    "modernbert", "opt",
                             "phi",    "qwen2",    "qwen3", "roberta", "t5",         "vit"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        for (int part = 0; part <= static_cast<int>(WeightsPart::unembedding); ++part) {
            CAPTURE(part);
            for (int block = 0; block < model->config.blocks(); ++block)
                for (const WeightMap& m :
                     block_weights(*model, {static_cast<WeightsPart>(part), block, 0}, pool).maps) {
                    CHECK(m.places.minCoeff() >= 0);
                    CHECK(m.places.maxCoeff() <= 1);
                    CHECK(m.columns > 0);
                }
        }
    }
}

namespace {

/// Opens the reference Marian with a config that declares this many positions.
std::shared_ptr<const Model> marian_of_context(int positions) {
    TemporaryFolder folder;
    for (const auto& file : std::filesystem::directory_iterator(kTests / "reference/models/marian"))
        std::filesystem::copy(file.path(), folder.path / file.path().filename());
    Json config = Json::parse(read_bytes(folder.path / "config.json"));
    config["max_position_embeddings"] = positions;
    write_bytes(folder.path / "config.json", config.dump());
    return *Model::open(folder.path);
}

}  // namespace

TEST_CASE("block weights: sinusoids of all declared positions are pooled in bounded memory") {
    ThreadPool pool(2);
    const auto model = marian_of_context(1000);
    const auto shown = block_weights(*model, {WeightsPart::positions, 0, 0}, pool);
    REQUIRE(shown.maps.size() == 1);
    const WeightMap& m = shown.maps[0];
    CHECK((m.rows == 1000 && m.columns == model->config.d_model && m.name == "sinusoids"));
    CHECK(same(m.values, pooled(sinusoids(model->config.d_model, 0, 1000), m.down, m.across)));

    const auto endless = marian_of_context(400'000);
    CHECK(runs_within(48 << 20, [&] {  // less than they would take together
        ThreadPool one(1);
        return block_weights(*endless, {WeightsPart::positions, 0, 0}, one).maps.size() == 1;
    }));
    const CancelFlag cancel{true};
    const CancelScope scope(pool, &cancel);
    CHECK_THROWS(block_weights(*endless, {WeightsPart::positions, 0, 0}, pool));
}
