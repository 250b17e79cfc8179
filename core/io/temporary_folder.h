// Makes a folder that is removed with what is in it.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace headlight {

class TemporaryFolder {
public:
    /// Makes one in TMPDIR, else in /tmp.
    static Result<TemporaryFolder> make();
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
};

}  // namespace headlight
