// Says which keys a query may attend to.
#pragma once

#include <array>
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

/// Holds the model's own mask of one attention block.
struct MaskParams {
    bool causal = true;
    int window = 0;  // a query attends to keys less than this far back, itself included; 0: all
    int chunk = 0;   // a query attends to the keys of its own chunk of this many tokens; 0: all

    /// Returns the keys that a query may attend to, of n.
    KeyRange visible(int query, int n) const;
};

/// Holds a query, a key, and what else a mask may depend on.
struct MaskPair {
    int query = 0, key = 0;
    MaskParams own;
    std::span<const int> sentences;  // sentence of each token; kPadding: padding
};

inline constexpr int kPadding = -1;

struct MaskKind {
    const char* name;
    const char* label;  // for users; each # is one of the numbers
    const char* help;
    int numbers;             // count of numbers after the name, each after a colon
    std::array<int, 2> min;  // smallest value of each
    bool (*allowed)(std::span<const int> numbers, const MaskPair& pair);
};

/// Is a mask of every self-attention layer: one kind with its numbers.
class Mask {
public:
    /// Makes the model's own mask.
    Mask();
    /// Parses a row's name with its numbers, "own" or "global:1:4", or "file:F.json": rows of 0 and 1.
    static Result<Mask> parse(const std::string& text);

    /// Parses the rows of a mask file; messages call it `file`. For tests and fuzzing too.
    static Result<Mask> of_rows(std::string_view text, const std::string& file);

    /// Spells the mask as parse() reads it.
    std::string name() const;
    /// Labels it for users: "sliding window 2".
    std::string label() const;
    bool is_own() const;
    /// Counts the rows of a mask from a file; 0 for other kinds.
    int file_rows() const { return rows_ ? isize(*rows_) : 0; }
    bool allowed(const MaskPair& pair) const;

    bool operator==(const Mask&) const = default;

private:
    const MaskKind* kind_;
    std::vector<int> numbers_;
    std::string file_;
    std::shared_ptr<const std::vector<std::vector<bool>>> rows_;  // from a file
};

/// Is a rectangle of cells of the grid of queries and keys.
struct Rectangle {
    int query = 0, key = 0, queries = 1, keys = 1;
};

/// Lays out a mask for one attention block. A fully masked row, one whose query may attend to nothing, falls
/// back to uniform attention over all keys, as in transformers (its eager attention adds the lowest float to
/// every score of such a row). The whole program treats it so: heat map, thumbnail, lines, steps, numbers and
/// statistics show and count the uniform weights, and mark the row as fully masked where space permits. Its
/// cells are masked (allowed() is false) and still have weight (has_weight() is true).
struct MaskPlan {
    std::vector<KeyRange> visible;          // per query: range that spans its allowed keys
    int keys = 0;                           // total
    std::vector<std::vector<bool>> masked;  // per query: masked keys within its range; empty rows: none

    /// Builds the plan of self-attention over the tokens of `sentences`. Unusable once `cancel` was set.
    static MaskPlan make(const Mask& mask, const MaskParams& own, std::span<const int> sentences,
                         const CancelFlag* cancel = nullptr);
    /// Lets every query attend to every key, as in cross-attention.
    static MaskPlan full(int queries, int keys);

    bool allowed(int q, int k) const { return visible[q].contains(k) && !is_masked(q, k); }
    bool is_masked(int q, int k) const { return !masked.empty() && !masked[q].empty() && masked[q][k]; }
    bool has_masked(int q) const { return !masked.empty() && !masked[q].empty(); }
    bool hides_any() const;
    bool fully_masked(int q) const { return visible[q].size() == 0; }
    /// Returns whether a key has weight for a query: an allowed one, or any in a fully masked row.
    bool has_weight(int q, int k) const { return fully_masked(q) || allowed(q, k); }
    /// Returns the range of keys with weight for a query, or for the queries [first, last).
    KeyRange weight_range(int q) const { return fully_masked(q) ? KeyRange{0, keys} : visible[q]; }
    KeyRange weight_range(int first, int last) const;
    /// Returns whether a query may attend to the same keys under both plans; plans of different sizes can
    /// agree on a row that is not fully masked.
    bool same_row(const MaskPlan& other, int q) const;
    /// Unmasks or masks cells; ignores those outside the grid.
    void set(const Rectangle& cells, bool allowed);
};

/// Returns the table of masks: the only place to add one.
std::span<const MaskKind> mask_kinds();

/// Numbers each token's sentence: a new one begins after ".", "!" or "?", and where the token type changes.
std::vector<int> sentence_numbers(std::span<const std::string> tokens, std::span<const int> types, int count);

}  // namespace headlight
