#include "session/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "io/mapped_file.h"

namespace headlight {

namespace {
int (*lock_file)(int, int) = flock;
}

void lock_files_with(int (*lock)(int, int)) { lock_file = lock ? lock : flock; }

Result<FileLock> FileLock::take(const std::filesystem::path& path, double seconds) {
    FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (lock.descriptor_ < 0)
        return Error{display_path(path.parent_path()) + " cannot be written (" + std::strerror(errno) +
                     "): check its permissions."};
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (lock_file(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return lock;  // a file system without locks
        if (std::chrono::steady_clock::now() >= end)
            return Error{display_path(path) +
                         " is locked by another Headlight that is not responding; close that one."};
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    lock.held_ = true;
    return lock;
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace headlight
