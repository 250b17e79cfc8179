// A lock that ends with its process, even if that crashes.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace headlight {

/// Holds flock() on a small file, which is created if missing and stays.
class FileLock {
public:
    /// Waits up to `seconds` for the holder. Holds nothing on a file system without locks.
    static Result<FileLock> take(const std::filesystem::path& path, double seconds);
    FileLock(FileLock&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), held_(other.held_) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(held_, other.held_);
        return *this;
    }
    ~FileLock();

    int descriptor() const { return descriptor_; }
    /// Whether other processes are excluded.
    bool held() const { return held_; }

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_ = -1;
    bool held_ = false;
};

/// Replaces flock() in tests; null: flock() again.
void lock_files_with(int (*lock)(int descriptor, int operation));

}  // namespace headlight
