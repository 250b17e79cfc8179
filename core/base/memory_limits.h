// How much memory the system still gives to this process: what is free, what its control groups allow, what
// its address space has left.
#pragma once

#include <cstdint>
#include <filesystem>

namespace headlight {

/// The least of MemAvailable; of each control group from the process's own up to the root, max − (current −
/// inactive_file), because pages of files are given back when they are needed; and of `address_space`, a
/// limit in bytes (0: none), what is not mapped yet. 0 where nothing is said. `root`: of the file system.
int64_t memory_left(const std::filesystem::path& root, int64_t address_space);

}  // namespace headlight
