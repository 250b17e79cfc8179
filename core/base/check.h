// Checks invariants that the program itself must keep. Never for input: that becomes a Result.
#pragma once

#include <exception>
#include <stdexcept>
#include <utility>

#include "base/result.h"

namespace headlight {

/// Reports a broken invariant, with file and line.
class CheckFailed : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// Carries an Error to the next barrier, from so deep that the functions between would only pass it on.
class Failure : public std::exception {
public:
    explicit Failure(Error error) : error_(std::move(error)) {}
    const Error& error() const { return error_; }
    const char* what() const noexcept override { return error_.message.c_str(); }

private:
    Error error_;
};

/// Makes failed checks abort, so that tests and fuzzers see where; the default in sanitizer builds.
void abort_on_failed_check(bool on);

[[noreturn]] void fail_check(const char* condition, const char* file, int line);

/// Describes the current exception in one sentence, short if memory has run out. Call in a catch block.
Error caught_error() noexcept;

/// Returns f(), a Result; turns exceptions into its error. The barrier around the body of every thread.
template <class F>
auto guarded(F&& f) -> decltype(f()) {
    try {
        return f();
    } catch (...) {
        return caught_error();
    }
}

}  // namespace headlight

/// Throws CheckFailed if the condition is false: at the borders of rooms, in every build.
#define HEADLIGHT_CHECK(condition)                                   \
    do {                                                             \
        if (!(condition)) [[unlikely]]                               \
            ::headlight::fail_check(#condition, __FILE__, __LINE__); \
    } while (false)

/// Checks inside hot loops, in debug and sanitizer builds only.
#if !defined(NDEBUG) || defined(HEADLIGHT_SANITIZED)
#define HEADLIGHT_DCHECK(condition) HEADLIGHT_CHECK(condition)
#else
#define HEADLIGHT_DCHECK(condition) static_cast<void>(0)
#endif
