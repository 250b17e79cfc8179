// A forward pass as a value. Every view, figure and number is a function of traces.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// What to run: one sequence per stack of the model.
struct ForwardRequest {
    std::vector<Sequence> inputs;
    Intervention intervention;
};

/// What came out; immutable, shared. Attention blocks are addressed by block (ModelConfig::block), heads by
/// number.
struct Trace {
    std::shared_ptr<const Model> model;
    ForwardRequest request;
    Activations activations;

    const ModelConfig& config() const { return model->config; }
    /// False for traces from files: patterns are there, and what needs a matrix of the model is not.
    bool has_weights() const { return !model->weights.stacks.empty(); }
    /// Whether q·k gives the scores of a block: not where only patterns were recorded.
    bool has_scores(int block) const { return !rule(block).is_recorded(); }
    /// The sequences whose tokens are a block's queries and keys.
    const Sequence& queries(int block) const;
    const Sequence& keys(int block) const;
    int query_count(int block) const { return queries(block).size(); }
    int key_count(int block) const { return keys(block).size(); }
    /// The tokens of all stacks, and where those of one begin among them: columns of maps of all inputs.
    int token_count() const { return first_token(isize(request.inputs)); }
    int first_token(int stack) const;
    /// The sequence that predicts: the decoder's, or the only one.
    const Sequence& output() const { return request.inputs.back(); }

    const AttentionActivations& attention(int block) const;
    const AttentionRule& rule(int block) const { return *attention(block).rule; }
    const StackActivations& stack(int index) const { return *activations.stacks[index]; }
    /// [n, d_model] after the final norm of the stack that predicts.
    const Rows& normalized() const { return activations.stacks.back()->normalized; }

    /// [rows, heads · d_head]: pattern · v of every head, for queries from `first` on.
    Matrix z(int block, int first, int rows, ThreadPool& pool) const;
    /// [n, d_head] of one head; k and v of the key/value head that it reads.
    Rows q(int block, int head) const;
    Rows k(int block, int head) const;
    Rows v(int block, int head) const;

    /// [queries, keys], softmax over the keys: each row sums to 1, masked entries are 0. What takes [queries,
    /// keys] throws Failure where there is no memory for it.
    Matrix pattern(int block, int head) const;
    /// [rows, keys] of the pattern, for queries from `first` on.
    Matrix pattern_rows(int block, int head, int first, int rows) const;
    /// [queries, keys], before the mask and before a temperature.
    Matrix scores(int block, int head) const;
    /// [n, d_model], the residual stream that leaves a layer; the next one's resid_pre but for the rows that
    /// a person put there.
    Rows resid_post(int stack, int layer) const;
    /// [n, d_model], what a layer's MLP is added to; in parallel models what attention left.
    Matrix resid_mid(int stack, int layer, ThreadPool& pool) const;
    /// [heads, d_model], each head's ΔE at one query: z through its slice of the output matrix, without the
    /// bias.
    Matrix results(int block, int query, ThreadPool& pool) const;
    /// The same as they arrive in the residual stream: through the norm on what the block adds, where there
    /// is one (Gemma 2), with the scale it has in this pass. With the output bias they sum to attn_out.
    Matrix head_additions(int block, int query, ThreadPool& pool) const;
    /// [n, d_model], the residual stream that the block's ΔE is added to: resid_pre, or, for cross-attention,
    /// what self-attention left.
    Matrix resid_before(int block, ThreadPool& pool) const;
    /// [rows, d_model], the layer's ΔE at the queries from `first` on: what the block adds, nothing where it
    /// was skipped; proj_out: before the norm on it.
    Matrix attn_out(int block, int first, int rows, ThreadPool& pool) const;
    Matrix attn_out(int block, ThreadPool& pool) const {
        return attn_out(block, 0, query_count(block), pool);
    }
    Matrix proj_out(int block, int first, int rows, ThreadPool& pool) const;
    /// [n, d_model], what a layer's MLP adds to the residual stream.
    Matrix mlp_out(int stack, int layer, ThreadPool& pool) const;
    /// Whether a bias stands behind the block's heads, so that it adds more than they do.
    bool adds_bias(int block) const;
    /// The block's weights.
    const AttentionWeights& weights(int block) const;
};

/// Puts −1 where a row of weights is 0 because the mask hides the key: everywhere that a view calls a cell
/// masked. A fully masked row has no such cell (MaskPlan), and a frozen pattern may weigh what the mask
/// hides.
void mark_masked(const MaskPlan& mask, int query, std::span<float> weights);

/// The pattern of one head with such marks; [rows, keys] of it for queries from `first` on.
Matrix masked_pattern(const Trace& trace, int block, int head);
Matrix masked_pattern_rows(const Trace& trace, int block, int head, int first, int rows);

/// Queries of a head that may see nothing, so that their rows are uniform (MaskPlan).
std::vector<int> fully_masked_rows(const Trace& trace, int block, int head);

/// Shows the tiles of a head's queries [first, last), as a pass does: the same bits.
void show_pattern(const Trace& trace, AttentionHead head, int first, int last, const ThreadPool& pool,
                  PatternObserver& observer);

/// A masked pattern for display without the first key, on which heads rest when they have nothing to look at:
/// hidden, and each row's rest made to sum to 1. Nothing is computed anew.
Matrix without_first_key(Matrix weights);

/// Runs the request. Fails where the model cannot read its sequences (check_sequences), as forward() does,
/// where the model's file changed on the disk while it was read, and, saying so, when `cancel` was set. With
/// `past`, what cannot have changed since that trace is taken from it (trace/reuse.h).
/// `observer` sees the patterns of what is computed.
Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request,
                                               ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                               const Trace* past = nullptr,
                                               PatternObserver* observer = nullptr);

/// One of several passes: the arguments that run_trace takes for it.
struct TraceRequest {
    ForwardRequest request;
    const Trace* past = nullptr;
    PatternObserver* observer = nullptr;
};

/// How many passes like this one, `count` at most, may advance together, so that their activations fit
/// memory.
int passes_together(const Trace& trace, int count);

/// The same for several requests, whose passes advance together: weights are read once for all. The traces,
/// bit for bit, are those of one after another.
Result<std::vector<std::shared_ptr<const Trace>>> run_traces(const std::shared_ptr<const Model>& model,
                                                             std::vector<TraceRequest> requests,
                                                             ThreadPool& pool,
                                                             const CancelFlag* cancel = nullptr);

}  // namespace headlight
