// Which keys a query may see.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Keys [begin, end).
struct KeyRange {
    int begin = 0, end = 0;
    bool contains(int key) const { return key >= begin && key < end; }
    int size() const { return end - begin; }
    bool operator==(const KeyRange&) const = default;
};

/// What a model's own mask knows of one attention block.
struct Visibility {
    bool causal = true;
    int window = 0;  // a query sees the keys nearer than this, itself included; 0: all
};

/// A query and a key, and what else a mask may ask about.
struct MaskPair {
    int query = 0, key = 0;
    Visibility own;
    std::span<const int> sentences;  // number of each token's sentence, kPadding for what only fills a batch
};

inline constexpr int kPadding = -1;

/// A row of the table of masks.
struct MaskKind {
    const char* name;
    const char* help;
    int numbers;  // that follow the name, each after a colon
    bool (*allows)(std::span<const int> numbers, const MaskPair& pair);
};

/// A mask in force: one kind with its numbers, for every self-attention layer.
class Mask {
public:
    /// The model's own mask.
    Mask();
    /// "own", "none", "causal", "window:4", "prefix:3", "global:1:4", "block", or "file:F.json": rows of 0 and 1.
    static Result<Mask> parse(const std::string& text);

    /// The rows of a mask file; `file` is what messages call it. For tests and fuzzing too.
    static Result<Mask> of_rows(std::string_view text, const std::string& file);

    /// As parse() reads it.
    std::string name() const;
    bool is_own() const;
    /// Rows of a mask from a file; 0 for other kinds.
    int file_rows() const { return rows_ ? static_cast<int>(rows_->size()) : 0; }
    /// Whether rows that stay the same may be kept when tokens are added behind them: nothing but the model's own causality.
    bool follows_causality() const;
    bool allows(const MaskPair& pair) const;

    bool operator==(const Mask&) const = default;

private:
    const MaskKind* kind_;
    std::vector<int> numbers_;
    std::string file_;
    std::shared_ptr<const std::vector<std::vector<bool>>> rows_;  // of a file
};

/// A mask laid out for one attention block.
struct MaskPlan {
    std::vector<KeyRange> seen;  // per query: from the first to the last key it may see
    int keys = 0;                // in all
    std::vector<std::vector<bool>> holes;  // per query: keys within `seen` that are hidden all the same; empty rows have none

    /// Self-attention over as many tokens as there are sentence numbers.
    static MaskPlan make(const Mask& mask, const Visibility& own, std::span<const int> sentences);
    /// Every query sees every key, as in cross-attention.
    static MaskPlan open(int queries, int keys);

    bool allows(int q, int k) const { return seen[static_cast<size_t>(q)].contains(k) && !is_hole(q, k); }
    bool is_hole(int q, int k) const { return !holes.empty() && !holes[static_cast<size_t>(q)].empty() && holes[static_cast<size_t>(q)][static_cast<size_t>(k)]; }
    bool has_holes(int q) const { return !holes.empty() && !holes[static_cast<size_t>(q)].empty(); }
    bool hides_any() const;
    /// The keys that any of the queries [first, last) may see; all where one of them sees nothing.
    KeyRange visible_keys(int first, int last) const;
    /// Lets a query see a key, or hides it.
    void set(int q, int k, bool allowed);
};

/// The table of masks: the only place to add one.
std::span<const MaskKind> mask_kinds();

/// The number of each token's sentence: a new one begins behind ".", "!" or "?", and behind a token of another type.
std::vector<int> sentence_numbers(std::span<const std::string> tokens, std::span<const int> types, int count);

}  // namespace headlight
