#include "io/file_version.h"

namespace headlight {

Status check_version(const Json& object, const std::string& name) {
    TRY(const int64_t version, json_integer(object, "version", kFileVersion, 1, INT32_MAX, name));
    if (version <= kFileVersion) return success();
    return Error{name + " was saved by a newer version of Headlight; open it with that one."};
}

}  // namespace headlight
