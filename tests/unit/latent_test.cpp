// Compares latent attention's q, k and v with its equations in plain loops, its reverse with finite
// differences, and one head's matrices with both; and attends to values wider than keys.
#include "model/mixers/latent.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "helpers.h"
#include "model/attention.h"

using namespace headlight;

namespace {

constexpr int kMlaModel = 6, kMlaHeads = 2, kMlaOwn = 3, kMlaShared = 2, kMlaValue = 4, kMlaRank = 5,
              kMlaQueryRank = 4;

/// Holds latent attention of small random matrices, [out, in] each.
struct SmallLatent {
    explicit SmallLatent(bool queries_too) {
        config.norm = NormKind::rms_norm;
        config.d_model = config.d_embed = kMlaModel;
        spec.heads = spec.kv_heads = kMlaHeads;
        spec.d_head = kMlaOwn + kMlaShared;
        spec.d_value = kMlaValue;
        spec.latent = Latent{queries_too ? kMlaQueryRank : 0, kMlaRank, kMlaShared, true};
        const auto linear = [](const Matrix& w, const float* bias) {
            return Linear::of_floats(w.data(), bias, w.cols(), w.rows(), WeightLayout::out_in);
        };
        weights.q = linear(queries_too ? q_up : q_whole, nullptr);
        if (queries_too) weights.latent.q_down = linear(q_down, biases.data());
        weights.latent.q_norm = {gains.data(), nullptr, kLatentNormEps};
        weights.latent.kv_down = linear(kv_down, biases.data());
        weights.latent.kv_norm = {gains.data() + 1, nullptr, kLatentNormEps};
        weights.latent.kv_up = linear(kv_up, nullptr);
    }
    ModelConfig config;
    AttentionSpec spec;
    AttentionWeights weights;
    Matrix q_whole = random_matrix(kMlaHeads * (kMlaOwn + kMlaShared), kMlaModel, 1),
           q_down = random_matrix(kMlaQueryRank, kMlaModel, 2),
           q_up = random_matrix(kMlaHeads * (kMlaOwn + kMlaShared), kMlaQueryRank, 3),
           kv_down = random_matrix(kMlaRank + kMlaShared, kMlaModel, 4),
           kv_up = random_matrix(kMlaHeads * (kMlaOwn + kMlaValue), kMlaRank, 5);
    Matrix gains = random_matrix(1, 8, 6), biases = random_matrix(1, 8, 7);
};

/// gain ∘ y / √(mean y² + eps).
Vector latent_normed(const Vector& y, const float* gain) {
    const float size = std::sqrt(y.squaredNorm() / float(y.size()) + kLatentNormEps);
    Vector out = y / size;
    for (Index i = 0; i < y.size(); ++i) out[i] *= gain[i];
    return out;
}

Vector plus_bias(Vector y, const Matrix& bias) {
    for (Index i = 0; i < y.size(); ++i) y[i] += bias(0, i);
    return y;
}

}  // namespace

TEST_CASE("latent attention: q, k and v are those of its equations") {
    ThreadPool pool(1);
    const Matrix x = random_matrix(3, kMlaModel, 8);
    for (const bool queries_too : {false, true}) {
        const SmallLatent m(queries_too);
        const QueryKeyValue made = latent_heads(m.config, m.spec, m.weights, x, pool);
        for (Index t = 0; t < x.rows(); ++t) {
            const Vector row = x.row(t).transpose();
            const Vector narrow = latent_normed(plus_bias(m.q_down * row, m.biases), m.gains.data());
            const Vector q = queries_too ? Vector(m.q_up * narrow) : Vector(m.q_whole * row);
            CHECK((made.q.row(t).transpose() - q).norm() < 1e-5);
            const Vector down = plus_bias(m.kv_down * row, m.biases);
            const Vector up = m.kv_up * latent_normed(down.head(kMlaRank), m.gains.data() + 1);
            for (Index h = 0; h < kMlaHeads; ++h) {
                const auto k =
                    made.k.row(t).segment(h * (kMlaOwn + kMlaShared), kMlaOwn + kMlaShared).transpose();
                CHECK((k.head(kMlaOwn) - up.segment(h * (kMlaOwn + kMlaValue), kMlaOwn)).norm() < 1e-5);
                CHECK((k.tail(kMlaShared) - down.tail(kMlaShared)).norm() < 1e-5);
                const auto v = made.v.row(t).segment(h * kMlaValue, kMlaValue).transpose();
                CHECK((v - up.segment(h * (kMlaOwn + kMlaValue) + kMlaOwn, kMlaValue)).norm() < 1e-5);
            }
        }
    }
}

TEST_CASE("latent attention: one head's path, and its product at a row, are its columns of q, k and v") {
    ThreadPool pool(1);
    const Matrix x = random_matrix(1, kMlaModel, 9);
    for (const bool queries_too : {false, true}) {
        const SmallLatent m(queries_too);
        const QueryKeyValue made = latent_heads(m.config, m.spec, m.weights, x, pool);
        for (const HeadPart part : {HeadPart::q, HeadPart::k, HeadPart::v})
            for (Index head = 0; head < kMlaHeads; ++head) {
                const LatentPath path = latent_path(m.spec, m.weights, head, part);
                const Matrix& all = part == HeadPart::q ? made.q : part == HeadPart::k ? made.k : made.v;
                const Matrix own = all.middleCols(head * path.width(), path.width());
                CHECK((project_path(m.config, path, x, pool, true) - own).norm() < 1e-5);
                const HeadProjection at = absorbed(path, latent_size(m.config, path, x, pool));
                Matrix product = x * at.weight;
                if (at.bias.size()) product += at.bias.transpose();
                CHECK((product - own).norm() < 1e-4);
            }
    }
}

TEST_CASE("latent attention: its reverse is that of finite differences") {
    ThreadPool pool(1);
    const Matrix x = random_matrix(1, kMlaModel, 10);
    const std::array<int, 1> tokens{0};
    const SmallLatent m(true);
    const QueryKeyValue made = latent_heads(m.config, m.spec, m.weights, x, pool);
    const Matrix by_q = random_matrix(1, made.q.cols(), 11), by_k = random_matrix(1, made.k.cols(), 12),
                 by_v = random_matrix(1, made.v.cols(), 13);
    const auto value = [&](const Matrix& at) {
        const QueryKeyValue y = latent_heads(m.config, m.spec, m.weights, at, pool);
        return double(y.q.cwiseProduct(by_q).sum()) + double(y.k.cwiseProduct(by_k).sum()) +
               double(y.v.cwiseProduct(by_v).sum());
    };
    const Matrix got = latent_queries_vjp(m.config, m.weights, x, by_q, tokens, pool) +
                       latent_keys_vjp(m.config, m.spec, m.weights, x, by_k, by_v, tokens, pool);
    constexpr float kStep = 1e-2f;
    for (Index i = 0; i < kMlaModel; ++i) {
        Matrix more = x, less = x;
        more(0, i) += kStep;
        less(0, i) -= kStep;
        const double slope = (value(more) - value(less)) / double(2 * kStep);
        CHECK(double(got(0, i)) == doctest::Approx(slope).epsilon(0.02));
    }
}

TEST_CASE("attention: values may be of another width than keys, also where a head's mean replaces z") {
    ThreadPool pool(1);
    AttentionRule rule;
    rule.heads = 2;
    rule.kv_heads = 1;
    rule.mask = MaskPlan::full(3, 3);
    rule.changed.resize(2);
    rule.changed[1].z = HeadRule::Z::mean;
    const Matrix v = random_matrix(3, 5, 16);
    const Rows q(random_matrix(3, 4, 14)), k(random_matrix(3, 2, 15));
    Matrix z(3, 10);
    attend(pool, rule, q, k, Rows(v), 0, z);
    for (int head = 0; head < 2; ++head) {
        Matrix pattern(3, 3);
        head_pattern(rule, head, q.columns(2 * head, 2), k, 0, pattern);
        Matrix own = pattern * v;
        if (head == 1) own.rowwise() = own.colwise().mean().eval();
        CHECK((z.middleCols(5 * head, 5) - own).norm() < 1e-5);
    }
}
