// Throws on broken invariants and turns exceptions into sentences.
#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/memory.h"

namespace headlight {

namespace {
#if defined(HEADLIGHT_SANITIZED)
std::atomic<bool> aborts{true};
#else
std::atomic<bool> aborts{false};
#endif
}  // namespace

void abort_on_failed_check(bool on) { aborts = on; }

void fail_check(const char* condition, const char* file, int line) {
    const char* slash = std::strrchr(file, '/');
    const std::string text =
        std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + condition;
    if (aborts) {
        std::fprintf(stderr, "headlight: check failed at %s\n", text.c_str());
        std::abort();
    }
    throw CheckFailed(text);
}

namespace {

Error describe_exception() {
    try {
        throw;
    } catch (const Failure& failure) {
        return failure.error();
    } catch (const CheckFailed& failed) {
        return Error{std::string("Headlight made a mistake (") + failed.what() +
                     "); what was open is kept: please report this line."};
    } catch (const std::bad_alloc&) {
        hold_reserve();
        return Error{
            "There is not enough memory for this: use a shorter text or a smaller model, or close other "
            "programs."};
    } catch (const std::exception& other) {
        return Error{std::string("Headlight could not finish this (") + other.what() +
                     "); what was open is kept: please report this line."};
    } catch (...) {
        return Error{
            "Headlight could not finish this, for a reason it does not know; what was open is kept."};
    }
}

}  // namespace

Error caught_error() noexcept {
    try {
        return describe_exception();
    } catch (...) {
        return {"Out of memory."};  // short enough not to allocate
    }
}

}  // namespace headlight
