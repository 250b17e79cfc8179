// Declares what filters, tests, functions and methods have in common: a table of rows for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/value.h"

namespace headlight::jinja {

class Interpreter;

/// Holds the arguments of a call.
struct Call {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

/// Assigns the arguments of a call to parameters by place and name.
class Given {
public:
    /// `parameters`: names with spaces between them, of which the first `required` must be given; null: any
    /// arguments, read from call().
    Given(const Call& call, const char* parameters, size_t required, const std::string& of);

    bool has(size_t i) const { return i < values_.size() && values_[i]; }
    /// Returns a given argument.
    const Value& operator[](size_t i) const { return *values_[i]; }
    bool flag(size_t i, bool fallback = false) const { return has(i) ? truth(*values_[i]) : fallback; }
    /// Returns a whole number; fails if another value is given. None counts as missing.
    int64_t whole(size_t i, int64_t fallback) const;
    const Text& text(size_t i) const;
    const Call& call() const { return call_; }
    const std::string& of() const { return of_; }

private:
    const Call& call_;
    const std::string& of_;
    std::vector<const Value*> values_;
};

struct FilterRow {
    const char *name, *parameters;
    size_t required;
    Value (*run)(Interpreter& run, const Given& given);
};
struct TestRow {
    const char *name, *parameters;
    bool (*run)(Interpreter& run, const Given& given);
};
/// Is a function, or a method: its first argument is then the value it belongs to.
using FunctionRow = FilterRow;

const FilterRow* find_filter(std::string_view name);
const TestRow* find_test(std::string_view name);
const FunctionRow* find_function(std::string_view name);
/// Lists the names of functions, which a template may hide.
std::vector<std::string> function_names();

/// Returns the row of a method of a value, or null.
const FunctionRow* find_method(const Value& self, std::string_view name);
/// Tests whether Python has a method of this name that would change the value.
bool is_changing_method(const Value& self, std::string_view name);

/// The rows of one file each.
struct Rows {
    const FilterRow* begin;
    const FilterRow* end;
};
Rows text_filters();
Rows list_filters();
Rows text_methods();
Rows other_methods();

/// Returns text % values and text.format(…).
Value percent_format(Interpreter& run, const Text& format, const Value& values);
Value brace_format(Interpreter& run, const Text& format, const Call& call, size_t first);

}  // namespace headlight::jinja
