// Values by name within a budget: those that were not used for longest go first.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace headlight {

/// Nothing is dropped but by trim(): between two calls of it, what was handed out stays where it is.
template <class Value>
class LruCache {
public:
    /// The value of a name, used now; null where there is none.
    Value* find(std::string_view name) {
        const auto place = places_.find(name);
        if (place == places_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, place->second);
        return &place->second->value;
    }

    /// A value under a name, in place of what it had; `cost` in whatever trim() counts.
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

    /// Drops the longest unused until what remains costs no more than `max`.
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
    std::list<Entry> entries_;  // used last first
    std::unordered_map<std::string_view, typename std::list<Entry>::iterator> places_;
    size_t cost_ = 0;
};

}  // namespace headlight
