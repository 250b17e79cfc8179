// Makes a trace of what a server sends for one pass.
#pragma once

#include <string>
#include <vector>

#include "engine/description.h"
#include "trace/trace.h"

namespace headlight {

/// Returns the globs of what to ask for: q and k of blocks whose rule says how to join them, else patterns.
std::vector<std::string> asked_tensors(const ModelConfig& config, const std::vector<EngineRule>& rules);

/// Reads the rules of an answer, by block.
Result<std::vector<EngineRule>> answered_rules(const Json& header, const ModelConfig& config);

/// Builds the trace. Rows of `past` precede those of `sent`, if `kept` is not 0. `rules` say which blocks
/// have q and k, and which have patterns. Fails if a tensor is missing, of another shape, or not finite, and
/// if `cancel` was set.
Result<std::shared_ptr<const Trace>> remote_trace(const std::shared_ptr<const Model>& model,
                                                  ForwardRequest request, const Frame& sent,
                                                  const std::vector<EngineRule>& rules, int kept,
                                                  const Trace* past, const CancelFlag* cancel);

}  // namespace headlight
