// A lock that ends with its process, however that ends.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace headlight {

/// Holds flock() on a small file, which is made where it is missing and stays.
class FileLock {
public:
    /// Waits up to `seconds` for the one that holds it.
    static Result<FileLock> take(const std::filesystem::path& path, double seconds);
    FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FileLock();

    int descriptor() const { return descriptor_; }

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_ = -1;
};

}  // namespace headlight
