// Tests counts of attention's weights, GPT-3's exactly, and a value matrix as a product of two thin ones.
#include <cmath>

#include "analysis/circuits/head_matrices.h"
#include "helpers.h"
#include "learn/stations/parameters.h"
#include "model/loading/parameter_counts.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("learn parameters: GPT-3's exact numbers") {
    const auto counts = attention_counts(published_config(Published::gpt3));
    REQUIRE(counts.size() == 1);
    CHECK(counts[0].matrix() == 1'572'864);
    CHECK(counts[0].head() == 6'291'456);
    CHECK(counts[0].layer() == 603'979'776);
    CHECK(counts[0].all() == 57'982'058'496);
    const MatrixCount all = matrix_count(published_config(Published::gpt3));
    CHECK(all.embedding == 617'558'016);
    CHECK(all.mlp == 2 * 57'982'058'496);
    CHECK(all.all() == 175'181'291'520);
}

TEST_CASE("learn parameters: counts equal the model's table without biases, norms and positions") {
    for (const char* name : {"llama", "mistral", "gemma2"}) {  // none of them has a bias
        CAPTURE(name);
        const auto model = reference_model(name);
        int64_t attention = 0, norms = 0;
        for (const auto& row : parameter_table(model->config)) {
            if (row.block.find("query") != std::string::npos || row.block.find("key") != std::string::npos ||
                row.block.find("attention output") != std::string::npos)
                attention += row.each * row.count;
            if (row.block.find("norm") != std::string::npos) norms += row.each * row.count;
        }
        const MatrixCount counted = matrix_count(model->config);
        CHECK(counted.attention == attention);
        const int64_t tied = model->config.tied_unembedding ? counted.unembedding : 0;
        CHECK(counted.all() - tied + norms == parameter_count(model->config));
    }
}

TEST_CASE("learn parameters: encoder, decoder and cross-attention are counted separately") {
    const auto counts = attention_counts(reference_model("bart")->config);
    REQUIRE(counts.size() == 3);
    CHECK(counts[0].blocks == "encoder");
    CHECK(counts[2].blocks == "cross");
    CHECK(counts[2].layers == counts[1].layers);
}

TEST_CASE("learn parameters: singular values of a product by hand") {
    ValueFactors f{Matrix(3, 2), Matrix(2, 3)};
    f.down << 3, 0, 0, 4, 0, 0;
    f.up << 2, 0, 0, 0, 1, 0;  // down · up = diag(6, 4, 0)
    const Vector values = singular_values(f);
    REQUIRE(values.size() == 2);
    CHECK(values[0] == doctest::Approx(6));
    CHECK(values[1] == doctest::Approx(4));
    f.up.row(1).setZero();
    CHECK(singular_values(f)[1] == doctest::Approx(0));
}

TEST_CASE("learn parameters: the squares of singular values sum to the squares of the product") {
    const ValueFactors f{random_matrix(24, 6, 1), random_matrix(6, 24, 2)};
    CHECK(singular_values(f).squaredNorm() == doctest::Approx((f.down * f.up).squaredNorm()).epsilon(1e-4));
}

TEST_CASE("learn parameters: the factors reproduce values and results") {
    ThreadPool pool(2);
    // [in, out] fused; shared values; interleaved rows
    for (const char* name : {"gpt2", "llama", "gpt_neox"}) {
        CAPTURE(name);
        const auto trace = trace_of(reference_model(name), {5, 9, 200, 17}, pool);
        const AttentionHead head{1, trace->config().heads(1) - 1};
        const ValueFactors f = value_factors(*trace->model, head);
        const Matrix v = trace->v(1, head.head).all();
        const Matrix x = apply_norm(trace->config(), trace->weights(1).norm, trace->resid_before(1, pool),
                                    pool),
                     made = x * f.down;
        // Differences of tokens, which cancel the bias.
        CHECK(((made.row(3) - made.row(1)) - (v.row(3) - v.row(1))).norm() < 1e-4f * (1 + v.norm()));
        const Eigen::RowVectorXf z = trace->pattern(1, head.head).row(3) * v,
                                 result = trace->results(1, 3, pool).row(head.head);
        CHECK((z * f.up - result).norm() < 1e-4f * (1 + result.norm()));
    }
}

TEST_CASE("learn parameters: the page counts GPT-3, the open model, or one's own") {
    ThreadPool pool(2);
    const auto holds = [](const learn::Page& page, const std::string& text) {
        for (const auto& row : std::get<learn::Table>(page.blocks[2]).rows)
            if (row.back() == text) return true;
        return false;
    };
    const auto gpt3 = parameters_page({}, {}, pool);
    REQUIRE(gpt3);
    CHECK(holds(*gpt3, "603,979,776"));
    ParametersState state;
    state.of = ParametersState::Of::own;
    const auto own = parameters_page({}, state, pool);
    REQUIRE(own);
    CHECK(holds(*own, "1,048,576"));  // 4 layers · 4 · 256 · 256
    const auto model = reference_model("gpt2");
    StationInput input;
    input.model = model.get();
    state.of = ParametersState::Of::open;
    const auto open = parameters_page(input, state, pool);
    REQUIRE(open);
    const auto& curve = std::get<Curves>(open->blocks[5]);
    state.of = ParametersState::Of::gpt2;
    CHECK(holds(*parameters_page({}, state, pool), "2,359,296"));  // 12 heads · 4 · 64 · 768
    const auto one = std::get<learn::Steps>(parameters_page({}, state, pool)->blocks[4]).lines;
    CHECK(one[0].result == one[1].result);  // heads cost what one wide head costs
    const int rank = model->config.d_head(0);
    CHECK(curve.mark_x == float(rank));
    CHECK(curve.lines[0].y[0] >= curve.lines[0].y[1]);
    if (isize(curve.lines[0].y) > rank) CHECK(curve.lines[0].y[rank] == 0);
}

TEST_CASE("learn parameters: published sizes") {
    // 12 layers of 12 · 768² and two tables: as in the paper's 117 M, without biases, norms and positions
    CHECK(matrix_count(published_config(Published::gpt2)).attention == 12 * 4 * 768 * 768);
    const auto counts = attention_counts(published_config(Published::transformer));
    REQUIRE(counts.size() == 3);
    for (const AttentionCount& c : counts) CHECK(c.all() == 6 * 4 * 512 * 512);
    CHECK(counts[0].d_head == 64);
}
