// Patches a run with what another run computed: a head's pattern, or rows of an activation.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// Returns whether a change waits for values of another run, or of a seed.
bool needs_patching(const Intervention& intervention);

/// Runs the texts that changes take values from and fills these in; `own`: the model's pass without changes
/// over the shown text, whose values go to patches that name no text. Aligns frozen patterns with the tokens
/// of `own` by token: renormalizes rows over the tokens that both texts have; a row without any keeps its own
/// weights. Patched rows correspond by number. Fails if the model lacks what a change names (check_changes),
/// a text cannot be read or lacks a patched position, or `cancel` was set.
Result<Intervention> patched(Intervention intervention, const Trace& own, ThreadPool& pool,
                             const CancelFlag* cancel = nullptr);

/// [positions, width]: returns what a run gives a patch of this kind and place.
Matrix patch_values(const Trace& source, const Change& patch, ThreadPool& pool);

/// [tokens, d_model]: normal noise of 3 standard deviations of all entries of the token embeddings, as they
/// enter the model (Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2.1); added
/// to the input of layer 0. The first rows do not depend on how many follow.
Matrix embedding_noise(const Model& model, int tokens, int seed, ThreadPool& pool);

}  // namespace headlight
