// Opens whatever computes: a model of this computer's files, or a server's.
#pragma once

#include <memory>
#include <string>

#include "model/model.h"

namespace headlight {

/// Opens a server's model if the text is an address (io/engine_address.h), else a model by path or name
/// (hub/library.h).
Result<std::shared_ptr<const Model>> open_any_model(const std::string& path_or_name,
                                                    const CancelFlag* cancel = nullptr,
                                                    OpeningProgress* progress = nullptr,
                                                    const std::shared_ptr<const Model>& open = nullptr);

}  // namespace headlight
