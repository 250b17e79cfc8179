// Reads the memory limits of the system and of control groups.
#include "base/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace headlight {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

/// Reads the number in a file; `otherwise` if it holds none ("max").
int64_t number_in(const fs::path& file, int64_t otherwise) {
    int64_t value = 0;
    return std::ifstream(file) >> value ? value : otherwise;
}

/// Reads the number after a key at the start of a line; −1 if there is none.
int64_t number_of(const fs::path& file, const std::string& wanted) {
    std::ifstream in(file);
    std::string rest;
    for (std::string key; in >> key; std::getline(in, rest)) {
        int64_t value = 0;
        if (key == wanted && in >> value) return value;
    }
    return -1;
}

struct GroupFiles {
    const char *max, *used, *inactive;
};
constexpr GroupFiles kSecond{"memory.max", "memory.current", "inactive_file"},
    kFirst{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

int64_t left_in_group(const fs::path& group, const GroupFiles& files) {
    const int64_t max = number_in(group / files.max, kNoLimit);
    if (max == kNoLimit) return kNoLimit;
    const int64_t used = number_in(group / files.used, 0),
                  inactive = std::max<int64_t>(0, number_of(group / "memory.stat", files.inactive));
    return std::max<int64_t>(1, max - std::max<int64_t>(0, used - inactive));
}

/// Returns the minimum over a group and its ancestors. `path` may not exist in a container.
int64_t left_in_groups(const fs::path& mount, const fs::path& path, const GroupFiles& files) {
    std::vector<fs::path> names;
    for (const fs::path& name : path.relative_path().lexically_normal())
        if (!name.empty() && name != ".." && name != ".") names.push_back(name);
    fs::path group = mount;
    int64_t left = left_in_group(group, files);
    for (const fs::path& name : names) left = std::min(left, left_in_group(group /= name, files));
    return left;
}

/// Returns whether a list like "cpu,memory" has the memory controller.
bool controls_memory(const std::string& controllers) {
    return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

/// Parses /proc/self/cgroup, lines of NUMBER:CONTROLLERS:PATH; version 2 leaves out the controllers.
int64_t left_in_own_groups(const fs::path& root) {
    const fs::path mount = root / "sys/fs/cgroup";
    std::ifstream in(root / "proc/self/cgroup");
    int64_t left = kNoLimit;
    for (std::string line; std::getline(in, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1),
                          path = line.substr(second + 1);
        if (controllers.empty()) left = std::min(left, left_in_groups(mount, path, kSecond));
        if (controls_memory(controllers))
            left = std::min(left, left_in_groups(mount / "memory", path, kFirst));
    }
    return left;
}

}  // namespace

int64_t memory_left(const fs::path& root, int64_t address_space) {
    constexpr int64_t kKilobyte = 1024;
    const int64_t available = number_of(root / "proc/meminfo", "MemAvailable:"),
                  mapped = number_of(root / "proc/self/status", "VmSize:");
    int64_t left = left_in_own_groups(root);
    if (available >= 0) left = std::min(left, available * kKilobyte);
    if (address_space > 0)
        left = std::min(left, std::max<int64_t>(1, address_space - std::max<int64_t>(0, mapped) * kKilobyte));
    return left == kNoLimit ? 0 : left;
}

}  // namespace headlight
