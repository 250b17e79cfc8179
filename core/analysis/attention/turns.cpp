#include "analysis/attention/turns.h"

#include <algorithm>
#include <limits>

#include "analysis/attribution/contribution.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr int kRowsAtOnce = 64;

/// Counts the queries of each turn.
std::vector<int> query_counts(const TurnsRequest& r) {
    std::vector<int> out(static_cast<size_t>(r.turns));
    for (const int turn : r.of_query)
        if (turn >= 0) ++out[static_cast<size_t>(turn)];
    return out;
}

/// Adds rows of weights, for queries from `first` on, to the rows of their turns.
void add_rows(const TurnsRequest& r, const Matrix& rows, int first, Matrix& sums) {
    for (Index i = 0; i < rows.rows(); ++i)
        if (const int turn = r.of_query[static_cast<size_t>(first + i)]; turn >= 0)
            sums.row(turn) += rows.row(i);
}

void divide_by_counts(const TurnsRequest& r, Matrix& sums) {
    const std::vector<int> counts = query_counts(r);
    for (int turn = 0; turn < r.turns; ++turn) {
        const int count = counts[static_cast<size_t>(turn)];
        sums.row(turn) *= count ? 1.0f / float(count) : std::numeric_limits<float>::quiet_NaN();
    }
}

/// [turns, turns]: sums columns over the keys of each turn.
Matrix by_turn(const TurnsRequest& r, const Matrix& tokens) {
    Matrix out = Matrix::Zero(r.turns, r.turns);
    for (Index k = 0; k < tokens.cols(); ++k)
        if (const int turn = r.of_key[static_cast<size_t>(k)]; turn >= 0) out.col(turn) += tokens.col(k);
    return out;
}

/// [turns, keys]: means of one head's rows over the queries of each turn.
Matrix head_rows(const Trace& trace, const TurnsRequest& r, AttentionHead head, const ThreadPool& pool) {
    const int n = isize(r.of_query);
    Matrix sums = Matrix::Zero(r.turns, n);
    for (int first = 0; first < n && !pool.stopped(); first += kRowsAtOnce)
        add_rows(r, shares_of_keys(trace, head, first, std::min(kRowsAtOnce, n - first)), first, sums);
    divide_by_counts(r, sums);
    return sums;
}

/// Combines all heads, or keeps the chosen one's rows.
class Combined {
public:
    explicit Combined(const TurnsRequest& r) : r_(r) {
        out_.tokens = Matrix::Zero(r.turns, isize(r.of_key));
        out_.turns = Matrix::Zero(r.turns, r.turns);
    }
    void add(AttentionHead head, const Matrix& tokens, const Matrix& turns) {
        if (r_.head && !(*r_.head == head)) return;
        ++count_;
        if (r_.measure == TurnMeasure::max) {
            out_.tokens = out_.tokens.cwiseMax(tokens);
            out_.turns = out_.turns.cwiseMax(turns);
        } else {
            out_.tokens += tokens;
            out_.turns += turns;
        }
    }
    TurnWeights finish(Matrix heads) {
        const float by = r_.measure == TurnMeasure::max || count_ == 0 ? 1 : 1 / float(count_);
        out_.tokens *= by;
        out_.turns *= by;
        const std::vector<int> counts = query_counts(r_);
        for (int turn = 0; turn < r_.turns; ++turn)
            if (counts[static_cast<size_t>(turn)] == 0) {  // a maximum drops NaN
                out_.tokens.row(turn).setConstant(std::numeric_limits<float>::quiet_NaN());
                out_.turns.row(turn).setConstant(std::numeric_limits<float>::quiet_NaN());
            }
        out_.heads = std::move(heads);
        return std::move(out_);
    }

private:
    const TurnsRequest& r_;
    TurnWeights out_;
    int count_ = 0;
};

Result<TurnWeights> weights_of_heads(const Trace& trace, const TurnsRequest& r, ThreadPool& pool,
                                     const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const Index pairs = Index{r.turns} * r.turns;
    check_fits((Index{c.head_count()} * pairs + Index{c.max_heads()} * r.turns * isize(r.of_key)) *
               int64_t{sizeof(float)});
    Matrix heads(c.head_count(), pairs);
    Combined combined(r);
    const CancelScope scope(pool, cancel);
    for (int block = 0; block < c.blocks(); ++block) {
        std::vector<Matrix> tokens(static_cast<size_t>(c.heads(block)));
        pool.run(c.heads(block), [&](int h) {
            tokens[static_cast<size_t>(h)] = head_rows(trace, r, {block, h}, pool);
        });
        if (stopped(cancel) || pool.stopped()) return cancelled();
        for (int h = 0; h < c.heads(block); ++h) {
            const Matrix turns = by_turn(r, tokens[static_cast<size_t>(h)]);
            combined.add({block, h}, tokens[static_cast<size_t>(h)], turns);
            heads.row(c.head_index({block, h})) = Eigen::Map<const Eigen::RowVectorXf>(turns.data(), pairs);
        }
    }
    return combined.finish(std::move(heads));
}

/// Means of contributions over layers: of all heads, or of one in its own layer.
Result<TurnWeights> contributions_of_turns(const Trace& trace, const TurnsRequest& r, ThreadPool& pool,
                                           const CancelFlag* cancel) {
    if (const std::string why = missing_contributions(trace); !why.empty()) return Error{why + "."};
    IncludedHeads included;
    std::vector<int> blocks = self_blocks(trace.config(), 0);
    if (r.head) {
        blocks = {r.head->block};
        for (int h = 0; h < trace.config().heads(r.head->block); ++h)
            if (h != r.head->head) included.left_out.insert({r.head->block, h});
    }
    const int n = isize(r.of_query);
    TurnWeights out;
    out.tokens = Matrix::Zero(r.turns, n);
    const CancelScope scope(pool, cancel);
    const BlockShares shares = contribution_shares(trace, included, pool);
    for (const int block : blocks) {
        const SharesOf rows_of = shares(block);
        const int parts = (n + kRowsAtOnce - 1) / kRowsAtOnce;
        std::vector<Matrix> keys(static_cast<size_t>(parts));
        pool.run(parts, [&](int part) {
            const int first = part * kRowsAtOnce;
            keys[static_cast<size_t>(part)] = rows_of(first, std::min(kRowsAtOnce, n - first)).keys;
        });
        if (stopped(cancel) || pool.stopped()) return cancelled();
        for (int part = 0; part < parts; ++part)
            add_rows(r, keys[static_cast<size_t>(part)], part * kRowsAtOnce, out.tokens);
    }
    out.tokens /= float(std::max<size_t>(1, blocks.size()));
    divide_by_counts(r, out.tokens);
    out.turns = by_turn(r, out.tokens);
    return out;
}

/// Tests whether a request is of these tokens: a text may have grown meanwhile.
bool is_of_text(const TurnsRequest& r, const Trace& trace) {
    const size_t n = trace.request.inputs.size() == 1 ? trace.request.inputs[0].ids.size() : 0;
    const auto fits = [&](const std::vector<int>& turns) {
        return turns.size() == n &&
               std::all_of(turns.begin(), turns.end(), [&](int turn) { return turn < r.turns; });
    };
    return n > 0 && r.turns > 0 && fits(r.of_query) && fits(r.of_key) &&
           (!r.head || trace.config().has_head(*r.head));
}

}  // namespace

Result<TurnWeights> turn_weights(const Trace& trace, const TurnsRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel) {
    if (!is_of_text(request, trace)) return Error{"The turns are of another text."};
    return guarded([&] {
        return request.measure == TurnMeasure::contribution
                   ? contributions_of_turns(trace, request, pool, cancel)
                   : weights_of_heads(trace, request, pool, cancel);
    });
}

Result<TurnsFound> measure_turns(const Runs& runs, const TurnsRequest& request, ThreadPool& pool,
                                 const CancelFlag* cancel, const std::function<void(TurnsFound)>&) {
    TurnsFound out;
    TRY(out.shown, turn_weights(runs.shown, request, pool, cancel));
    if (runs.own) {
        TRY(out.own, turn_weights(*runs.own, request, pool, cancel));
    }
    return out;
}

}  // namespace headlight
