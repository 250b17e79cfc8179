// Represents the variable `loop` of a for statement.
#pragma once

#include <functional>
#include <optional>

#include "chat/jinja/value.h"

namespace headlight::jinja {

/// Goes through the items that pass the loop's condition, evaluated only as far as needed, as Jinja does.
struct Loop {
    std::vector<Value> items;
    std::function<bool(const Value&)> wanted;  // null: all
    size_t at = 0;                             // next item to look at
    int64_t index0 = -1;
    int depth0 = 0, depth = 1;  // of recursion; of values
    std::optional<Value> before, current, after;
    std::optional<int64_t> known;    // length
    std::optional<Value> last_seen;  // by changed()
    const Statement* recursive = nullptr;

    /// Moves on; false: there is no further item.
    bool next() {
        std::optional<Value> found = after ? std::exchange(after, {}) : take();
        if (!found) return false;
        before = std::exchange(current, std::move(found));
        ++index0;
        return true;
    }
    /// Looks one item ahead.
    const std::optional<Value>& peek() {
        if (!after) after = take();
        return after;
    }
    /// Counts all items; evaluates the condition of those to come.
    size_t count() {
        if (!known) {
            if (wanted) {
                std::vector<Value> rest;
                while (auto item = take()) rest.push_back(*std::move(item));
                known = index0 + 1 + (after ? 1 : 0) + static_cast<int64_t>(rest.size());
                items = std::move(rest);
                at = 0;
                wanted = nullptr;
            } else {
                known = static_cast<int64_t>(items.size());
            }
        }
        return static_cast<size_t>(*known);
    }

private:
    std::optional<Value> take() {
        while (at < items.size()) {
            const Value& item = items[at++];
            if (!wanted || wanted(item)) return item;
        }
        return {};
    }
};

}  // namespace headlight::jinja
