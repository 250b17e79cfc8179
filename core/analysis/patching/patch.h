// Patching: a run gets what another run computed: a head's pattern, or rows of an activation.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// Whether a change waits for what another run, or a seed, gives it.
bool needs_patching(const Intervention& intervention);

/// Runs the texts that changes take values from and puts these into them; `own`: the model's pass without
/// changes over the text that is shown, which gives its values to patches that name no text.
/// Frozen patterns are laid along the tokens of `own` (aligned by token): rows are renormalized over the
/// tokens that both texts have; a row without any keeps its own weights. Patched rows go by their number.
/// Fails where the model lacks what a change names (check_changes), where a text cannot be read or lacks a
/// position that is patched, or `cancel` was set.
Result<Intervention> patched(Intervention intervention, const Trace& own, ThreadPool& pool,
                             const CancelFlag* cancel = nullptr);

/// [positions, width]: what a run gives a patch of this kind and place.
Matrix patch_values(const Trace& source, const Change& patch, ThreadPool& pool);

/// [tokens, d_model]: normal noise of 3 standard deviations of all entries of the token embeddings, as they
/// enter the model (Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2.1); added
/// to what enters layer 0. The first rows do not depend on how many follow.
Matrix embedding_noise(const Model& model, int tokens, int seed, ThreadPool& pool);

}  // namespace headlight
