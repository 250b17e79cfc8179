// Reports memory and holds a reserve of it.
#include "base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/check.h"
#include "base/memory_limits.h"
#include "base/spare.h"

namespace headlight {

namespace {

constexpr size_t kReserve = 8 << 20;
std::atomic<void*> reserve{nullptr};

[[noreturn]] void give_up_reserve() {
    std::free(reserve.exchange(nullptr));
    throw std::bad_alloc();
}

}  // namespace

void hold_reserve() {
    void* none = nullptr;
    if (reserve) return;
    if (void* held = std::malloc(kReserve); !reserve.compare_exchange_strong(none, held)) std::free(held);
    std::set_new_handler(give_up_reserve);
}

int64_t peak_memory() {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t{usage.ru_maxrss} * 1024 : 0;
}

void check_fits(int64_t bytes) {
    constexpr int64_t kAlways = 64 << 20;
    if (bytes <= kAlways) return;
    int64_t free = available_memory();
    if (free > 0 && bytes > free) free += free_spares();
    if (free <= 0 || bytes <= free) return;
    const auto megabytes = [](int64_t b) { return std::to_string(b >> 20) + " MB"; };
    throw Failure({"This needs " + megabytes(bytes) + " of memory, but only " + megabytes(free) +
                   " are free: use a shorter text, or close other programs."});
}

void prefer_large_pages([[maybe_unused]] void* at, [[maybe_unused]] int64_t bytes) {
#if defined(MADV_HUGEPAGE)
    constexpr uintptr_t kPage = 4096;
    constexpr int64_t kWorthIt = 8 << 20;
    if (bytes < kWorthIt) return;
    const auto first = reinterpret_cast<uintptr_t>(at), begin = (first + kPage - 1) / kPage * kPage,
               end = (first + static_cast<uintptr_t>(bytes)) / kPage * kPage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

Pages::Pages(int64_t bytes) : bytes_(bytes) {
    if (bytes <= 0) return;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(at);
    prefer_large_pages(at, bytes);
}

Pages::~Pages() {
    if (data_) munmap(data_, bytes_);
}

int64_t available_memory() {
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return memory_left("/", limited ? static_cast<int64_t>(limit.rlim_cur) : 0);
}

std::string short_bytes(int64_t bytes) {
    char text[32];
    const auto value = double(bytes);
    if (bytes >= 1'000'000'000)
        std::snprintf(text, sizeof text, "%.1f GB", value / 1e9);
    else if (bytes >= 1'000'000)
        std::snprintf(text, sizeof text, "%.0f MB", value / 1e6);
    else
        std::snprintf(text, sizeof text, "%.0f kB", value / 1e3);
    return text;
}

}  // namespace headlight
