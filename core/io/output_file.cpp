// Writes a temporary file, then renames it.
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>

#include "io/lost_files.h"
#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
/// Waits until the data is on disk, so that a rename never replaces a full file by an empty one.
int sync(int descriptor) {
    return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

void sync_folder(const fs::path& folder) {
    const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    sync(descriptor);
    close(descriptor);
}

Error cannot_write(const fs::path& path, int code) {
    if (is_standard_stream(path))
        return Error{std::string("Standard output cannot be written (") + std::strerror(code) +
                     "): check the disk's free space, or the program that reads it."};
    return Error{display_path(path) + " cannot be written (" + std::strerror(code) +
                 "): choose another folder or free some space."};
}

bool is_pipe_or_device(const fs::path& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Returns "/dev/full" for "/dev/full.png" if no such file exists.
fs::path without_format(const fs::path& path) {
    fs::path bare = path;
    bare.replace_extension();
    std::error_code ignored;
    return path.has_extension() && !fs::exists(path, ignored) && is_pipe_or_device(bare) ? bare : path;
}
}  // namespace

bool is_standard_stream(const fs::path& path) { return path.stem() == "-" && !path.has_parent_path(); }

std::string with_format(const std::string& path, const std::string& format) {
    if (path == "-") return "-." + (format.empty() ? "png" : format);
    const bool named = format.empty() || fs::path(path).extension() == "." + format;
    return named ? path : path + "." + format;
}

namespace {

/// Lists the open temporary files for the signal handler.
struct Temporary {
    std::atomic<bool> taken{false}, named{false};
    char name[4096];
};
Temporary temporaries[64];

Temporary* name_temporary(const std::string& name) {
    for (Temporary& t : temporaries) {
        if (name.size() >= sizeof t.name || t.taken.exchange(true)) continue;
        std::memcpy(t.name, name.c_str(), name.size() + 1);
        t.named = true;
        return &t;
    }
    return nullptr;
}

void forget_temporary(const fs::path& name) {
    for (Temporary& t : temporaries)
        if (t.named && name == t.name) {
            t.named = false;
            t.taken = false;
            return;
        }
}

void end_by(int signal) {
    remove_temporaries();
    std::raise(signal);  // now with its default action
}

/// Removes temporary files on signals that end the program, unless they are handled or ignored.
void handle_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        struct sigaction before {
        }, action{};
        action.sa_handler = end_by;
        action.sa_flags = int(SA_RESETHAND);
        if (sigaction(signal, nullptr, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
            before.sa_handler == SIG_DFL)
            sigaction(signal, &action, nullptr);
    }
}

/// Returns whether a name ends as open_temporary() makes it, so that no other program's file is removed.
bool is_ours(std::string_view ending) {
    const auto hexadecimal = [](unsigned char c) { return std::isdigit(c) || (c >= 'a' && c <= 'f'); };
    return ending.size() == 8 && std::all_of(ending.begin(), ending.end(), hexadecimal);
}

/// Removes what killed programs left beside the target; a temporary file being written is locked.
void remove_leftovers(const fs::path& target) {
    const std::string prefix = target.filename().string() + ".part-";
    std::error_code ignored;
    for (fs::directory_iterator it(target.has_parent_path() ? target.parent_path() : ".", ignored), end;
         !ignored && it != end; it.increment(ignored)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with(prefix) || !is_ours(std::string_view(name).substr(prefix.size()))) continue;
        const int file = ::open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        struct stat info {};
        if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
            flock(file, LOCK_EX | LOCK_NB) == 0)
            unlink(it->path().c_str());
        close(file);
    }
}

/// Returns the process's umask. Reading sets it, so it is read once: threads create files.
mode_t creation_mask() {
    static const mode_t mask = [] {
        const mode_t found = umask(0);
        umask(found);
        return found;
    }();
    return mask;
}

/// Creates and locks a new file beside the target; −1 and errno on failure. Another program may remove it as
/// a leftover before the lock: then retries.
int open_temporary(const fs::path& target, fs::path& name) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        char ending[16];
        std::snprintf(ending, sizeof ending, ".part-%08x", std::random_device{}());
        name = target.string() + ending;
        Temporary* const listed = name_temporary(name.string());
        const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        struct stat info {};
        if (file >= 0 && (flock(file, LOCK_EX) != 0 || fstat(file, &info) != 0 || info.st_nlink > 0))
            return file;
        const int problem = errno;
        if (file >= 0) close(file);
        if (listed) forget_temporary(name);
        errno = problem;
        if (file < 0 && problem != EEXIST) return -1;
    }
    return -1;
}

}  // namespace

void remove_temporaries() {
    for (const Temporary& t : temporaries)
        if (t.named) unlink(t.name);
}

OutputFile::OutputFile(fs::path target, fs::path temporary, std::FILE* file, int lock)
    : target_(std::move(target)), temporary_(std::move(temporary)), file_(file), lock_(lock) {}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const fs::path& named) {
    const fs::path path = without_format(named);
    const auto wrap = [](OutputFile* f) { return std::unique_ptr<OutputFile>(f); };
    if (is_standard_stream(path)) return wrap(new OutputFile(path, {}, fdopen(dup(STDOUT_FILENO), "wb")));
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return Error{display_path(path) + " is a folder: name a file in it."};
    if (exists && !S_ISREG(info.st_mode)) {
        std::FILE* file = std::fopen(path.c_str(), "wb");
        if (!file) return cannot_write(path, errno);
        return wrap(new OutputFile(path, {}, file));
    }
    if (exists && access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
    std::error_code problem;
    const fs::path target = exists && fs::is_symlink(path, problem) ? fs::canonical(path, problem) : path;
    if (problem) return cannot_write(path, problem.value());
    handle_signals();
    remove_leftovers(target);
    fs::path temporary;
    const int descriptor = open_temporary(target, temporary);
    if (descriptor < 0) return cannot_write(path, errno);
    fchmod(descriptor, exists ? (info.st_mode & 07777) : (0666 & ~creation_mask()));
    return wrap(new OutputFile(target, temporary, fdopen(dup(descriptor), "wb"), descriptor));
}

OutputFile::~OutputFile() {
    if (file_) std::fclose(file_);
    if (lock_ >= 0) close(lock_);
    if (temporary_.empty()) return;
    unlink(temporary_.c_str());
    forget_temporary(temporary_);
}

void OutputFile::write(const void* data, size_t size) {
    if (failed_ || !file_) return;
    if (size && std::fwrite(data, 1, size, file_) != size) failed_ = errno ? errno : EIO;
}

namespace {
std::atomic<bool> of_whole_files_only{false};
}  // namespace

WholeFilesOnly::WholeFilesOnly() {
    forget_lost_files();
    of_whole_files_only = true;
}
WholeFilesOnly::~WholeFilesOnly() { of_whole_files_only = false; }

Status OutputFile::commit() {
    if (!file_) return cannot_write(target_, EBADF);
    if (of_whole_files_only) TRY_STATUS(check_mapped_files());
    if (std::fflush(file_) != 0 && !failed_) failed_ = errno;
    if (!failed_ && !temporary_.empty()) failed_ = sync(fileno(file_));
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && !failed_) failed_ = errno;
    if (!failed_ && !temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0)
        failed_ = errno;
    if (failed_) return cannot_write(target_, failed_);
    forget_temporary(temporary_);
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
