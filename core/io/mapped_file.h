// A file's bytes, mapped read-only.
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

/// A file's name as a person would read it in a message: at most 200 characters.
std::string display_path(const std::filesystem::path& path);

/// The bytes of a file for as long as this lives. An empty file maps to no bytes. Where the file shrinks
/// meanwhile, or cannot be read, its lost bytes read as zeros and check_unchanged() says so.
class MappedFile {
public:
    /// Fails with one sentence when the file is missing, unreadable or no regular file.
    static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    const std::filesystem::path& path() const { return path_; }

    /// Fails where the file was cut or overwritten since it was opened, so that what was computed from its
    /// bytes is worth nothing. A file that was replaced by another of its name is not: the mapped one lives
    /// on. Costs one stat.
    Status check_unchanged() const;

private:
    MappedFile() = default;

    std::filesystem::path path_;
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
    MappedRange* range_ = nullptr;
    unsigned long device_ = 0, inode_ = 0;  // of the file that was mapped
    timespec modified_{};
};

/// Fails where any file that this process mapped was cut or overwritten before it was let go: for a program
/// that is about to say what it made of them.
Status check_mapped_files();

}  // namespace headlight
