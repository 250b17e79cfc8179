// Indexes the heads of a model: values per head, and the names of blocks and heads.
#pragma once

#include <string>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "base/result.h"
#include "model/model.h"

namespace headlight {

/// Holds one value per head, in the order of ModelConfig::head_index. Empty: nothing known.
template <class T>
class PerHead {
public:
    PerHead() = default;
    explicit PerHead(const ModelConfig& config, T value = {})
        : blocks_(config.block_table), values_(config.head_count(), value) {}

    decltype(auto) operator[](AttentionHead head) { return values_[index(head)]; }
    decltype(auto) operator[](AttentionHead head) const { return values_[index(head)]; }
    decltype(auto) operator[](size_t number) { return values_[number]; }
    decltype(auto) operator[](size_t number) const { return values_[number]; }

    size_t size() const { return values_.size(); }
    bool empty() const { return values_.empty(); }
    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    /// Returns the values of all heads, in order.
    const std::vector<T>& values() const { return values_; }
    operator const std::vector<T>&() const { return values_; }
    bool operator==(const PerHead& other) const { return values_ == other.values_; }

private:
    int index(AttentionHead h) const {
        const int at = blocks_.index(h);
        HEADLIGHT_CHECK(at < isize(values_));
        return at;
    }

    BlockTable blocks_;
    std::vector<T> values_;
};

/// Calls each(head) for every head of a model, on all threads.
template <class Each>
void for_heads(const ModelConfig& config, ThreadPool& pool, const Each& each) {
    pool.run(config.head_count(), [&](int i) { each(config.head_at(i)); });
}

/// Returns "4", "2 / 4" where encoder and decoder differ, "4–8" where layers do: a size of each stack's
/// attention, as shown to users.
std::string per_stack(const ModelConfig& config, int AttentionSpec::*number);

/// Returns "0", or "enc 0", "dec 0", "cross 0", "mamba 0": what users read, everywhere.
std::string block_name(const ModelConfig& config, int block);
/// Returns what options and files spell: "0", "encoder.0", "cross.0".
std::string block_path(const ModelConfig& config, int block);
/// Parses "3.5", "encoder.0.2" or "cross.0.2" (a bare layer number is the decoder's), a head that the model
/// has; errors name `option`.
Result<AttentionHead> parse_head(const ModelConfig& config, const std::string& text,
                                 const std::string& option);

/// Returns "0.3", "enc 0.3": what users read, everywhere.
std::string head_name(const ModelConfig& config, AttentionHead head);
/// Returns "attention", "delta net", …: how a block mixes tokens.
const char* mixer_name(const AttentionSpec& spec);

/// Returns why a head that mixes tokens without softmax has no scores, for what needs them.
Error no_scores(const ModelConfig& config, AttentionHead head);
inline std::string head_name(const ModelConfig& config, int block, int head) {
    return head_name(config, AttentionHead{block, head});
}
/// Returns what options and files spell: "0.3", "encoder.0.3".
std::string head_path(const ModelConfig& config, AttentionHead head);
inline std::string head_path(const ModelConfig& config, int block, int head) {
    return head_path(config, AttentionHead{block, head});
}

}  // namespace headlight
