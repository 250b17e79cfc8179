// Represents failures as values: one sentence for the user, carried across every boundary.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace headlight {

/// Says what went wrong in one sentence that names the object and the remedy.
struct Error {
    std::string message;
    bool cancelled = false;  // the result is no longer wanted: no message
};

inline Error cancelled() { return {"Cancelled.", true}; }

/// Holds a value, or the error that explains why there is none.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}
    Result(Error error) : state_(std::move(error)) {}

    explicit operator bool() const { return std::holds_alternative<T>(state_); }
    T& operator*() & { return std::get<T>(state_); }
    const T& operator*() const& { return std::get<T>(state_); }
    T&& operator*() && { return std::get<T>(std::move(state_)); }
    T* operator->() { return &std::get<T>(state_); }
    const T* operator->() const { return &std::get<T>(state_); }
    const Error& error() const { return std::get<Error>(state_); }

private:
    std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
inline Status success() { return std::monostate{}; }

}  // namespace headlight

#define HEADLIGHT_CONCAT_(a, b) a##b
#define HEADLIGHT_CONCAT(a, b) HEADLIGHT_CONCAT_(a, b)

/// TRY(auto x, f()); declares x from f()'s value, or returns f()'s error from the enclosing function.
#define TRY(declaration, expression)                                                        \
    auto HEADLIGHT_CONCAT(try_, __LINE__) = (expression);                                   \
    if (!HEADLIGHT_CONCAT(try_, __LINE__)) return HEADLIGHT_CONCAT(try_, __LINE__).error(); \
    declaration = *std::move(HEADLIGHT_CONCAT(try_, __LINE__))

/// TRY_STATUS(f()); returns f()'s error from the enclosing function, if there is one.
#define TRY_STATUS(expression) \
    if (auto status_ = (expression); !status_) return status_.error()
