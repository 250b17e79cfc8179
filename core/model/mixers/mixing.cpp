// Computes mixing matrices and their gradients.
#include "model/mixers/mixing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/cast.h"
#include "kernels/kernels.h"
#include "model/attention_products.h"
#include "model/mixers/delta_rule.h"

namespace headlight {

namespace {

/// Holds the keys [first, first + count) of one head, with their rates.
struct RatedKeys {
    Matrix rows;
    Index width;  // d_head

    RatedKeys(const Rows& k, Index first, Index count)
        : rows(k.middleRows(first, count)), width(k.cols() - kKeyRates) {}
    const float* of(Index key) const { return rows.row(key).data(); }
    float rate(Index key, KeyRate which) const { return rows(key, width + Index(which)); }
    float decay(Index key) const { return std::exp(rate(key, KeyRate::decay)); }
    float strength(Index key) const { return rate(key, KeyRate::strength); }
};

/// Holds r of some queries, transposed: [d_head, queries], so that steps of all of them go side by side.
struct States {
    Matrix r;
    std::vector<float> products;  // r·k of each query
    Index first_query;

    States(Index width, Index queries, Index first)
        : r(width, queries), products(queries), first_query(first) {
        r.setZero();
    }
    /// Returns the first column whose query is not before this key.
    Index from(Index key) const { return std::max<Index>(0, key - first_query); }
    /// r·k, summed in ascending order of components.
    void multiply(const float* key, Index from) {
        std::fill(products.begin() + from, products.end(), 0.0f);
        const Index count = r.cols() - from;
        float* const out = products.data() + from;
        for (Index c = 0; c < r.rows(); ++c) {
            const float x = key[c];
            const float* const own = r.row(c).data() + from;
            for (Index i = 0; i < count; ++i) out[i] += own[i] * x;
        }
    }
    /// r ← decay · (r − strength · (r·k) k).
    void step(const float* key, float decay, float strength, Index from) {
        const Index count = r.cols() - from;
        float* const by = products.data() + from;
        for (Index i = 0; i < count; ++i) by[i] *= strength;
        for (Index c = 0; c < r.rows(); ++c) {
            const float x = key[c];
            float* const own = r.row(c).data() + from;
            for (Index i = 0; i < count; ++i) own[i] = decay * (own[i] - by[i] * x);
        }
    }
    void enter(Index query, const Rows& q, float scale) {
        r.col(query - first_query) = q.row(query).transpose() * scale;
    }
};

/// Calls step(states, key) for each key from the last query's back to the first, as the states come to it, or
/// until nothing is left of them.
template <class Step>
void walk_back(const Rows& q, float scale, States& s, Index first_key, Index keys, const Step& step) {
    const Index last = s.first_query + s.r.cols();  // one past the last query
    for (Index j = std::min(last, first_key + keys) - 1; j >= first_key; --j) {
        if (j >= s.first_query) s.enter(j, q, scale);
        step(j - first_key, s.from(j));
        if (j % kSumLanes == 0 && s.from(j) == 0 && s.r.isZero(0)) return;
    }
}

/// Returns the first key, a multiple of kSumLanes, of which enough is left when the query `own` reads it.
Index first_reached(const RatedKeys& keys, Index own) {
    double decayed = 1;
    Index key = std::min(own, keys.rows.rows() - 1);
    for (; key > 0 && decayed >= double(kNegligible); --key) decayed *= double(keys.decay(key));
    return std::max<Index>(0, key) / kSumLanes * kSumLanes;
}

/// Multiplies row i by β_j e^{a_{j+1} + … + a_i} from the key `begin` on; later keys become 0.
void apply_rates(const RatedKeys& keys, Index first, Index first_key, Index begin, MatrixRef out) {
    std::vector<double> decays(static_cast<size_t>(out.cols()));
    for (Index j = begin; j < out.cols(); ++j) decays[size_t(j)] = double(keys.decay(j));
    for (Index i = 0; i < out.rows(); ++i) {
        const Index own = first + i - first_key;
        double decayed = 1;
        for (Index j = out.cols() - 1; j > own; --j) out(i, j) = 0;
        for (Index j = std::min(own, out.cols() - 1); j >= begin; --j) {
            if (decayed < double(kNegligible)) decayed = 0;
            out(i, j) *= float(decayed) * keys.strength(j);
            decayed *= decays[size_t(j)];
        }
    }
}

/// Adds D to the diagonal.
void add_skip(const AttentionRule& rule, int head, Index first, Index first_key, MatrixRef out) {
    for (Index i = 0; i < out.rows(); ++i)
        if (const Index own = first + i - first_key; own >= 0 && own < out.cols())
            out(i, own) += rule.recurrence->skip[size_t(head)];
}

void state_space_matrix(const AttentionRule& rule, int head, const Rows& q, const Rows& k,
                        const RatedKeys& keys, Index first, Index first_key, MatrixRef out) {
    const Matrix scaled = q.middleRows(first, out.rows()) * rule.scale;
    const Index begin = first_reached(keys, first - first_key);
    out.leftCols(begin).setZero();
    multiply_keys(scaled, k.columns(0, keys.width), narrow<int>(first_key + begin),
                  out.rightCols(out.cols() - begin));
    apply_rates(keys, first, first_key, begin, out);
    add_skip(rule, head, first, first_key, out);
}

/// Holds the keys [first, first + count) that all heads share, with Δ and rates of decay of one.
struct SteppedKeys {
    Matrix rows;   // [count, d_head]
    Vector steps;  // [count], Δ
    Eigen::Map<const Eigen::ArrayXf> rates;

    SteppedKeys(const AttentionRule& rule, int head, const Rows& k, Index width, Index first, Index count)
        : rows(k.columns(0, width).middleRows(first, count)),
          steps(k.columns(width + head, 1).middleRows(first, count)),
          rates(rule.recurrence->rates.data() + head * width, width) {}
    const float* of(Index key) const { return rows.row(key).data(); }
    /// e^{−A Δ} of each component.
    Eigen::ArrayXf decay(Index key) const { return (-steps[key] * rates).exp(); }
};

/// r ← decay ∘ r.
void decay_components(States& s, const Eigen::ArrayXf& decay, Index from) {
    const Index count = s.r.cols() - from;
    for (Index c = 0; c < s.r.rows(); ++c) {
        float* const own = s.r.row(c).data() + from;
        for (Index i = 0; i < count; ++i) own[i] = unless_negligible(own[i] * decay[c]);
    }
}

void selective_matrix(const AttentionRule& rule, int head, const Rows& q, const Rows& k, Index first,
                      Index first_key, MatrixRef out) {
    const SteppedKeys keys(rule, head, k, q.cols(), first_key, out.cols());
    States s(q.cols(), out.rows(), first);
    out.setZero();
    walk_back(q, rule.scale, s, first_key, out.cols(), [&](Index key, Index from) {
        s.multiply(keys.of(key), from);
        for (Index i = from; i < out.rows(); ++i) out(i, key) = keys.steps[key] * s.products[size_t(i)];
        decay_components(s, keys.decay(key), from);
    });
    add_skip(rule, head, first, first_key, out);
}

/// Propagates through a selective state space of a few queries; by_k: [keys, d_head + 1], Δ last.
void selective_vjp(const AttentionRule& rule, int head, const Rows& q, const Rows& k, Index first,
                   Index first_key, ConstMatrixRef by, MatrixRef by_q, MatrixRef by_k) {
    const Index d = q.cols(), queries = by.rows(), count = by.cols();
    const SteppedKeys keys(rule, head, k, d, first_key, count);
    States s(d, queries, first);
    std::vector<Matrix> before(static_cast<size_t>(count));  // r as it comes to each key
    walk_back(q, rule.scale, s, first_key, count, [&](Index key, Index from) {
        before[size_t(key)] = s.r;
        decay_components(s, keys.decay(key), from);
    });
    Matrix back = Matrix::Zero(d, queries);  // gradient by r behind a key
    for (Index key = 0; key < count; ++key) {
        if (before[size_t(key)].size() == 0) continue;  // no state comes so far
        const Eigen::Map<const Vector> own(keys.of(key), d);
        const Vector decay = keys.decay(key).matrix();
        const float step = keys.steps[key];
        for (Index i = s.from(first_key + key); i < queries; ++i) {
            const auto r = before[size_t(key)].col(i);
            const Vector decayed = back.col(i).cwiseProduct(decay);
            by_k(key, d) += by(i, key) * r.dot(own) - decayed.cwiseProduct(r).dot(keys.rates.matrix());
            by_k.row(key).head(d) += by(i, key) * step * r.transpose();
            back.col(i) = decayed + by(i, key) * step * own;
            if (first + i == first_key + key) by_q.row(i) += rule.scale * back.col(i).transpose();
        }
    }
}

/// Puts a 1 at the key `back` places before each query.
void tap_matrix(int back, Index first, Index first_key, MatrixRef out) {
    out.setZero();
    for (Index i = 0; i < out.rows(); ++i)
        if (const Index key = first + i - back - first_key; key >= 0 && key < out.cols()) out(i, key) = 1;
}

/// Propagates through the delta rule of a few queries.
void delta_vjp(float scale, const Rows& q, const RatedKeys& keys, Index first, Index first_key,
               ConstMatrixRef by, MatrixRef by_q, MatrixRef by_k) {
    const Index d = keys.width, queries = by.rows(), count = by.cols();
    States s(d, queries, first);
    std::vector<Matrix> before(static_cast<size_t>(count));  // r as it comes to each key
    walk_back(q, scale, s, first_key, count, [&](Index key, Index from) {
        s.multiply(keys.of(key), from);
        before[size_t(key)] = s.r;
        s.step(keys.of(key), keys.decay(key), keys.strength(key), from);
    });
    Matrix back = Matrix::Zero(d, queries);  // gradient by r behind a key
    for (Index key = 0; key < count; ++key) {
        if (before[size_t(key)].size() == 0) continue;  // no state comes so far
        const Eigen::Map<const Vector> k(keys.of(key), d);
        const float decay = keys.decay(key), strength = keys.strength(key);
        for (Index i = s.from(first_key + key); i < queries; ++i) {
            const auto r = before[size_t(key)].col(i);
            const Vector behind = back.col(i);
            const float product = r.dot(k), back_k = behind.dot(k);
            const float by_written = by(i, key) - decay * back_k, by_product = strength * by_written;
            by_k(key, d + Index(KeyRate::decay)) += decay * (behind.dot(r) - strength * product * back_k);
            by_k(key, d + Index(KeyRate::strength)) += product * by_written;
            by_k.row(key).head(d) += (by_product * r - strength * product * decay * behind).transpose();
            back.col(i) = decay * behind + by_product * k;
            if (first + i == first_key + key) by_q.row(i) += scale * back.col(i).transpose();
        }
    }
}

void state_space_vjp(const AttentionRule& rule, const Rows& q, const RatedKeys& keys, Index first,
                     Index first_key, ConstMatrixRef by, MatrixRef by_q, MatrixRef by_k) {
    const Index d = keys.width;
    Vector moved(by.cols());  // gradient by the logarithm of each entry
    for (Index i = 0; i < by.rows(); ++i) {
        const Vector own = q.row(first + i).transpose() * rule.scale;
        double decayed = 1;
        moved.setZero();
        const Index last = std::min(first + i - first_key, by.cols() - 1);
        for (Index j = last; j >= 0; --j) {
            const Eigen::Map<const Vector> k(keys.of(j), d);
            const float weight = float(decayed) * keys.strength(j), g = by(i, j), product = own.dot(k);
            by_q.row(i) += rule.scale * g * weight * k.transpose();
            by_k.row(j).head(d) += g * weight * own.transpose();
            by_k(j, d + Index(KeyRate::strength)) += g * float(decayed) * product;
            moved[j] = g * weight * product;
            decayed *= double(keys.decay(j));
        }
        float sum = 0;  // over the keys before j, whose entries its decay multiplies
        for (Index j = 0; j <= last; ++j) {
            by_k(j, d + Index(KeyRate::decay)) += sum;
            sum += moved[j];
        }
    }
}

}  // namespace

void drop_negligible(MatrixRef entries) {
    for (Index i = 0; i < entries.rows(); ++i) {
        float* const row = entries.row(i).data();
        for (Index j = 0; j < entries.cols(); ++j) row[j] = unless_negligible(row[j]);
    }
}

void mixing_matrix(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                   int first_key, MatrixRef out) {
    HEADLIGHT_CHECK(rule.recurrence && k.cols() == rule.key_width(q.cols()) &&
                    first_key + out.cols() <= k.rows() && first + out.rows() <= q.rows());
    const RecurrenceSpec::Kind kind = rule.recurrence->kind;
    if (kind == RecurrenceSpec::Kind::convolution) return tap_matrix(head, first, first_key, out);
    if (kind == RecurrenceSpec::Kind::selective)
        return selective_matrix(rule, head, q, k, first, first_key, out);
    if (kind == RecurrenceSpec::Kind::delta_rule)
        return delta_matrix(rule.scale, q, k, first, first_key, out);
    state_space_matrix(rule, head, q, k, RatedKeys(k, first_key, out.cols()), first, first_key, out);
}

void mixing_vjp(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first, int first_key,
                ConstMatrixRef by_matrix, MatrixRef by_q, MatrixRef by_k) {
    HEADLIGHT_CHECK(rule.recurrence && by_matrix.cols() == by_k.rows() && by_matrix.rows() == by_q.rows() &&
                    by_k.cols() == rated_width(rule, q.cols()));
    const RecurrenceSpec::Kind kind = rule.recurrence->kind;
    if (kind == RecurrenceSpec::Kind::convolution) return;  // it does not depend on them
    constexpr Index kQueries = 8;                           // memory: keys · d_head · queries
    std::optional<RatedKeys> rated;
    if (kind != RecurrenceSpec::Kind::selective) rated.emplace(k, first_key, by_matrix.cols());
    for (Index at = 0; at < by_matrix.rows(); at += kQueries) {
        const Index count = std::min(kQueries, by_matrix.rows() - at);
        const auto by = by_matrix.middleRows(at, count);
        auto own_q = by_q.middleRows(at, count);
        if (!rated)
            selective_vjp(rule, head, q, k, first + at, first_key, by, own_q, by_k);
        else if (kind == RecurrenceSpec::Kind::state_space)
            state_space_vjp(rule, q, *rated, first + at, first_key, by, own_q, by_k);
        else
            delta_vjp(rule.scale, q, *rated, first + at, first_key, by, own_q, by_k);
    }
}

}  // namespace headlight
