// mmap, with every failure as a sentence.
#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace headlight {

std::string display_path(const std::filesystem::path& path) { return path.string(); }

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        const char* help = errno == ENOENT ? "check the path" : "check its permissions";
        return Error{display_path(path) + " cannot be opened (" + std::strerror(errno) + "): " + help + "."};
    }
    struct stat info {};
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(file);
        return Error{display_path(path) + " is not a regular file: name a file that holds data."};
    }
    const auto size = static_cast<size_t>(info.st_size);
    void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
    ::close(file);
    if (data == MAP_FAILED) return Error{display_path(path) + " cannot be mapped into memory (" + std::strerror(errno) + "): free some memory."};
    return std::shared_ptr<const MappedFile>(new MappedFile(path, static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
    if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace headlight
