// Tests circuits against dense matrices, which the factored way never makes.
#include "analysis/circuits/circuits.h"

#include <cmath>

#include "analysis/circuits/circuit_factors.h"
#include "analysis/circuits/composition.h"
#include "analysis/circuits/reserved_tokens.h"
#include "base/cast.h"
#include "base/spectrum.h"
#include "helpers.h"
#include "model/loading/table_sums.h"
#include "questions/questions.h"

using namespace headlight;

namespace {

/// Computes every pair of tokens.
Matrix dense_qk(const Model& model, AttentionHead head, ThreadPool& pool) {
    const TokenSides sides = token_sides(model, head, kQueries | kKeys, pool);
    const Matrix all = sides.queries * sides.keys.transpose();
    return all.colwise() - all.rowwise().mean();
}

/// Takes the largest first, each row and column once.
std::vector<CircuitPair> greedy(Matrix values, int count) {
    std::vector<CircuitPair> out;
    for (int i = 0; i < count; ++i) {
        Index row = 0, column = 0;
        const float value = values.maxCoeff(&row, &column);
        out.push_back({narrow<int>(row), narrow<int>(column), value});
        values.row(row).setConstant(-1e30f);
        values.col(column).setConstant(-1e30f);
    }
    return out;
}

void check_alike(const std::vector<CircuitPair>& got, const std::vector<CircuitPair>& want) {
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].from == want[i].from);
        CHECK(got[i].to == want[i].to);
        CHECK(got[i].value == doctest::Approx(want[i].value).epsilon(1e-4));
    }
}

}  // namespace

TEST_CASE("circuits: the strongest pairs equal those of the dense matrix, for any threads and blocks") {
    const Matrix left = random_matrix(700, 6, 1), right = random_matrix(5000, 6, 2);
    ThreadPool one(1), three(3);
    const auto pairs = strongest_pairs(left, right, 12, three);
    check_alike(pairs, greedy(left * right.transpose(), 12));
    CHECK(pairs == strongest_pairs(left, right, 12, one));
    // A key that every query prefers is taken once: the others get their next best.
    Matrix keys = Matrix::Zero(4, 1), queries(3, 1);
    keys << 9, 1, 2, 3;
    queries << 1, 2, 3;
    const auto few = strongest_pairs(queries, keys, 9, one);
    check_alike(few, {{2, 0, 27}, {1, 3, 6}, {0, 2, 2}});
}

TEST_CASE("circuits: QK of a token pair is their score in a text, for models without positions") {
    ThreadPool pool(2);
    for (const char* name : {"llama", "qwen3", "gemma2", "bloom", "t5"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const AttentionHead head{0, 1};
        ForwardRequest request = request_of({5, 9});
        if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0}).inputs[0]);
        request.intervention.changes = {*parse_change(model->config, "positions:off")};
        const auto trace = *run_trace(model, request, pool);
        const float dot = trace->q(0, 1).row(1).dot(trace->k(0, 1).row(0)) * trace->rule(0).scale;
        const auto [q, k, none] = token_sides(*model, head, kQueries | kKeys, pool);
        if (model->config.attention(0).bias || model->config.norm_bias) continue;  // biases are left out
        CHECK(q.row(9).dot(k.row(5)) == doctest::Approx(dot).epsilon(1e-3));
    }
}

TEST_CASE("circuits: pairs and copying of dense matrices") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "opt", "bloom", "qwen2"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const AttentionHead head{1, 1};
        const auto found = head_circuits(*model, {head.block, head.head, 0, 8}, pool);
        REQUIRE(found);
        check_alike(found->qk.pairs, greedy(dense_qk(*model, head, pool), 8));
        Matrix ov =
            token_sides(*model, head, kValues, pool).values * output_logits(*model, head, pool).transpose();
        ov.colwise() -= ov.rowwise().mean().eval();
        check_alike(found->ov.pairs, greedy(ov, 8));
        const Index n = std::min(ov.rows(), ov.cols());
        if (!kSanitized) {  // under sanitizers the eigenvalues of 500 rows take a quarter of a minute
            const Eigen::VectorXcd of = eigenvalues(ov.topLeftCorner(n, n).cast<double>());
            CHECK(found->copying == doctest::Approx(of.real().sum() / of.cwiseAbs().sum()).epsilon(1e-2));
        }
        const Matrix qk = dense_qk(*model, head, pool);
        double duplicate = 0;
        for (Index i = 0; i < qk.rows(); ++i)
            duplicate += double(qk(i, i)) / std::sqrt(double(qk.row(i).squaredNorm()) / double(qk.cols()));
        CHECK(found->duplicate == doctest::Approx(duplicate / double(qk.rows())).epsilon(1e-3));
        const auto some = head_circuits(*model, {head.block, head.head, 20, 8}, pool);
        REQUIRE(some);
        CHECK(some->tokens == 20);
        for (const CircuitPair& pair : some->qk.pairs) CHECK((pair.from < 20 && pair.to < 20));
    }
}

TEST_CASE("circuits: tokens that a vocabulary only reserves make no pairs") {
    for (const char* spare :
         {"", "[unused42]", "<unused7>", "<|reserved_special_token_3|>", "madeupword0001", "<dummy_12>"})
        CHECK_MESSAGE(is_reserved(spare), spare);
    for (const char* used : {"unused", "Ġreserved", "[CLS]", "<extra_id_0>", "42", "<0x0A>", "[MASK]"})
        CHECK_MESSAGE(!is_reserved(used), used);
    ThreadPool pool(2);
    const auto shared = std::const_pointer_cast<Model>(reference_model("llama"));
    Model& model = *shared;
    model.tokenizer = *open_tokenizer(kTests / "reference/tokenizers/wp_cased");  // fewer tokens than rows
    const auto reserved = reserved_tokens(model, 0);
    const auto count = std::count(reserved.begin(), reserved.end(), true);
    REQUIRE((count > 0 && count < isize(reserved)));
    const auto found = head_circuits(model, {1, 1, 0, 8}, pool);
    REQUIRE(found);
    CHECK(found->reserved == count);
    Matrix qk = dense_qk(*shared, {1, 1}, pool);
    for (int id = 0; id < isize(reserved); ++id)
        if (reserved[id]) qk.row(id).setConstant(-1e30f), qk.col(id).setConstant(-1e30f);
    check_alike(found->qk.pairs, greedy(qk, 8));
}

TEST_CASE("circuits: a missing circuit is refused, and the rest is computed") {
    ThreadPool pool(2);
    const auto of = [&](const char* name, AttentionHead head) {
        return *head_circuits(*reference_model(name), {head.block, head.head, 0, 3}, pool);
    };
    CHECK(of("bert", {0, 0}).ov.refusal.find("No direct path") == 0);
    CHECK((of("bert", {0, 0}).qk.pairs.size() == 3 && std::isnan(of("bert", {0, 0}).copying)));
    CHECK(!of("vit", {0, 0}).qk.refusal.empty());
    CHECK(!of("t5", {0, 0}).ov.refusal.empty());  // the encoder's
    const HeadCircuits cross = of("t5", {4, 0});
    CHECK((cross.qk.pairs.size() == 3 && cross.ov.pairs.size() == 3));
    CHECK((std::isnan(cross.previous) && std::isnan(cross.duplicate)));
}

TEST_CASE("circuits: tokens are labeled by the vocabulary of their side") {
    Model pair, source, target;
    const auto own = *open_tokenizer(kTests / "reference/tokenizers/wp_cased"),
               other = *open_tokenizer(kTests / "reference/tokenizers/bbpe_gpt2");
    pair.config.stacks.resize(2);
    source.config.stacks.resize(1);
    target.config.stacks.resize(1);
    pair.tokenizer = source.tokenizer = own;
    pair.separate_target = target.tokenizer = other;
    int differ = 0;
    for (int id = 40; id < 90; ++id) {
        CHECK(listed_label(pair, id, 0) == listed_label(source, id));
        CHECK(listed_label(pair, id, 1) == listed_label(target, id));
        CHECK(listed_label(pair, id) == listed_label(target, id));
        differ += listed_label(pair, id, 0) != listed_label(pair, id, 1);
    }
    CHECK(differ > 25);
    ThreadPool pool(2);
    const auto found = head_circuits(*reference_model("t5"), {4, 0, 0, 3}, pool);  // cross-attention
    REQUIRE(found);
    CHECK((found->qk.from_stack == 1 && found->qk.to_stack == 0));
    CHECK((found->ov.from_stack == 0 && found->ov.to_stack == 1));
}

TEST_CASE("circuits: attention to the previous token by positions alone") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bloom", "opt", "bert", "t5", "gpt_neox", "mistral"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const float score = AverageText(*model).previous_token_score({0, 0}, pool);
        CHECK((score > 0 && score < 1));
    }
    // Without positions every key of a causal row has weight 1 / (i + 1).
    const auto bloom = reference_model("bloom");
    double by_slope = 0;  // ALiBi only: average tokens share one key vector, so that the bias decides
    const PositionBias bias = alibi_bias({}, bloom->config.heads(0), 64);
    const int n = std::min(64, bloom->config.context);
    for (int i = 1; i < n; ++i) {
        const Eigen::ArrayXf row = bias.by_key.row(0).head(i + 1).array().transpose();
        const Eigen::ArrayXf e = (row - row.maxCoeff()).exp();
        by_slope += double(e[i - 1] / e.sum());
    }
    CHECK(AverageText(*bloom).previous_token_score({0, 0}, pool) ==
          doctest::Approx(by_slope / (n - 1)).epsilon(1e-3));
}

TEST_CASE("composition: factored and dense agree, and heads compose only with earlier ones") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "bert"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const ModelConfig& c = model->config;
        const auto all = composition(*model, std::nullopt, pool);
        REQUIRE(all);
        const AttentionHead writer{0, 1}, reader{1, 0};
        const HeadMatrices a = head_matrices(*model, writer), b = head_matrices(*model, reader);
        const auto reads = [&](AttentionHead head, const Matrix& w) {
            return read_through(*model, head.block, false, w);
        };
        const Matrix ov = reads(writer, a.v) * written_through(*model, 0, a.o),
                     qk = reads(reader, b.q) * reads(reader, b.k).transpose(),
                     next = reads(reader, b.v) * written_through(*model, 1, b.o);
        const int w = c.head_index(writer), r = c.head_index(reader);
        const auto ratio = [](const Matrix& x, const Matrix& y) {
            return (x * y).norm() / (x.norm() * y.norm());
        };
        CHECK(all->of[0](r, w) == doctest::Approx(ratio(ov, qk)).epsilon(1e-3));
        CHECK(all->of[1](r, w) == doctest::Approx(ratio(ov, qk.transpose())).epsilon(1e-3));
        CHECK(all->of[2](r, w) == doctest::Approx(ratio(ov, next)).epsilon(1e-3));
        CHECK(std::isnan(all->of[0](w, r)));
        CHECK(all->random == doctest::Approx(1 / std::sqrt(double(c.d_model))));
        const auto alone = composition(*model, reader, pool);
        REQUIRE(alone);
        CHECK(alone->of[1](r, w) == all->of[1](r, w));
        CHECK(std::isnan(alone->of[1](r + 1, w)));  // of another reader
    }
}

TEST_CASE(
    "composition: cross-attention reads the encoder's heads by keys and values, the decoder's by queries") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const ModelConfig& c = model->config;
    const auto all = composition(*model, std::nullopt, pool);
    REQUIRE(all);
    const int encoder = c.head_index({0, 0}), self = c.head_index({2, 0}), cross = c.head_index({4, 0});
    CHECK((std::isnan(all->of[0](cross, encoder)) && all->of[1](cross, encoder) > 0 &&
           all->of[2](cross, encoder) > 0));
    CHECK((all->of[0](cross, self) > 0 && std::isnan(all->of[1](cross, self))));
    const int later = c.head_index({3, 0});  // self-attention of the decoder's second layer
    CHECK((all->of[1](later, cross) > 0 && std::isnan(all->of[1](self, cross))));
    const auto strongest = strongest_compositions(*all, 3, CompositionKind::k);
    CHECK(strongest.size() == 3);
    CHECK((strongest[0].value >= strongest[1].value && strongest[0].kind == CompositionKind::k));
}

TEST_CASE("circuits: sides computed together equal those alone, one text serves all heads") {
    ThreadPool pool(3);
    for (const char* name : {"gpt2", "qwen3", "marian", "t5"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const ModelConfig& c = model->config;
        AverageText average(*model);
        for (int i = 0; i < c.head_count(); i += 3) {
            const AttentionHead head = c.head_at(i);
            const TokenSides all = token_sides(*model, head, kQueries | kKeys | kValues, pool);
            CHECK(same(all.queries, token_sides(*model, head, kQueries, pool).queries));
            CHECK(same(all.keys, token_sides(*model, head, kKeys, pool).keys));
            CHECK(same(all.values, token_sides(*model, head, kValues, pool).values));
            const float kept = average.previous_token_score(head, pool),
                        anew = AverageText(*model).previous_token_score(head, pool);
            CHECK((kept == anew || (std::isnan(kept) && std::isnan(anew))));
        }
    }
}

TEST_CASE("circuits: the vocabulary's mean and deviation do not depend on threads and can be cancelled") {
    const auto model = reference_model("llama");
    const Matrix table = random_matrix(5000, 24, 3);
    const Linear stored = Linear::of_floats(table.data(), nullptr, 24, 5000, WeightLayout::out_in);
    ThreadPool one(1), seven(7);
    const TableSums a = table_sums(stored, one), b = table_sums(stored, seven);
    CHECK((a.sum == b.sum && a.squares == b.squares));
    CHECK((a.sum - table.cast<double>().colwise().sum()).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(a.squares == doctest::Approx(table.cast<double>().squaredNorm()));
    const CancelFlag cancel{true};
    const CancelScope scope(seven, &cancel);
    CHECK_THROWS(table_sums(stored, seven));
    CHECK_THROWS(AverageText(*model).previous_token_score({0, 0}, seven));
}

TEST_CASE("circuits: pairs too large for memory are refused before allocation") {
    if (kSanitized) return;  // its memory has no limit, so that all pairs would be computed
    ThreadPool pool(1);
    const Matrix many = Matrix::Zero(100'000, 1);
    constexpr int64_t kRoom = 512 << 20;
    const bool refused = runs_within(kRoom, [&] {
        try {
            strongest_pairs(many, many, 1000, pool);
        } catch (const Failure& failure) {
            return failure.error().message.find("memory") != std::string::npos;
        }
        return false;
    });
    CHECK(refused);
}

TEST_CASE("circuits: a cancelled search returns an error") {
    ThreadPool pool(2);
    const CancelFlag cancel{true};
    const auto model = reference_model("gpt2");
    const auto found = head_circuits(*model, {0, 0, 0, 5}, pool, &cancel);
    CHECK((!found && found.error().cancelled));
    const auto composed = composition(*model, std::nullopt, pool, &cancel);
    CHECK((!composed && composed.error().cancelled));
}

TEST_CASE("circuits: questions about missing heads are clamped to the nearest") {
    ThreadPool pool(1);
    ForwardRequest request = request_of({5, 9, 7});
    request.inputs.push_back(request_of({0, 4}).inputs[0]);
    const auto trace = *run_trace(reference_model("marian"), request, pool);
    for (const Question& wild : {Question(ScoreOriginsRequest{99, 99, 99, 99}),
                                 Question(CircuitsRequest{99, 99, 16, 3}), Question(CompositionRequest{})})
        CHECK(std::visit(
            [&](const auto& q) { return static_cast<bool>(answer(Runs{*trace}, q, pool, nullptr)); },
            clamped(wild, *trace)));
}
