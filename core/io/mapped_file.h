// Maps files read-only.
#pragma once

#include <atomic>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace headlight {

struct MappedRange;

/// Returns a file's name for messages: at most 200 characters.
std::string display_path(const std::filesystem::path& path);

/// Maps the bytes of a file for its lifetime. An empty file maps to no bytes. If the file shrinks meanwhile,
/// or cannot be read, the lost bytes read as zeros and check_unchanged() fails.
class MappedFile {
public:
    /// Fails with one sentence if the file is missing, unreadable or not a regular file.
    static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    const std::filesystem::path& path() const { return path_; }

    /// Fails if the file was truncated or overwritten since it was opened, which makes results computed from
    /// it worthless. A file replaced by another of its name does not count: the mapping keeps the old one.
    /// Costs one stat.
    Status check_unchanged() const;

private:
    MappedFile() = default;

    std::filesystem::path path_;
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
    MappedRange* range_ = nullptr;
    unsigned long device_ = 0, inode_ = 0;  // of the mapped file
    timespec modified_{};
};

/// Fails if any file that this process mapped was truncated or overwritten before it was closed: for a
/// program about to report results computed from it.
Status check_mapped_files();

}  // namespace headlight
