// Computes the memory that this process may still use: free, by its control groups, in its address space.
#pragma once

#include <cstdint>
#include <filesystem>

namespace headlight {

/// Returns the minimum of MemAvailable; of max − (current − inactive_file) for each control group from the
/// process's own up to the root (the kernel reclaims inactive file pages on demand); and of the unmapped rest
/// of `address_space`, a limit in bytes (0: none). 0 if unknown. `root`: of the file system.
int64_t memory_left(const std::filesystem::path& root, int64_t address_space);

}  // namespace headlight
