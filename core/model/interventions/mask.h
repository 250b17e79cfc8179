// Which keys a query may see.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cast.h"
#include "base/result.h"
#include "base/threads.h"

namespace headlight {

/// Keys [begin, end).
struct KeyRange {
    int begin = 0, end = 0;
    bool contains(int key) const { return key >= begin && key < end; }
    int size() const { return end - begin; }
    bool operator==(const KeyRange&) const = default;
};

/// What a model's own mask knows of one attention block.
struct MaskParams {
    bool causal = true;
    int window = 0;  // a query sees the keys nearer than this, itself included; 0: all
};

/// A query and a key, and what else a mask may ask about.
struct MaskPair {
    int query = 0, key = 0;
    MaskParams own;
    std::span<const int> sentences;  // number of each token's sentence, kPadding for what only fills a batch
};

inline constexpr int kPadding = -1;

/// A row of the table of masks.
struct MaskKind {
    const char* name;
    const char* label;  // for a person; each # is one of the numbers
    const char* help;
    int numbers;             // that follow the name, each after a colon
    std::array<int, 2> min;  // the smallest that each may be
    bool (*allowed)(std::span<const int> numbers, const MaskPair& pair);
};

/// A mask in force: one kind with its numbers, for every self-attention layer.
class Mask {
public:
    /// The model's own mask.
    Mask();
    /// "own", "none", "causal", "window:4", "prefix:3", "global:1:4", "block", or "file:F.json": rows of 0
    /// and 1.
    static Result<Mask> parse(const std::string& text);

    /// The rows of a mask file; `file` is what messages call it. For tests and fuzzing too.
    static Result<Mask> of_rows(std::string_view text, const std::string& file);

    /// As parse() reads it.
    std::string name() const;
    /// For a person: "sliding window 2".
    std::string label() const;
    bool is_own() const;
    /// Rows of a mask from a file; 0 for other kinds.
    int file_rows() const { return rows_ ? isize(*rows_) : 0; }
    bool allowed(const MaskPair& pair) const;

    bool operator==(const Mask&) const = default;

private:
    const MaskKind* kind_;
    std::vector<int> numbers_;
    std::string file_;
    std::shared_ptr<const std::vector<std::vector<bool>>> rows_;  // of a file
};

/// Cells of the grid of queries and keys.
struct Rectangle {
    int query = 0, key = 0, queries = 1, keys = 1;
};

/// A mask laid out for one attention block.
/// A fully masked row, one whose query may see nothing, falls back to uniform attention over all keys, as
/// transformers computes it (its eager attention adds the lowest float to every score of such a row). That is
/// what every part of the program takes it for: heat map, thumbnail, lines, steps, numbers and statistics
/// show and count the uniform weights, and where there is room the row is marked as fully masked. Its cells
/// are masked (allows) and weigh all the same (weighs).
struct MaskPlan {
    std::vector<KeyRange> visible;  // per query: from the first to the last key it may see
    int keys = 0;                   // in all
    std::vector<std::vector<bool>>
        masked;  // per query: keys within `visible` that are hidden all the same; empty rows have none

    /// Self-attention over as many tokens as there are sentence numbers. Without meaning once `cancel` was
    /// set.
    static MaskPlan make(const Mask& mask, const MaskParams& own, std::span<const int> sentences,
                         const CancelFlag* cancel = nullptr);
    /// Every query sees every key, as in cross-attention.
    static MaskPlan full(int queries, int keys);

    bool allowed(int q, int k) const { return visible[q].contains(k) && !is_masked(q, k); }
    bool is_masked(int q, int k) const { return !masked.empty() && !masked[q].empty() && masked[q][k]; }
    bool has_masked(int q) const { return !masked.empty() && !masked[q].empty(); }
    bool hides_any() const;
    bool fully_masked(int q) const { return visible[q].size() == 0; }
    /// Whether the row of a query may weigh a key: one that is seen, or any where the row is fully masked.
    bool has_weight(int q, int k) const { return fully_masked(q) || allowed(q, k); }
    /// From the first to the last key that the row of a query may weigh, or the rows of the queries [first,
    /// last).
    KeyRange weight_range(int q) const { return fully_masked(q) ? KeyRange{0, keys} : visible[q]; }
    KeyRange weight_range(int first, int last) const;
    /// Whether a query may see the same keys under two plans; plans of different sizes can agree on a row
    /// that sees something.
    bool same_row(const MaskPlan& other, int q) const;
    /// Lets queries see keys, or hides these from them; what lies beyond the grid is left out.
    void set(const Rectangle& cells, bool allowed);
};

/// The table of masks: the only place to add one.
std::span<const MaskKind> mask_kinds();

/// The number of each token's sentence: a new one begins behind ".", "!" or "?", and behind a token of
/// another type.
std::vector<int> sentence_numbers(std::span<const std::string> tokens, std::span<const int> types, int count);

}  // namespace headlight
