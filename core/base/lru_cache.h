// Caches values by name within a budget, and drops the least recently used first.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace headlight {

/// Drops values only in trim(): references stay valid between two calls of it.
template <class Value>
class LruCache {
public:
    /// Returns the value of a name and marks it as used; null if there is none.
    Value* find(std::string_view name) {
        const auto place = places_.find(name);
        if (place == places_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, place->second);
        return &place->second->value;
    }

    /// Stores a value, replacing that of the same name; `cost` in the unit of trim().
    Value& add(std::string name, Value value, size_t cost) {
        if (const auto held = places_.find(name); held != places_.end()) {
            const auto entry = held->second;
            cost_ -= entry->cost;
            places_.erase(held);
            entries_.erase(entry);
        }
        entries_.push_front({std::move(name), std::move(value), cost});
        places_[entries_.front().name] = entries_.begin();
        cost_ += cost;
        return entries_.front().value;
    }

    /// Drops the least recently used values until the rest costs at most `max`.
    void trim(size_t max) {
        while (cost_ > max) {
            cost_ -= entries_.back().cost;
            places_.erase(entries_.back().name);
            entries_.pop_back();
        }
    }
    void clear() {
        trim(0);
        entries_.clear();
        places_.clear();
    }

    size_t cost() const { return cost_; }
    size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::string name;
        Value value;
        size_t cost;
    };
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, typename std::list<Entry>::iterator> places_;
    size_t cost_ = 0;
};

}  // namespace headlight
