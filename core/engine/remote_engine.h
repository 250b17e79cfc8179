// Computes in another process: a server of the engine's protocol (docs/engine.md).
#pragma once

#include <memory>
#include <string>

#include "model/model.h"

namespace headlight {

/// Connects to a server and opens its model, which has no weights here. Returns `open` itself if that is the
/// model of the same address and still answers, because a server has one client.
Result<std::shared_ptr<const Model>> open_engine(const std::string& address,
                                                 const CancelFlag* cancel = nullptr,
                                                 const std::shared_ptr<const Model>& open = nullptr);

}  // namespace headlight
