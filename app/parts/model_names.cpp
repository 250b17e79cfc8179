#include "parts/model_names.h"

namespace headlight {

std::string shown_model_name(const Scene& s, const std::string& path) {
    if (s.model() && path == s.session.document.open.path) return s.model()->name;
    for (const FoundModel& m : s.session.of<ModelMenu>().found)
        if (m.path == path) return m.name;
    return name_in_path(path);
}

}  // namespace headlight
