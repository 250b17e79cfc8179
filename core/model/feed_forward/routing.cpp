// Chooses experts by the router's scores, and maps gradients by their weights back to the scores.
#include "model/feed_forward/routing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/cast.h"
#include "model/activation.h"

namespace headlight {

namespace {

/// Returns the numbers of the `count` largest values, the largest first; of equal ones the first.
std::vector<int> largest(std::span<const float> values, int count) {
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
    order.resize(count);
    return order;
}

/// Leaves −∞ in all groups of experts but those with the largest sums of their two largest values (DeepSeek
/// V3), or with the largest value (V2).
void keep_groups(const ExpertsSpec& spec, std::vector<float>& values) {
    if (spec.groups <= 1) return;
    const int size = spec.count / spec.groups;
    std::vector<float> sums;
    for (int g = 0; g < spec.groups; ++g) {
        const std::span<const float> group(values.data() + g * size, size);
        const std::vector<int> best = largest(group, std::min(size, spec.group_top));
        sums.push_back(std::accumulate(best.begin(), best.end(), 0.0f,
                                       [&](float sum, int i) { return sum + group[i]; }));
    }
    const std::vector<int> kept = largest(sums, spec.groups_used);
    for (int g = 0; g < spec.groups; ++g)
        if (!contains(kept, g))
            std::fill_n(values.begin() + g * size, size, -std::numeric_limits<float>::infinity());
}

/// Returns what each score counts for: softmax over all, σ, or the score itself.
std::vector<float> shares(const ExpertsSpec& spec, std::span<const float> scores) {
    std::vector<float> out(scores.begin(), scores.end());
    if (spec.routing == Routing::sigmoid)
        for (float& value : out) value = sigmoid(value);
    if (spec.routing != Routing::softmax) return out;
    const float top = *std::max_element(out.begin(), out.end());
    float sum = 0;
    for (float& value : out) sum += value = std::exp(value - top);
    for (float& value : out) value /= sum;
    return out;
}

/// Divides weights by their sum, where the family does so.
void normalize(const ExpertsSpec& spec, std::vector<ExpertChoice>& chosen) {
    if (spec.routing == Routing::softmax_of_chosen) {
        const float top = chosen.front().weight;
        for (ExpertChoice& c : chosen) c.weight = std::exp(c.weight - top);
    }
    if (!spec.normalize && spec.routing != Routing::softmax_of_chosen) return;
    float sum = 0;
    for (const ExpertChoice& c : chosen) sum += c.weight;
    for (ExpertChoice& c : chosen) c.weight /= std::max(sum, spec.least_sum);
}

/// Lists the experts from which a SparseMixer draws the next one, after those chosen so far: those whose
/// score s is near the largest one m, (m − s) ≤ 2 · jitter · max(|s|, m); the largest first.
std::vector<int> mixer_candidates(const ExpertsSpec& spec, std::span<const float> scores,
                                  std::span<const ExpertChoice> chosen) {
    std::vector<float> left(scores.begin(), scores.end());
    for (const ExpertChoice& c : chosen) left[c.expert] = -std::numeric_limits<float>::infinity();
    std::vector<int> out = largest(left, spec.count - isize(chosen));
    const float top = left[out.front()];
    std::erase_if(out, [&](int e) {
        const float s = scores[e];
        return (top - s) / std::max(std::abs(s), top) > 2 * spec.jitter;
    });
    return out;
}

/// Returns the softmax over some scores alone, the largest first.
std::vector<float> mixer_shares(std::span<const float> scores, const std::vector<int>& candidates) {
    std::vector<float> out;
    float sum = 0;
    for (const int e : candidates) {
        out.push_back(std::exp(scores[e] - scores[candidates.front()]));
        sum += out.back();
    }
    for (float& share : out) share /= sum;
    return out;
}

std::vector<ExpertChoice> sparse_mixer(const ExpertsSpec& spec, std::span<const float> scores) {
    std::vector<ExpertChoice> out;
    while (isize(out) < spec.used) {
        const std::vector<int> candidates = mixer_candidates(spec, scores, out);
        out.push_back({candidates.front(), mixer_shares(scores, candidates).front()});
    }
    return out;
}

/// Maps gradients by the weights of a SparseMixer to those by scores; `chosen` in any order.
Eigen::RowVectorXf mixer_vjp(const ExpertsSpec& spec, std::span<const float> scores,
                             const std::vector<ExpertChoice>& chosen, std::span<const float> by_weight) {
    Eigen::RowVectorXf out = Eigen::RowVectorXf::Zero(spec.count);
    std::vector<ExpertChoice> before;
    for (const ExpertChoice& next : sparse_mixer(spec, scores)) {
        const std::vector<int> candidates = mixer_candidates(spec, scores, before);
        const std::vector<float> share = mixer_shares(scores, candidates);
        float by = 0;
        for (size_t i = 0; i < chosen.size(); ++i)
            if (chosen[i].expert == next.expert) by = by_weight[i];
        for (size_t i = 0; i < candidates.size(); ++i)
            out[candidates[i]] += by * next.weight * (float(i == 0) - share[i]);
        before.push_back(next);
    }
    return out * spec.scale;
}

}  // namespace

Eigen::RowVectorXf scores_vjp(const ExpertsSpec& spec, std::span<const float> scores,
                              const std::vector<ExpertChoice>& chosen, std::span<const float> by_weight) {
    if (spec.routing == Routing::sparse_mixer) return mixer_vjp(spec, scores, chosen, by_weight);
    Eigen::RowVectorXf out = Eigen::RowVectorXf::Zero(spec.count);
    const std::vector<float> share = shares(spec, scores);
    float mean = 0, sum = 0;  // Σ weight · gradient, and Σ share of the chosen
    for (size_t i = 0; i < chosen.size(); ++i) {
        mean += chosen[i].weight / spec.scale * by_weight[i];
        sum += share[chosen[i].expert];
    }
    const bool of_chosen = spec.routing == Routing::softmax_of_chosen, divided = of_chosen || spec.normalize,
               over_chosen = of_chosen || (spec.normalize && sum > spec.least_sum);  // else by a constant
    for (size_t i = 0; i < chosen.size(); ++i) {
        const int e = chosen[i].expert;
        const float weight = chosen[i].weight / spec.scale;
        if (spec.routing == Routing::sigmoid) {
            const float by_share =
                (by_weight[i] - (over_chosen ? mean : 0)) / (divided ? std::max(sum, spec.least_sum) : 1);
            out[e] = by_share * share[e] * (1 - share[e]);
        } else if (over_chosen) {
            out[e] = weight * (by_weight[i] - mean);
        } else {
            out[e] += weight * by_weight[i];
        }
    }
    if (spec.routing == Routing::softmax && !over_chosen)
        for (int e = 0; e < spec.count; ++e) out[e] -= share[e] * mean;
    return out * spec.scale;
}

Matrix router_scores(const StackRun& run, const ExpertsSpec& spec, const LayerWeights& w, ConstMatrixRef x) {
    Matrix scores = project(run.pool, read_by(w.apart.router_reads, x), w.router);
    if (spec.score_cap > 0) scores = ((scores.array() / spec.score_cap).tanh() * spec.score_cap).matrix();
    return scores;
}

std::vector<ExpertChoice> choose_experts(const ExpertsSpec& spec, std::span<const float> scores,
                                         const float* bias) {
    std::vector<ExpertChoice> out;
    if (spec.routing == Routing::sparse_mixer) {
        out = sparse_mixer(spec, scores);
    } else {
        const std::vector<float> share = shares(spec, scores);
        std::vector<float> by = share;
        if (spec.by_scores) by.assign(scores.begin(), scores.end());
        if (bias)
            for (int e = 0; e < spec.count; ++e) by[e] += bias[e];
        keep_groups(spec, by);
        for (const int e : largest(by, spec.used)) out.push_back({e, share[e]});
        normalize(spec, out);
    }
    for (ExpertChoice& c : out) c.weight *= spec.scale;
    return out;
}

std::vector<std::vector<ExpertChoice>> route(const StackRun& run, const ExpertsSpec& spec,
                                             const LayerWeights& w, ConstMatrixRef x) {
    const Matrix scores = router_scores(run, spec, w, x);
    std::vector<std::vector<ExpertChoice>> out;
    for (Index i = 0; i < x.rows(); ++i) {
        out.push_back(choose_experts(spec, {scores.row(i).data(), size_t(spec.count)}, w.router_bias));
        for (ExpertChoice& c : out.back())
            if (w.expert_scales) c.weight *= w.expert_scales[c.expert];
    }
    return out;
}

std::vector<float> router_shares(const StackRun& run, const ExpertsSpec& spec, const LayerWeights& w,
                                 ConstMatrixRef x) {
    const Matrix scores = router_scores(run, spec, w, x);
    ExpertsSpec over_all = spec;  // softmax over the chosen ranks as softmax over all does
    if (spec.routing != Routing::sigmoid) over_all.routing = Routing::softmax;
    return shares(over_all, {scores.data(), size_t(spec.count)});
}

}  // namespace headlight
