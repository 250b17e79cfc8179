// Temporary file, then rename.
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
/// Waits until the disk has it, so that a rename never puts an empty file in the place of a full one. Where a file system cannot say,
/// nothing is to be waited for.
int sync(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno; }

void sync_folder(const fs::path& folder) {
    const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    sync(descriptor);
    close(descriptor);
}

Error cannot_write(const fs::path& path, int code) {
    return Error{display_path(path) + " cannot be written (" + std::strerror(code) + "): choose another folder or free some space."};
}
}  // namespace

bool is_standard_stream(const fs::path& path) { return path.stem() == "-" && !path.has_parent_path(); }

OutputFile::OutputFile(fs::path target, fs::path temporary, std::FILE* file)
    : target_(std::move(target)), temporary_(std::move(temporary)), file_(file) {}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const fs::path& path) {
    const auto wrap = [](OutputFile* f) { return std::unique_ptr<OutputFile>(f); };
    if (is_standard_stream(path)) return wrap(new OutputFile(path, {}, fdopen(dup(STDOUT_FILENO), "wb")));
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return Error{display_path(path) + " is a folder: name a file in it."};
    if (exists && !S_ISREG(info.st_mode)) {
        std::FILE* file = std::fopen(path.c_str(), "wb");
        if (!file) return cannot_write(path, errno);
        return wrap(new OutputFile(path, {}, file));
    }
    if (exists && access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
    const fs::path target = exists && fs::is_symlink(path) ? fs::canonical(path) : path;
    std::string pattern = target.string() + ".part-XXXXXX";
    const int descriptor = mkstemp(pattern.data());
    if (descriptor < 0) return cannot_write(path, errno);
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, exists ? (info.st_mode & 07777) : (0666 & ~mask));
    return wrap(new OutputFile(target, pattern, fdopen(descriptor, "wb")));
}

OutputFile::~OutputFile() {
    if (file_) std::fclose(file_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(const void* data, size_t size) {
    if (failed_ || !file_) return;
    if (size && std::fwrite(data, 1, size, file_) != size) failed_ = errno ? errno : EIO;
}

Status OutputFile::commit() {
    if (!file_) return cannot_write(target_, EBADF);
    if (std::fflush(file_) != 0 && !failed_) failed_ = errno;
    if (!failed_ && !temporary_.empty()) failed_ = sync(fileno(file_));
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && !failed_) failed_ = errno;
    if (!failed_ && !temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) failed_ = errno;
    if (failed_) return cannot_write(target_, failed_);
    if (!temporary_.empty()) sync_folder(target_.parent_path());
    temporary_.clear();
    return success();
}

Status write_file(const fs::path& path, std::string_view text) {
    TRY(const auto out, OutputFile::create(path));
    out->write(text);
    return out->commit();
}

}  // namespace headlight
