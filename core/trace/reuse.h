// Decides, by the active rules of attention and only here, what a new pass may reuse of an earlier one.
#pragma once

#include "trace/trace.h"

namespace headlight {

/// A row of a stack stays valid if its token and all tokens before it are the same, both passes give it the
/// same position and treat it alike in every layer, and everything that it depends on stays valid: the keys
/// that it weighs (every key if it is fully masked), every query where a head's mean replaces z, the whole
/// previous stack in cross-attention, the text's length where a rotary embedding depends on it. Layers stay
/// valid with all their rows up to the first that treats a row differently. `rules` are those of the new pass
/// (attention_rules); the earlier pass carries its own.
Reuse reusable(const Trace* past, const Model& model, const ForwardRequest& request,
               std::span<const std::vector<LayerRules>> rules);

/// Compares two finished passes: which patterns of the earlier one equal those of the later one.
Reuse reusable(const Trace& past, const Trace& now);

}  // namespace headlight
