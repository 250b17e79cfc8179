// Represents a forward pass as a value. Every view, figure and number is a function of traces.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/masked.h"
#include "model/forward.h"

namespace headlight {

/// Says what to run: one sequence per stack of the model.
struct ForwardRequest {
    std::vector<Sequence> inputs;
    Intervention intervention;
};

/// Holds the results; immutable, shared. Indexed by attention block (ModelConfig::block) and head.
struct Trace {
    std::shared_ptr<const Model> model;
    ForwardRequest request;
    Activations activations;

    const ModelConfig& config() const { return model->config; }
    /// Returns false for traces from files, which hold patterns and nothing that needs a matrix of the model,
    /// and for passes elsewhere (Model::engine).
    bool has_weights() const { return !model->weights.stacks.empty(); }
    /// Returns whether its model can run again, here or elsewhere: not if it was read from a file.
    bool can_run() const { return has_weights() || model->engine != nullptr; }
    /// Returns whether a block's scores follow from q·k: not if only patterns were recorded, or if a
    /// recurrence mixes its tokens.
    bool has_scores(int block) const { return !rule(block).is_recorded() && rule(block).is_softmax(); }
    /// Return the sequences whose tokens are a block's queries and keys.
    const Sequence& queries(int block) const;
    const Sequence& keys(int block) const;
    int query_count(int block) const { return queries(block).size(); }
    int key_count(int block) const { return keys(block).size(); }
    /// Count the tokens of all stacks, and those before a stack's first: columns of maps of all inputs.
    int token_count() const { return first_token(isize(request.inputs)); }
    int first_token(int stack) const;
    /// Returns the sequence that predicts: the decoder's, or the only one.
    const Sequence& output() const { return request.inputs.back(); }

    const AttentionActivations& attention(int block) const;
    const AttentionRule& rule(int block) const { return *attention(block).rule; }
    /// Returns whether a block's patterns are mixing matrices: signed, and their rows do not sum to 1.
    bool is_mixing(int block) const { return !rule(block).is_softmax(); }
    const StackActivations& stack(int index) const { return *activations.stacks[index]; }
    /// [n, d_model] after the final norm of the stack that predicts.
    const Rows& normalized() const { return activations.stacks.back()->normalized; }

    /// z = pattern · v, [rows, heads · d_value] of every head, for queries from `first` on.
    Matrix z(int block, int first, int rows, ThreadPool& pool) const;
    /// [rows, heads · d_value], z as W_O reads it: times the block's gate, if it has one.
    Matrix gated_z(int block, int first, int rows, ThreadPool& pool) const;
    /// [n, d_head] of one head, v [n, d_value]; k and v of the key/value head that it reads.
    Rows q(int block, int head) const;
    Rows k(int block, int head) const;
    Rows v(int block, int head) const;
    /// [n, key_width], keys as patterns are made of them: those of a recurrence with their rates.
    Rows rated_keys(int block, int head) const;

    /// [queries, keys], softmax over the keys: each row sums to 1 (with the weight of the head's sink, if it
    /// has one: sink_weights), masked entries are 0; or the mixing matrix of a recurrence. Every function
    /// that returns [queries, keys] throws Failure if memory is short.
    Matrix pattern(int block, int head) const;
    /// [rows, keys] of the pattern, for queries from `first` on.
    Matrix pattern_rows(int block, int head, int first, int rows) const;
    /// [queries, keys], before mask and temperature.
    Matrix scores(int block, int head) const;
    /// [n, d_model], the residual stream after a layer; the next one's resid_pre except in replaced rows. Of
    /// streams (StreamsSpec) the active one as the layer leaves it, from which the next one predicts its own.
    Rows resid_post(int stack, int layer) const;
    /// [n, d_model], the residual stream before a layer's MLP; in parallel models after attention.
    Matrix resid_mid(int stack, int layer, ThreadPool& pool) const;
    Matrix resid_mid(int stack, int layer, int first, int rows, ThreadPool& pool) const;
    /// [heads, d_model], each head's ΔE at one query: its z · W_O, without the bias.
    Matrix results(int block, int query, ThreadPool& pool) const;
    /// [heads, d_model], each head's ΔE as it enters the residual stream: after the block's post-norm (Gemma
    /// 2), with the scale of this pass. With the output bias they sum to attn_out.
    Matrix head_additions(int block, int query, ThreadPool& pool) const;
    /// [n, d_model], the residual stream before ΔE: resid_pre; of cross-attention: after self-attention.
    Matrix resid_before(int block, ThreadPool& pool) const;
    /// [rows, d_model], the block's ΔE at queries from `first` on, 0 if skipped; proj_out: before post-norm.
    Matrix attn_out(int block, int first, int rows, ThreadPool& pool) const;
    Matrix attn_out(int block, ThreadPool& pool) const {
        return attn_out(block, 0, query_count(block), pool);
    }
    Matrix proj_out(int block, int first, int rows, ThreadPool& pool) const;
    /// [rows, d_model], what a layer's MLP reads from `first` on, after its norm.
    Matrix mlp_input(int stack, int layer, int first, int rows, ThreadPool& pool) const;
    /// [n, d_model], the output of a layer's MLP.
    Matrix mlp_out(int stack, int layer, ThreadPool& pool) const;
    /// Returns whether the block has an output bias, so that its output differs from the sum of its heads.
    bool adds_bias(int block) const;
    const AttentionWeights& weights(int block) const;
};

/// Replaces weights that are 0 because of the mask by kMasked, which every view shows as masked. A fully
/// masked row has none (MaskPlan), and a frozen pattern may give weight to masked keys.
void mark_masked(const MaskPlan& mask, int query, std::span<float> weights);

/// Compute the pattern of one head with such marks, or [rows, keys] of it for queries from `first` on.
Matrix masked_pattern(const Trace& trace, int block, int head);
Matrix masked_pattern_rows(const Trace& trace, int block, int head, int first, int rows);

/// [rows, keys]: a head's pattern; of a mixing matrix the sizes of its entries, divided by their row's sum.
Matrix shares_of_keys(const Trace& trace, AttentionHead head, int first, int rows);

/// Returns the weight that queries from `first` on leave to the head's sink (AttentionSpec::sinks): a column
/// beside the keys, with which rows sum to 1; 0 in blocks without sinks.
Vector sink_weights(const Trace& trace, AttentionHead head, int first, int rows);

/// Returns the fully masked queries of a head, whose rows are uniform (MaskPlan).
std::vector<int> fully_masked_rows(const Trace& trace, int block, int head);

/// Shows the tiles of a head's queries [first, last), bit for bit those of a pass.
void show_pattern(const Trace& trace, AttentionHead head, int first, int last, const ThreadPool& pool,
                  PatternObserver& observer);

/// Hides the first key, the attention sink on which heads rest when nothing else matters, and rescales each
/// row of a masked pattern to sum to 1; of a mixing matrix it only hides it. For display only.
Matrix without_first_key(Matrix weights, bool is_mixing);

/// Runs the request. Fails as forward() does, if the model cannot read its sequences (check_sequences), if
/// the model's file changed on disk meanwhile, and if `cancel` was set. With `past`, reuses what cannot have
/// changed since that trace (trace/reuse.h). `observer` sees the computed patterns.
Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request,
                                               ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                               const Trace* past = nullptr,
                                               PatternObserver* observer = nullptr);

struct TraceRequest {
    ForwardRequest request;
    const Trace* past = nullptr;
    PatternObserver* observer = nullptr;
};

/// Returns the number of passes like this, at most `count`, whose activations fit in memory together.
int passes_together(const Trace& trace, int count);

/// Runs several requests together, so that weights are read once; bit for bit as one after another.
Result<std::vector<std::shared_ptr<const Trace>>> run_traces(const std::shared_ptr<const Model>& model,
                                                             std::vector<TraceRequest> requests,
                                                             ThreadPool& pool,
                                                             const CancelFlag* cancel = nullptr);

}  // namespace headlight
