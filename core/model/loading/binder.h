// Binds the tensors of a checkpoint to a model's weights, by the rows that its family gives
// (model/families.h).
#pragma once

#include "model/loading/slots.h"

namespace headlight {

/// Says how a stored tensor differs from ours.
enum class Stored {
    plain,
    in_out,          // [in, out] (GPT-2's Conv1D); in GGUF plain
    up_first,        // up before gate in one matrix (GTE)
    groups,          // [out, in / groups, 1]: each group of outputs reads a group of inputs (SqueezeBERT)
    convolution,     // [out, in / groups, kernel] of the first layer's convolution
    by_head,         // q, k and v of one key/value head after another (GPT-NeoX, BLOOM); in GGUF plain
    by_key_head,     // each key head's q and k, then v and gate of the heads that it serves (Qwen3-Next)
    kernels,         // [channels, 1, kernel]: a convolution of each channel by itself
    kernels_apart,   // … of q, k and v under names of their own, in three rows
    quarters,        // q, v and k of a quarter of the heads after another (CodeGen)
    pixels,          // of patches: [out, channels, height, width]; tables and vectors have axes of 1 in front
    one_row,         // a vector as [1, width]
    scalar,          // a vector of one value, without axes
    stacked,         // matrices of all experts in one tensor [experts, out, in]
    stacked_in_out,  // … [experts, in, out]
    by_head_turn,    // in GGUF the first value head of each key head, then the second of each … (Qwen3.5)
    parts,           // in GGUF a vector as [parts, width of a part]
    each_row,        // row i of a table under its own name, NAME.i; in GGUF plain
    each_square,     // d_model outputs after d_model, under names of their own, NAME.i; in GGUF one tensor
};

/// Names one tensor of a family.
struct TensorRow {
    Slot slot;
    const char* name;  // of a folder, without ".weight"; #: number of the layer, %: of the expert, @: name of
                       // the stack
    const char* gguf = "";  // of a GGUF file; "": the usual one (model/loading/gguf_tensors.h)
    Stored stored = Stored::plain;
    int stack = -1;  // of this stack alone; −1: of all
};

/// Gives the names of all tensors of a family. Several rows for one slot: the first that is stored counts.
struct TensorNames {
    std::span<const char* const> prefixes;  // "transformer." in head models, "" in base models
    std::span<const TensorRow> rows, more_rows = {}, last_rows = {};
    std::span<const TensorRow> beside = {};  // of a mixer beside attention, before the others
};

/// Binds every tensor that the configuration calls for. Fails, naming it, if one is missing, has another
/// shape, or is left over (model/loading/unread.h).
Result<ModelWeights> bind_weights(WeightStore& store, const ModelConfig& config, const TensorNames& names);

}  // namespace headlight
