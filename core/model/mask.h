// Which keys a query may see.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Keys [begin, end).
struct KeyRange {
    int begin = 0, end = 0;
    bool contains(int key) const { return key >= begin && key < end; }
    int size() const { return end - begin; }
};

/// What a model's own mask knows of one attention block.
struct Visibility {
    bool causal = true;
    int window = 0;  // a query sees the keys nearer than this, itself included; 0: all
};

/// A row of the table of masks.
struct MaskKind {
    const char* name;
    const char* help;
    /// The keys that query q of n may see. `own` is the model's own rule.
    KeyRange (*keys)(int q, int n, const Visibility& own);
};

/// A mask in force: one kind, for every self-attention layer.
class Mask {
public:
    /// The model's own mask.
    Mask();
    /// "own", "none", "causal".
    static Result<Mask> parse(const std::string& text);

    std::string name() const { return kind_->name; }
    KeyRange keys(int q, int n, const Visibility& own) const { return kind_->keys(q, n, own); }

    bool operator==(const Mask&) const = default;

private:
    explicit Mask(const MaskKind* kind) : kind_(kind) {}
    const MaskKind* kind_;
};

/// A mask laid out for one attention block.
struct MaskPlan {
    std::vector<KeyRange> seen;  // per query
    int keys = 0;                // in all

    /// Self-attention over n tokens.
    static MaskPlan make(const Mask& mask, const Visibility& own, int n);
    /// Every query sees every key, as in cross-attention.
    static MaskPlan open(int queries, int keys);

    bool allows(int q, int k) const { return seen[static_cast<size_t>(q)].contains(k); }
    bool hides_any() const;
    /// The keys that any of the queries [first, last) may see; all where one of them sees nothing.
    KeyRange visible_keys(int first, int last) const;
};

/// The table of masks: the only place to add one.
std::span<const MaskKind> mask_kinds();

}  // namespace headlight
