// Represents the values of a template, as Python has them.
#pragma once

#include <concepts>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/text.h"

namespace headlight::jinja {

struct Scope;
struct Statement;
struct Value;

/// Is what a missing name, attribute or element gives; `why` says what is missing.
struct Undefined {
    std::shared_ptr<const std::string> why;
};
struct None {};

/// Distinguishes what can be iterated over: some are no sequences in Python, and an iterator gives each item
/// once.
enum class SequenceKind { list, tuple, view, range, iterator };

struct Sequence;
struct Dict;
struct Namespace;
struct Callable;
struct Loop;
using SequenceRef = std::shared_ptr<const Sequence>;
using DictRef = std::shared_ptr<const Dict>;
using CallableRef = std::shared_ptr<const Callable>;
using LoopRef = std::shared_ptr<Loop>;

template <class T>
concept ValueKind = std::same_as<T, Undefined> || std::same_as<T, None> || std::same_as<T, bool> ||
    std::same_as<T, int64_t> || std::same_as<T, double> || std::same_as<T, Text> ||
    std::same_as<T, SequenceRef> || std::same_as<T, DictRef> || std::same_as<T, Namespace*> ||
    std::same_as<T, CallableRef> || std::same_as<T, LoopRef>;

struct Value {
    std::variant<Undefined, None, bool, int64_t, double, Text, SequenceRef, DictRef, Namespace*, CallableRef,
                 LoopRef>
        data;
    Origin origin = 0;  // of what printing it adds; a text has its own

    Value() = default;
    template <ValueKind T>
    Value(T value, Origin from = 0) : data(std::move(value)), origin(from) {}

    template <class T>
    bool is() const {
        return std::holds_alternative<T>(data);
    }
    template <class T>
    const T* as() const {
        return std::get_if<T>(&data);
    }
    const Text* text() const { return as<Text>(); }
    const Sequence* sequence() const { return is<SequenceRef>() ? as<SequenceRef>()->get() : nullptr; }
    const Dict* dict() const { return is<DictRef>() ? as<DictRef>()->get() : nullptr; }
};

struct Sequence {
    SequenceKind kind = SequenceKind::list;
    std::vector<Value> items;
    std::string shown;         // of a range: as printed; of a view: "dict_keys"
    mutable size_t taken = 0;  // by an iterator
    int depth = 1;
    Counted counted;
};

struct Dict {
    std::vector<std::pair<Value, Value>> items;
    std::unordered_map<std::string, size_t> index;  // of text keys, once there are many
    int depth = 1;
    Counted counted;

    const Value* find(Budget& budget, const Value& key) const;
    const Value* find(std::string_view key) const;
};

/// Is the one thing that a template can change. The interpreter owns it: it may contain itself.
struct Namespace {
    std::vector<std::pair<std::string, Value>> items;
    Value* find(std::string_view name);
};

/// Is what can be called: a function, a method of a value, a macro, a cycler or a joiner.
struct Callable {
    enum class Kind { function, method, macro, cycler, joiner } kind = Kind::function;
    std::string name;
    Value self;                        // of a method
    const Statement* macro = nullptr;  // with its parameters and body
    std::weak_ptr<Scope> scope;        // where it was defined
    std::vector<Value> items;          // of a cycler; of a joiner the separator
    mutable size_t at = 0;
    int depth = 1;
};

/// Bounds how deep values nest, so that what walks them needs no bound of its own.
inline constexpr int kDeepestValue = 200;

int depth_of(const Value& value);
Value make_sequence(Budget& budget, std::vector<Value> items, SequenceKind kind = SequenceKind::list,
                    Origin origin = 0);
/// Later values of equal keys replace earlier ones, in the place of the earlier.
Value make_dict(Budget& budget, std::vector<std::pair<Value, Value>> items, Origin origin = 0);
Value undefined(std::string why);
Value text_value(std::string bytes, Origin origin = 0);

bool truth(const Value& value);
/// Names a value's type as Python does.
const char* type_name(const Value& value);
/// Names it for a message: "an int", "None".
std::string typed(const Value& value);
/// Returns an integer, of a boolean too.
const int64_t* integer(const Value& value, int64_t& room);
bool is_number(const Value& value);
double number(const Value& value);

bool equal(Budget& budget, const Value& a, const Value& b);
/// Compares as < does: −1, 0 or 1. Fails on values that have no order.
int compare(Budget& budget, const Value& a, const Value& b);
bool contains(Budget& budget, const Value& container, const Value& item);
/// Returns the items to iterate over; an iterator gives them away.
std::vector<Value> items_of(Budget& budget, const Value& value);
size_t length_of(const Value& value);

}  // namespace headlight::jinja
