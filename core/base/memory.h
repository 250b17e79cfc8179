// Pages, a reserve, and what the computer has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace headlight {

/// Holds 8 MB back for the way out when memory ends: the first allocation that fails gives them up and
/// throws, because what unwinds may allocate too (nlohmann-json's destructor does, and ends the process where
/// it cannot). Call at the start, and after each failure.
void hold_reserve();

/// Bytes that programs may still take without swapping, within this process's own limits; 0 where nobody
/// says.
int64_t available_memory();

/// Asks the system for large pages where many megabytes are written soon: a page fault then gives 2 MB in
/// place of 4 KB.
void prefer_large_pages(void* at, int64_t bytes);

/// Zeroed pages, which the system gives as each is first touched and gets back at the end. They never throw:
/// data() is null where there is no address space for them.
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

/// Throws a Failure where `bytes` are more than is free: asked before what grows with the square of a text is
/// taken.
void check_fits(int64_t bytes);

/// Most bytes that this process has held at once, mapped files it read included; 0 where nobody says.
int64_t peak_memory();

/// "4.9 GB", "12 MB".
std::string short_bytes(int64_t bytes);

}  // namespace headlight
