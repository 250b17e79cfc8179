// Opens files without blocking and reads streams.
#include "io/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 1 << 16;

Error cannot_open(const std::string& name) {
    const char* help = errno == ENOENT ? "check the path" : "check its permissions";
    return Error{name + " cannot be opened (" + std::strerror(errno) + "): " + help + "."};
}

/// Reads what is available, at most `max` bytes; −1 on failure.
ssize_t read_some(int file, char* into, size_t max) {
    ssize_t got = -1;
    do got = ::read(file, into, max);
    while (got < 0 && errno == EINTR);
    return got;
}

}  // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Result<Descriptor> open_regular(const fs::path& path, struct stat& info) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.number() < 0 && errno != ENXIO) return cannot_open(display_path(path));  // ENXIO: a socket
    if (file.number() < 0 || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode))
        return Error{display_path(path) + " is not a regular file: name a file that holds data."};
    return file;
}

std::string beginning_of(const fs::path& path, size_t max) {
    struct stat info {};
    const auto file = open_regular(path, info);
    if (!file) return "";
    std::string out(max, '\0');
    size_t have = 0;
    while (have < max) {
        const ssize_t got = read_some(file->number(), out.data() + have, max - have);
        if (got <= 0) break;
        have += static_cast<size_t>(got);
    }
    out.resize(have);
    return out;
}

bool is_stream(const fs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode));
}

namespace {

/// Returns whether a path names an inherited descriptor: standard input, a shell's <(…).
bool is_inherited(const std::string& path) {
    return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

}  // namespace

Result<Descriptor> open_stream(const std::string& path) {
    if (path == "-") return Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    struct stat info {};
    if (!is_inherited(path) && stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
        return Error{display_path(path) +
                     " is a named pipe, not a regular file, and would be waited for; give - and redirect "
                     "standard input from it."};
    Descriptor stream(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (stream.number() < 0) return cannot_open(display_path(path));
    return stream;
}

Result<std::string> read_stream(const Descriptor& stream, size_t max, const std::string& name) {
    std::string out, piece(kPiece, '\0');
    for (;;) {
        const ssize_t got = read_some(stream.number(), piece.data(), piece.size());
        if (got < 0) return Error{name + " cannot be read (" + std::strerror(errno) + "): give a file."};
        if (got == 0) return out;
        out.append(piece, 0, static_cast<size_t>(got));
        if (out.size() > max)
            return Error{name + " does not end within " + std::to_string(max / 1'000'000) +
                         " million bytes; give a file, or less of it."};
    }
}

Result<bool> StreamLines::fill() {
    read_.erase(0, std::exchange(at_, 0));
    const size_t have = read_.size();
    read_.resize(have + kPiece);
    const ssize_t got = read_some(stream_.number(), read_.data() + have, kPiece);
    read_.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0)
        return Error{std::string("The input cannot be read (") + std::strerror(errno) + "): give a file."};
    return got > 0;
}

Result<bool> StreamLines::next(std::string& line) {
    line.clear();
    for (bool any = false;;) {
        const size_t end = read_.find('\n', at_), stop = std::min(end, read_.size());
        any = any || stop > at_ || end != std::string::npos;
        line.append(read_, at_, std::min(stop - at_, longest_ + 1 - line.size()));
        at_ = stop;
        if (end != std::string::npos) {
            ++at_;
            return true;
        }
        TRY(const bool more, fill());
        if (!more) return any;
    }
}

}  // namespace headlight
