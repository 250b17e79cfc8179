#include "analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

namespace headlight {

namespace {

constexpr int kBlock = 64, kTogether = 16;

/// Σ p log2(p / m).
double divergence_from(float p, float m) { return p > 0 ? static_cast<double>(p) * std::log2(static_cast<double>(p) / static_cast<double>(m)) : 0.0; }

/// Sum over the rows of two patterns.
double summed_divergence(const Matrix& a, const Matrix& b) {
    double sum = 0;
    for (Index r = 0; r < a.rows(); ++r) sum += static_cast<double>(divergence(a.row(r), b.row(r)));
    return sum;
}

float distance_of_head(const Trace& a, const Trace& b, int site, int head) {
    const int queries = std::min(a.query_count(site), b.query_count(site)), keys = std::max(a.key_count(site), b.key_count(site));
    double sum = 0;
    for (int first = 0; first < queries; first += kBlock) {
        const int rows = std::min(kBlock, queries - first);
        Matrix x = Matrix::Zero(rows, keys), y = Matrix::Zero(rows, keys);
        x.leftCols(a.key_count(site)) = a.pattern_rows(site, head, first, rows);
        y.leftCols(b.key_count(site)) = b.pattern_rows(site, head, first, rows);
        sum += summed_divergence(x, y);
    }
    return queries ? static_cast<float>(sum / queries) : 0.0f;
}

}  // namespace

float divergence(const Eigen::Ref<const Eigen::RowVectorXf>& a, const Eigen::Ref<const Eigen::RowVectorXf>& b) {
    double sum = 0;
    for (Index i = 0; i < a.size(); ++i) {
        const float middle = 0.5f * (a[i] + b[i]);
        sum += divergence_from(a[i], middle) + divergence_from(b[i], middle);
    }
    return static_cast<float>(std::max(0.0, sum / 2));
}

Result<std::vector<float>> head_distances(const Trace& a, const Trace& b, ThreadPool& pool, const CancelFlag* cancel) {
    if (a.config().sites() != b.config().sites() || a.config().heads != b.config().heads)
        return Error{a.model->name + " and " + b.model->name + " have different numbers of layers or heads, so their heads cannot be compared one by one."};
    std::vector<float> out(static_cast<size_t>(a.config().sites() * a.config().heads));
    pool.run(static_cast<int>(out.size()), [&](int i) {
        if (!stopped(cancel)) out[static_cast<size_t>(i)] = distance_of_head(a, b, i / a.config().heads, i % a.config().heads);
    });
    if (stopped(cancel)) return Error{"Cancelled."};
    return out;
}

std::vector<ProbabilityChange> probability_changes(const Trace& before, int position, const Trace& after, int position_after, int count, ThreadPool& pool) {
    const Vector a = probabilities_at(before, position, pool), b = probabilities_at(after, position_after, pool);
    std::set<int> ids;
    for (const Vector* p : {&a, &b})
        for (const int id : ranked_ids(*p, count)) ids.insert(id);
    std::vector<ProbabilityChange> out;
    for (const int id : ids) out.push_back({id, a[id], id < b.size() ? b[id] : 0.0f});
    std::stable_sort(out.begin(), out.end(), [](const ProbabilityChange& x, const ProbabilityChange& y) { return std::abs(x.after - x.before) > std::abs(y.after - y.before); });
    return out;
}

std::vector<float> prediction_divergence(const Trace& before, const Trace& after, ThreadPool& pool) {
    std::vector<float> out;
    for (int i = 0; i < std::min(before.output().size(), after.output().size()); ++i) {
        const Vector a = probabilities_at(before, i, pool), b = probabilities_at(after, i, pool);
        double sum = 0;
        for (Index id = 0; id < a.size(); ++id) sum += divergence_from(a[id], std::max(b[id], 1e-30f));
        out.push_back(static_cast<float>(std::max(0.0, sum)));
    }
    return out;
}

Result<std::vector<float>> head_effects(const Trace& trace, int position, int token, ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const float before = probabilities_at(trace, position, pool)[token];
    const int heads = c.sites() * c.heads;
    std::vector<float> out;
    Matrix rows(kTogether, c.d_model);  // the unembedding is read once for many
    for (int i = 0; i < heads; ++i) {
        ForwardRequest request = trace.request;
        request.intervention.changes.push_back({ChangeKind::zero, i / c.heads, i % c.heads, -1, -1, 0, nullptr});
        TRY(const auto ablated, run_trace(trace.model, std::move(request), pool, cancel, &trace));
        rows.row(i % kTogether) = ablated->normalized().row(position);
        if ((i + 1) % kTogether && i + 1 < heads) continue;
        const Matrix logits = unembed(*trace.model, rows.topRows(i % kTogether + 1), pool);
        for (Index r = 0; r < logits.rows(); ++r) out.push_back(probabilities(logits.row(r).transpose())[token] - before);
    }
    return out;
}

namespace {

bool same_tokens(const ModelConfig& c, int a, int b) { return c.site(a).stack == c.site(b).stack && c.site(a).key_stack() == c.site(b).key_stack(); }

/// How far every head that reads the same tokens is from one.
std::vector<float> distances_from(const Trace& trace, int site, int head, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const Matrix mine = trace.pattern(site, head);
    std::vector<float> out(static_cast<size_t>(c.sites() * c.heads), std::numeric_limits<float>::quiet_NaN());
    pool.run(static_cast<int>(out.size()), [&](int i) {
        if (!same_tokens(c, site, i / c.heads)) return;
        out[static_cast<size_t>(i)] = static_cast<float>(summed_divergence(mine, trace.pattern(i / c.heads, i % c.heads)) / static_cast<double>(mine.rows()));
    });
    return out;
}

/// The largest of each block, or the largest in magnitude.
Matrix reduced(const Matrix& m, int step, bool of_magnitude) {
    Matrix out((m.rows() + step - 1) / step, (m.cols() + step - 1) / step);
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c) {
            const auto block = m.block(r * step, c * step, std::min<Index>(step, m.rows() - r * step), std::min<Index>(step, m.cols() - c * step));
            const float high = block.maxCoeff(), low = block.minCoeff();
            out(r, c) = of_magnitude && -low > high ? low : high;
        }
    return out;
}

/// What a picture of the pair needs beyond the patterns themselves.
void fill_picture(HeadPair& p) {
    constexpr Index kMostCells = 96;
    constexpr size_t kListed = 7;
    const Matrix difference = p.a.cwiseMax(0.0f) - p.b.cwiseMax(0.0f);
    p.step = static_cast<int>((std::max(p.a.rows(), p.a.cols()) + kMostCells - 1) / kMostCells);
    p.small_a = reduced(p.a, p.step, false);
    p.small_b = reduced(p.b, p.step, false);
    p.small_difference = reduced(difference, p.step, true);
    std::vector<Index> order(static_cast<size_t>(difference.size()));
    std::iota(order.begin(), order.end(), Index{0});
    const auto count = static_cast<std::ptrdiff_t>(std::min(kListed, order.size()));
    std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Index x, Index y) { return std::abs(difference.data()[x]) > std::abs(difference.data()[y]); });
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const Index at = order[static_cast<size_t>(i)];
        p.largest.push_back({static_cast<int>(at / difference.cols()), static_cast<int>(at % difference.cols()), difference.data()[at]});
    }
    for (Index r = 0; r < p.a.rows(); ++r) p.by_query.push_back(divergence(p.a.row(r).cwiseMax(0.0f), p.b.row(r).cwiseMax(0.0f)));
}

}  // namespace

Result<HeadPair> find(const Trace& trace, const HeadPairWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    HeadPair out;
    out.a = masked_pattern(trace, w.site, w.head);
    if (w.unchanged) {
        TRY(const auto own, run_trace(trace.model, {trace.request.inputs, {}}, pool, cancel, &trace));
        out.b = masked_pattern(*own, w.site, w.head);
        TRY(out.distances, head_distances(*own, trace, pool, cancel));
    } else {
        const bool possible = same_tokens(trace.config(), w.site, w.site_b);
        out.b = masked_pattern(trace, possible ? w.site_b : w.site, w.head_b);
        out.distances = distances_from(trace, w.site, w.head, pool);
    }
    fill_picture(out);
    return out;
}

Result<HeadEffects> find(const Trace& trace, const HeadEffectsWanted&, ThreadPool& pool, const CancelFlag* cancel) {
    const auto positions = predicting_positions(trace);
    HeadEffects out;
    if (positions.empty()) return out;
    out.token = predictions(trace, positions[0], 1, pool)[0].id;
    TRY(out.change, head_effects(trace, positions[0], out.token, pool, cancel));
    return out;
}

Result<int> find_token(const Model& model, const std::string& label) {
    for (int id = 0; id < model.config.vocab; ++id)
        if (prediction_label(model, id) == label) return id;
    char* end = nullptr;
    const long id = std::strtol(label.c_str(), &end, 10);
    if (end != label.c_str() && !*end && id >= 0 && id < model.config.vocab) return static_cast<int>(id);
    return Error{"No token of " + model.name + " reads \"" + label.substr(0, 40) + "\"; give one token as 'headlight tokenize' spells it, without its blank, or its id."};
}

}  // namespace headlight
