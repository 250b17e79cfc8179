#include "engine/open.h"

#include "engine/remote_engine.h"
#include "hub/library.h"
#include "io/engine_address.h"

namespace headlight {

Result<std::shared_ptr<const Model>> open_any_model(const std::string& path_or_name, const CancelFlag* cancel,
                                                    OpeningProgress* progress,
                                                    const std::shared_ptr<const Model>& open) {
    if (is_engine_address(path_or_name)) return open_engine(path_or_name, cancel, open);
    return open_model(path_or_name, cancel, progress, open);
}

}  // namespace headlight
