// The heads that a dossier is about, where their model is not at hand.
#pragma once

#include <memory>
#include <string>

#include "trace/trace.h"

namespace headlight {

/// A trace of one token, without weights, of a model that has the heads that the file names: enough to show
/// what it says of them.
Result<std::shared_ptr<const Trace>> trace_of_dossier(const std::string& file);

}  // namespace headlight
