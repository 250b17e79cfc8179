// Maps files with mmap and reports every failure as a sentence. A page that cannot be read raises SIGBUS; the
// handler maps zeros over the range and marks the file, so that the pass that read it is discarded.
#include "io/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "base/quoted.h"
#include "io/lost_files.h"
#include "io/regular_file.h"

namespace headlight {

/// Describes one mapped file for the signal handler: a node of a growing list; free: begins at 0.
struct MappedRange {
    std::atomic<uintptr_t> begin{0}, end{0};
    std::atomic<bool> taken{true}, faulted{false};
    MappedRange* next = nullptr;
};

namespace {

std::atomic<MappedRange*> ranges{nullptr};
struct sigaction handler_before;

/// Maps zeros from the faulting page to its file's end; passes on other faults. Async-signal-safe.
void catch_fault(int signal, siginfo_t* info, void* context) {
    const int saved = errno;
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    for (MappedRange* r = ranges.load(); r; r = r->next) {
        const uintptr_t begin = r->begin.load(), end = r->end.load();
        if (begin == 0 || at < begin || at >= end) continue;
        const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), from = at / page * page;
        r->faulted = true;
        if (mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            break;
        errno = saved;
        return;
    }
    if (handler_before.sa_flags & SA_SIGINFO) return handler_before.sa_sigaction(signal, info, context);
    sigaction(signal, &handler_before, nullptr);  // the fault is raised again
}

void catch_faults_once() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = catch_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGBUS, &action, &handler_before);
    });
}

MappedRange* watch(const std::byte* data, size_t size) {
    MappedRange* range = ranges.load();
    for (bool taken = false; range && !range->taken.compare_exchange_strong(taken, true); taken = false)
        range = range->next;
    if (!range) {
        range = new MappedRange;
        range->next = ranges.load();
        while (!ranges.compare_exchange_weak(range->next, range)) {
        }
    }
    range->faulted = false;
    range->end = reinterpret_cast<uintptr_t>(data) + size;
    range->begin = reinterpret_cast<uintptr_t>(data);
    return range;
}

/// Holds the mapped files, and what was wrong with one that has been closed.
struct Mapped {
    std::mutex mutex;
    std::set<const MappedFile*> files;
    std::optional<Error> lost;
};
Mapped& all_mapped() {
    static auto* const all = new Mapped;  // outlives every file
    return *all;
}

}  // namespace

std::string display_path(const std::filesystem::path& path) { return shortened(path.string(), 200); }

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    struct stat info {};
    TRY(const Descriptor file, open_regular(path, info));
    const size_t size = info.st_size;
    void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0) : nullptr;
    if (data == MAP_FAILED)
        return Error{display_path(path) + " cannot be mapped into memory (" + std::strerror(errno) +
                     "): free some memory."};
    const std::shared_ptr<MappedFile> mapped(new MappedFile);
    mapped->path_ = path;
    mapped->data_ = static_cast<const std::byte*>(data);
    mapped->size_ = size;
    mapped->device_ = info.st_dev;
    mapped->inode_ = info.st_ino;
    mapped->modified_ = info.st_mtim;
    catch_faults_once();
    if (size) mapped->range_ = watch(mapped->data_, size);
    std::lock_guard lock(all_mapped().mutex);
    all_mapped().files.insert(mapped.get());
    return std::shared_ptr<const MappedFile>(mapped);
}

MappedFile::~MappedFile() {
    {
        Mapped& all = all_mapped();
        std::lock_guard lock(all.mutex);
        all.files.erase(this);
        if (const Status whole = check_unchanged(); !whole && !all.lost) all.lost = whole.error();
    }
    if (!data_) return;
    range_->begin = 0;
    munmap(const_cast<std::byte*>(data_), size_);
    range_->taken = false;
}

Status MappedFile::check_unchanged() const {
    struct stat now {};
    const bool same_file = stat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
    const bool rewritten =
        same_file && (static_cast<size_t>(now.st_size) != size_ || now.st_mtim.tv_sec != modified_.tv_sec ||
                      now.st_mtim.tv_nsec != modified_.tv_nsec);
    if (!rewritten && !(range_ && range_->faulted)) return success();
    return Error{display_path(path_) + " changed on the disk; open it again."};
}

void forget_lost_files() {
    std::lock_guard lock(all_mapped().mutex);
    all_mapped().lost.reset();
}

Status check_mapped_files() {
    Mapped& all = all_mapped();
    std::lock_guard lock(all.mutex);
    if (all.lost) return *all.lost;
    for (const MappedFile* file : all.files) TRY_STATUS(file->check_unchanged());
    return success();
}

}  // namespace headlight
