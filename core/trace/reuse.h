// What a new pass may take over from an earlier one: decided here alone, by the rules of attention in force.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// A row of a stack holds for the new pass where its token and all tokens before it are the same, both passes
/// let it stand at the same position and treat it alike in every layer, and all that it rests on holds too:
/// the keys that it weighs (every key where it is fully masked), every query where a head's mean stands for
/// z, the whole stack before it in cross-attention, the text's length where a rotary embedding depends on it.
/// Layers hold with all their rows up to the first that treats a row otherwise. `rules` are those of the new
/// pass (attention_rules); the earlier pass has its own with it.
Reuse reusable(const Trace* past, const Model& model, const ForwardRequest& request,
               std::span<const std::vector<LayerRules>> rules);

/// The same between two passes that are done: what of the earlier one's patterns are those of the later one.
Reuse reusable(const Trace& past, const Trace& now);

}  // namespace headlight
