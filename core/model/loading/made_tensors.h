// Makes tensors that checkpoints store in another form.
#pragma once

#include "model/loading/binder.h"

namespace headlight {

/// Spreads [out, own, 1] over a matrix that is 0 elsewhere: each group of outputs reads `own` inputs.
Linear block_diagonal(WeightStore& store, const float* values, int64_t in, int64_t out, int64_t own);

/// Spreads the kernels [d, own, kernel] of a convolution over a matrix [d, kernel · d] of the rows around a
/// token, that is 0 where a group of outputs reads no input.
Linear unfolded(WeightStore& store, const float* values, int64_t d, int64_t own, int64_t kernel);

/// Multiplies each output, with its bias, by a number of its own.
Linear scaled_outputs(WeightStore& store, const Linear& w, const float* by);

/// Multiplies the weights and biases of a norm of this width.
Norm scaled_norm(WeightStore& store, const Norm& norm, int64_t width, float scale);

/// Adds row 0 of another table to every row; returns the table as it is if one of them is missing.
Linear plus_first_row(WeightStore& store, const Linear& table, const Linear& other);

/// Returns the part of w, [out, own + joined], that reads the first `own` inputs; what it makes of the
/// tables' rows 0, which fill the others, is in its bias.
Linear without_joined(WeightStore& store, const Linear& w, int64_t own, const std::vector<Linear>& tables);

/// Counts what joined_by_head joins.
struct KeysAndValues {
    int64_t heads, d_key, d_value, rank;
};
/// Returns the matrix of latents to the keys and values of one head after another, from keys [heads, rank,
/// d_key] and values [heads, d_value, rank].
Linear joined_by_head(WeightStore& store, const float* keys, const float* values, const KeysAndValues& of);

/// Returns `width` outputs from `first` on of each of equal groups of outputs.
Linear part_of_groups(WeightStore& store, const Linear& whole, int64_t first, int64_t width, int64_t groups);

/// Splits what one matrix makes of a block's input into q, k and v.
void split_qkv(WeightStore& store, AttentionWeights& into, const Linear& qkv, const AttentionSpec& spec,
               Stored stored);

/// Splits what a recurrence makes of its input by one matrix: mixer_in, q, k, v and the gate, with the scores
/// of decay in a state space, or b, c and u of a convolution; mixer_rates, the scores of strength and decay.
void split_mixer(WeightStore& store, AttentionWeights& into, const Linear& whole, const AttentionSpec& spec,
                 Slot slot, Stored stored);

/// Joins the outputs of matrices of equal width, as stored, or decoded if they differ in their formats.
Linear joined_outputs(WeightStore& store, std::span<const Linear> parts);

/// Repeats all outputs, with their bias, or all inputs: once for each head that shares them.
Linear repeated_outputs(WeightStore& store, const Linear& w, int64_t times);
Linear repeated_inputs(WeightStore& store, const Linear& w, int64_t times);

/// Returns the place of head h where files hold the first value head of each key head, then the second of
/// each, and so on.
int64_t head_by_turn(const AttentionSpec& spec, int64_t h);
/// Puts the outputs, or the inputs, of value heads stored so into the order of their key heads. Copies
/// outputs as stored; decodes the matrix if heads of inputs are no whole blocks of its format.
Linear outputs_by_key_head(WeightStore& store, const Linear& w, const AttentionSpec& spec);
Linear inputs_by_key_head(WeightStore& store, const Linear& w, const AttentionSpec& spec);

/// Returns a vector of a recurrence: rates of decay from their logarithms, or from negative ones in GGUF,
/// which may also hold value heads in another order. Fails if a rate is no positive number.
Result<const float*> recurrence_vector(WeightStore& store, Slot slot, Stored stored, const float* values,
                                       const AttentionSpec& spec);

}  // namespace headlight
