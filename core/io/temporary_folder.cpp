#include "io/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace headlight {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::make() {
    std::error_code wrong;
    std::string name = (fs::temp_directory_path(wrong) / "headlight-XXXXXX").string();
    if (wrong || !mkdtemp(name.data()))
        return Error{"No temporary folder can be made (" + (wrong ? wrong.message() : std::strerror(errno)) +
                     "): free some space, or name a folder as TMPDIR."};
    return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace headlight
