// Caches what a station computes from a model alone, so that typing does not repeat it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"

namespace headlight::learn {

/// Keeps the value of the last model and key.
template <class Key, class Value>
class OncePerModel {
public:
    /// Returns the cached value, or that of compute() → Result<Value>; does not cache an error.
    template <class Model, class Compute>
    Result<Value> of(const std::shared_ptr<const Model>& model, const Key& key, const Compute& compute) {
        const std::scoped_lock lock(mutex_);
        if (!value_ || model_.lock() != model || key_ != key) {
            value_.reset();
            TRY(Value computed, compute());
            value_.emplace(std::move(computed));
            model_ = model;
            key_ = key;
        }
        return *value_;
    }

private:
    std::mutex mutex_;
    std::weak_ptr<const void> model_;
    Key key_{};
    std::optional<Value> value_;
};

}  // namespace headlight::learn
