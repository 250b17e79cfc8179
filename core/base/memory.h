// Allocates pages, holds a memory reserve, and reports how much memory the machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace headlight {

/// Reserves 8 MB for unwinding when memory runs out: the first allocation that fails releases them and
/// throws, because unwinding may allocate too (nlohmann-json's destructor does, and terminates the process if
/// it cannot). Call at startup, and after each failure.
void hold_reserve();

/// Returns the bytes that may be allocated without swapping, within this process's limits; 0: unknown.
int64_t available_memory();

/// Asks for large pages before many megabytes are written: a page fault then maps 2 MB instead of 4 KB.
void prefer_large_pages(void* at, int64_t bytes);

/// Allocates zeroed pages, which the system maps on first use and takes back at the end. Never throws: data()
/// is null if there is no address space.
class Pages {
public:
    explicit Pages(int64_t bytes = 0);
    ~Pages();
    Pages(Pages&& other) noexcept { *this = std::move(other); }
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    std::byte* data() const { return data_; }

private:
    std::byte* data_ = nullptr;
    int64_t bytes_ = 0;
};

/// Throws Failure if `bytes` exceed what is free. Call before allocating what grows with n².
void check_fits(int64_t bytes);

/// Returns the peak memory of this process in bytes, mapped files included; 0 if unknown.
int64_t peak_memory();

/// Returns "4.9 GB", "12 MB".
std::string short_bytes(int64_t bytes);

}  // namespace headlight
