// Stands in for what core asks of an operating system: the files of a page are in memory, and a page has one
// thread.
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/memory.h"
#include "base/quoted.h"
#include "chat/files.h"
#include "files.h"
#include "io/image.h"
#include "io/mapped_file.h"
#include "io/regular_file.h"

namespace headlight {

// ---- Files
MemoryFiles& memory_files() {
    static MemoryFiles files;
    return files;
}

std::string display_path(const std::filesystem::path& path) {
    return shortened(path.filename().string(), 200);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    const auto found = memory_files().find(path.string());
    if (found == memory_files().end()) return Error{display_path(path) + " is not in this page."};
    const std::shared_ptr<MappedFile> file(new MappedFile);
    file->path_ = path;
    file->data_ = reinterpret_cast<const std::byte*>(found->second.data());
    file->size_ = found->second.size();
    return std::shared_ptr<const MappedFile>(file);
}
MappedFile::~MappedFile() = default;
Status MappedFile::check_unchanged() const { return success(); }

std::string beginning_of(const std::filesystem::path& path, size_t max) {
    const auto found = memory_files().find(path.string());
    return found == memory_files().end() ? "" : found->second.substr(0, max);
}

/// Reached by models of pictures alone, which `headlight page` refuses.
RgbImage resize(const RgbImage&, int, int, Resampling) {
    throw Failure({"A page reads no pictures; open one in Headlight itself."});
}

/// Only core/model asks for templates, when a model opens; a page has no conversations.
Result<ChatTemplates> read_chat_templates(const TokenizerFolder&) {
    return Error{"A page has no chat templates."};
}
Result<ChatTemplates> gguf_chat_templates(const Gguf&, const std::string&) {
    return Error{"A page has no chat templates."};
}

// ---- Memory
void hold_reserve() {}
int64_t available_memory() { return 0; }  // unknown
int64_t peak_memory() { return 0; }
void check_fits(int64_t) {}
void prefer_large_pages(void*, int64_t) {}
Pages::Pages(int64_t bytes) : data_(static_cast<std::byte*>(std::calloc(size_t(bytes), 1))), bytes_(bytes) {}
Pages::~Pages() { std::free(data_); }
std::string short_bytes(int64_t bytes) { return std::to_string(bytes / 1000) + " kB"; }

}  // namespace headlight

// ---- What std::filesystem asks. A name is a file, or the folder of one.
extern "C" int stat(const char* path, struct stat* info) {
    std::memset(info, 0, sizeof *info);
    const std::string name(path);
    if (const auto found = headlight::memory_files().find(name); found != headlight::memory_files().end()) {
        info->st_mode = S_IFREG | 0444;
        info->st_size = off_t(found->second.size());
        return 0;
    }
    const auto after = headlight::memory_files().lower_bound(name + "/");
    if (after != headlight::memory_files().end() && after->first.starts_with(name + "/")) {
        info->st_mode = S_IFDIR | 0555;
        return 0;
    }
    errno = ENOENT;
    return -1;
}
extern "C" int lstat(const char* path, struct stat* info) { return stat(path, info); }
