#include "parts/model_names.h"

#include <map>

#include "hub/library.h"

namespace headlight {

namespace {

struct ModelNames {
    std::map<std::string, std::string> of_path;
};

}  // namespace

const std::string& shown_model_name(Scene& s, const std::string& path) {
    auto& names = s.of<ModelNames>().of_path;
    const auto known = names.find(path);
    return known == names.end() ? names.emplace(path, model_name(path)).first->second : known->second;
}

}  // namespace headlight
