// Compares heads, ΔE and predictions of two runs.
#include "analysis/comparison/run_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/attribution/delta.h"
#include "base/cast.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr Index kMaxSide = 96;
constexpr size_t kListed = 7;
constexpr int kChangedTokens = 16;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Max-pools blocks, by value or by magnitude.
Matrix reduced(const Matrix& m, int step, bool of_magnitude) {
    Matrix out((m.rows() + step - 1) / step, (m.cols() + step - 1) / step);
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c) {
            const auto block = m.block(r * step, c * step, std::min<Index>(step, m.rows() - r * step),
                                       std::min<Index>(step, m.cols() - c * step));
            const float high = block.maxCoeff(), low = block.minCoeff();
            out(r, c) = of_magnitude && !is_masked(low) && -low > high ? low : high;
        }
    return out;
}

/// Lists the largest differences by magnitude; equal up to rounding, in reading order.
std::vector<PairedMap::Difference> largest_of(const Matrix& difference) {
    constexpr float kRounding = 5e-7f;  // smaller ones are shown as no difference
    std::vector<Index> order(difference.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto count = std::min(kListed, order.size());
    const auto place = [&](Index i) {
        return std::pair(-std::round(std::abs(difference.data()[i]) / kRounding), i);
    };
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](Index x, Index y) { return place(x) < place(y); });
    std::vector<PairedMap::Difference> out;
    for (size_t i = 0; i < count; ++i) {
        const Index at = order[i];
        if (difference.data()[at] != 0)
            out.push_back({narrow<int>(at / difference.cols()), narrow<int>(at % difference.cols()),
                           difference.data()[at]});
    }
    return out;
}

std::vector<std::string> pair_labels(const TokenPairs& pairs, const std::vector<std::string>& a,
                                     const std::vector<std::string>& b) {
    std::vector<std::string> out;
    for (const TokenPair& p : pairs) {
        const std::string x = p.a >= 0 ? a[p.a] : "", y = p.b >= 0 ? b[p.b] : "";
        out.push_back(p.both() && x != y ? x + " | " + y : p.a >= 0 ? x : y);
    }
    return out;
}

/// Returns 0 in place of masked and absent entries.
Matrix unmasked(const Matrix& m) { return (m.array() <= kMasked).select(0.0f, m); }

/// Lays out both sides and derives the rest.
void fill(PairedMap& m, const Matrix& a, const Matrix& b) {
    m.a = laid_out(a, m.rows, m.columns, Side::a, kAbsent);
    m.b = laid_out(b, m.rows, m.columns, Side::b, kAbsent);
    m.difference = (m.a.array() == kAbsent || m.b.array() == kAbsent)
                       .select(Matrix::Zero(m.a.rows(), m.a.cols()), unmasked(m.a) - unmasked(m.b));
    m.step = narrow<int>((std::max(m.a.rows(), m.a.cols()) + kMaxSide - 1) / kMaxSide);
    m.small_a = reduced(m.a, m.step, m.is_mixing);
    m.small_b = reduced(m.b, m.step, m.is_mixing);
    m.small_difference = reduced(m.difference, m.step, true);
    m.largest = largest_of(m.difference);
}

/// Measures the distance of every head of B that reads the same sides from one of A; NaN of the others.
Result<PerHead<float>> distances_from(const Trace& a, AttentionHead head, const Trace& b,
                                      const Alignment& how, ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = b.config();
    PerHead<float> out(c, kNone);
    const auto alike = [&](int block) { return reads_same(a.config(), head.block, c, block); };
    int first = 0;
    while (first < c.blocks() && !alike(first)) ++first;
    if (first == c.blocks()) return out;
    const BlockPairs pairs = align_blocks(how, a, head.block, b, first);
    const CancelScope scope(pool, cancel);
    for_heads(c, pool, [&](AttentionHead there) {
        if (alike(there.block))
            out[there] = head_distance(a, head.block, head.head, b, there.block, there.head, pairs, cancel);
    });
    return out;
}

/// Returns the head with the smallest distance but `itself`; equal ones: the first.
AttentionHead nearest_of(const PerHead<float>& distances, const ModelConfig& c, AttentionHead itself) {
    AttentionHead best = itself;
    float least = std::numeric_limits<float>::infinity();
    for (int i = 0; i < isize(distances); ++i)
        if (c.head_at(i) != itself && distances[size_t(i)] < least) {
            best = c.head_at(i);
            least = distances[size_t(i)];
        }
    return best;
}

AttentionHead clamped_head(const ModelConfig& c, int block, int head) {
    block = std::clamp(block, 0, c.blocks() - 1);
    return {block, std::clamp(head, 0, c.heads(block) - 1)};
}

/// "cross 2.5 attends from target to source".
std::string reads_what(const ModelConfig& c, AttentionHead head) {
    constexpr const char* kSides[] = {"within the text", "within the source", "within the target",
                                      "from target to source"};
    return head_name(c, head) + (c.attention(head.block).recurrence ? " mixes tokens " : " attends ") +
           row_of(kSides, c.block(head.block).kind);
}

/// Draws one side over its own tokens.
PairedMap map_alone(const Trace& t, AttentionHead head, Side side) {
    PairedMap out;
    const AttentionBlock block = t.config().block(head.block);
    const auto tokens = [side](int count) {
        TokenPairs pairs = paired_with_itself(count);
        for (TokenPair& p : pairs) (side == Side::a ? p.b : p.a) = -1;
        return pairs;
    };
    out.rows = tokens(t.query_count(head.block));
    out.columns = tokens(t.key_count(head.block));
    out.row_labels = token_labels(t, block.stack);
    out.column_labels = token_labels(t, block.key_stack);
    const Matrix weights = masked_pattern(t, head.block, head.head);
    out.is_mixing = t.is_mixing(head.block);
    fill(out, weights, weights);
    return out;
}

/// Lays both heads out along the tokens that they share, and measures each row.
void compare_rows(HeadPair& out, const Trace& a, AttentionHead head, const Trace& b, const Alignment& how) {
    BlockPairs pairs = align_blocks(how, a, head.block, b, out.b.block);
    const AttentionBlock x = a.config().block(head.block), y = b.config().block(out.b.block);
    out.map.row_labels = pair_labels(pairs.queries, token_labels(a, x.stack), token_labels(b, y.stack));
    out.map.column_labels =
        pair_labels(pairs.keys, token_labels(a, x.key_stack), token_labels(b, y.key_stack));
    check_fits(std::ssize(pairs.queries) * std::ssize(pairs.keys) *
               32);  // both sides twice, their difference, its order
    out.map.rows = std::move(pairs.queries);
    out.map.columns = std::move(pairs.keys);
    out.map.is_mixing = a.is_mixing(head.block);
    const auto distance = out.map.is_mixing ? mixing_distance : divergence;
    fill(out.map, masked_pattern(a, head.block, head.head), masked_pattern(b, out.b.block, out.b.head));
    for (int r = 0; r < isize(out.map.rows); ++r)
        out.by_query.push_back(out.map.rows[r].both() ? distance(unmasked(out.map.a.row(r)).row(0),
                                                                 unmasked(out.map.b.row(r)).row(0))
                                                      : kNone);
}

}  // namespace

const Trace* RunPair::b(const Runs& runs) const {
    switch (versus) {
        case Versus::head:
            return &runs.shown;
        case Versus::unchanged:
            return runs.own ? runs.own : &runs.shown;
        case Versus::other:
            return runs.other;
    }
    return nullptr;
}

Result<HeadPair> answer_head_pair(const Runs& runs, const HeadPairRequest& w, ThreadPool& pool,
                                  const CancelFlag* cancel) {
    HeadPair out;
    const Trace &a = runs.shown, *b = w.runs.b(runs);
    if (!b) return out;
    const AttentionHead head{w.block, w.head};
    out.texts = align_stacks(w.runs.alignment, a, 0, *b, 0);
    out.each_to_itself = w.runs.versus == Versus::unchanged ||
                         (w.runs.versus == Versus::other && same_heads(a.config(), b->config()));
    if (out.each_to_itself) {
        TRY(out.distances, head_distances(a, *b, w.runs.alignment, pool, cancel));
    } else {
        TRY(out.distances, distances_from(a, head, *b, w.runs.alignment, pool, cancel));
    }
    const AttentionHead itself = b == &a ? head : AttentionHead{-1, -1};
    const bool itself_there = w.runs.versus == Versus::unchanged || (w.block_b < 0 && out.each_to_itself);
    out.b = itself_there    ? head
            : w.block_b < 0 ? nearest_of(out.distances, b->config(), itself)
                            : AttentionHead{w.block_b, w.head_b};
    out.b = clamped_head(b->config(), out.b.block, out.b.head);
    if (reads_same(a.config(), head.block, b->config(), out.b.block)) {
        compare_rows(out, a, head, *b, w.runs.alignment);
        return out;
    }
    out.map = map_alone(a, head, Side::a);
    out.alone = map_alone(*b, out.b, Side::b);
    out.apart = reads_what(a.config(), head) + ", " + reads_what(b->config(), out.b) +
                ": weights over different tokens cannot be subtracted.";
    return out;
}

Result<DeltaPair> answer_delta_pair(const Runs& runs, const DeltaPairRequest& w, ThreadPool& pool,
                                    const CancelFlag* cancel) {
    DeltaPair out;
    const Trace &a = runs.shown, *b = w.runs.b(runs);
    if (!b || w.stack >= isize(b->config().stacks) || !a.has_weights() || !b->has_weights()) return out;
    TRY(const DeltaMaps mine, answer_delta_maps(a, DeltaMapsRequest{w.stack}, pool, cancel));
    TRY(const DeltaMaps theirs, answer_delta_maps(*b, DeltaMapsRequest{w.stack}, pool, cancel));
    if (mine.blocks.size() != theirs.blocks.size()) return out;
    const auto labels_a = token_labels(a, w.stack), labels_b = token_labels(*b, w.stack);
    out.map.rows = paired_with_itself(isize(mine.blocks));
    out.map.columns = align_stacks(w.runs.alignment, a, w.stack, *b, w.stack);
    for (const int block : mine.blocks) out.map.row_labels.push_back(block_name(a.config(), block));
    out.map.column_labels = pair_labels(out.map.columns, labels_a, labels_b);
    const auto ratio = [](const DeltaMaps& m) -> Matrix {
        return (m.delta.array() / m.before.array().max(1e-12f)).matrix().transpose();
    };
    fill(out.map, ratio(mine), ratio(theirs));
    return out;
}

Result<PredictionPair> answer_prediction_pair(const Runs& runs, const PredictionPairRequest& w,
                                              ThreadPool& pool, const CancelFlag* cancel) {
    PredictionPair out;
    const Trace &a = runs.shown, *b = w.runs.b(runs);
    if (!b || !a.model->has_logits() || !b->model->has_logits()) return out;
    const int stack_a = isize(a.request.inputs) - 1, stack_b = isize(b->request.inputs) - 1;
    const auto labels_a = token_labels(a, stack_a), labels_b = token_labels(*b, stack_b);
    out.positions = align_stacks(w.runs.alignment, a, stack_a, *b, stack_b);
    out.labels = pair_labels(out.positions, labels_a, labels_b);
    const auto places_a = predicting_positions(a), places_b = predicting_positions(*b);
    const bool chosen = w.position >= 0 && w.position < a.output().size();
    out.position_a = chosen ? w.position : places_a.empty() ? -1 : places_a[0];
    out.position_b = !chosen || contains(places_a, w.position) ? places_b.empty() ? -1 : places_b[0] : -1;
    if (out.position_b < 0 && out.position_a >= 0)
        out.position_b = out.positions[index_of(out.positions, out.position_a)].b;
    if (out.position_a >= 0 && out.position_b >= 0)
        out.tokens = probability_changes(a, out.position_a, *b, out.position_b, kChangedTokens, pool);
    if (a.config().vocab == b->config().vocab) {
        TRY(out.divergence, prediction_divergence(a, *b, out.positions, pool, cancel));
    }
    return out;
}

void HeadPairRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
}
bool HeadPairRequest::valid_for(const Shown& shown) const {
    return block == shown.block && head == shown.head;
}

void DeltaPairRequest::clamp_to(const Trace& t) { stack = nearest_stack(t, stack); }
bool DeltaPairRequest::valid_for(const Shown& shown) const { return stack == shown.stack(); }

}  // namespace headlight
