// Opens a dossier's heads without their model.
#pragma once

#include <memory>
#include <string>

#include "trace/trace.h"

namespace headlight {

/// Makes a trace of one token, without weights, with the heads that the file names, to show the dossier.
Result<std::shared_ptr<const Trace>> trace_of_dossier(const std::string& file);

}  // namespace headlight
