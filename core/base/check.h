// Invariants that the program itself must keep. What a person or a file gives is never checked here: that
// becomes a Result.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"

namespace headlight {

/// A broken invariant, with file and line.
class CheckFailed : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// An Error on its way to the next barrier: for failures deep inside a room, where the functions between
/// would only hand them on.
class Failure : public std::exception {
public:
    explicit Failure(Error error) : error_(std::move(error)) {}
    const Error& error() const { return error_; }
    const char* what() const noexcept override { return error_.message.c_str(); }

private:
    Error error_;
};

/// Whether a failed check ends the process at once, so that tests and fuzzers see where; sanitizer builds
/// begin so.
void abort_on_failed_check(bool on);

[[noreturn]] void fail_check(const char* condition, const char* file, int line);

/// The exception that is being handled, as one sentence for a person, a short one where there is no memory
/// left to say more. Call inside a catch block.
Error caught_error() noexcept;

/// f(), which returns a Result; what it throws becomes the sentence. The barrier that every thread's body
/// stands behind.
template <class F>
auto guarded(F&& f) -> decltype(f()) {
    try {
        return f();
    } catch (...) {
        return caught_error();
    }
}

}  // namespace headlight

/// Throws CheckFailed where the condition does not hold: at the borders of rooms, in every build.
#define HEADLIGHT_CHECK(condition)                                   \
    do {                                                             \
        if (!(condition)) [[unlikely]]                               \
            ::headlight::fail_check(#condition, __FILE__, __LINE__); \
    } while (false)

/// The same inside hot loops: in debug and sanitizer builds.
#if !defined(NDEBUG) || defined(HEADLIGHT_SANITIZED)
#define HEADLIGHT_DCHECK(condition) HEADLIGHT_CHECK(condition)
#else
#define HEADLIGHT_DCHECK(condition) static_cast<void>(0)
#endif
