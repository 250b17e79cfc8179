// A file's bytes, mapped read-only.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace headlight {

/// A file's name as a person would read it in a message.
std::string display_path(const std::filesystem::path& path);

/// The bytes of a file for as long as this lives. An empty file maps to no bytes.
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

private:
    MappedFile(std::filesystem::path path, const std::byte* data, size_t size) : path_(std::move(path)), data_(data), size_(size) {}

    std::filesystem::path path_;
    const std::byte* data_;
    size_t size_;
};

}  // namespace headlight
