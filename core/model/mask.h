// Which keys a query may see.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// A row of the table of masks.
struct MaskKind {
    const char* name;
    const char* help;
    /// May query q see key k? `causal` is the model's own rule.
    bool (*allows)(int q, int k, bool causal);
};

/// A mask in force: one kind, for every self-attention layer.
class Mask {
public:
    /// The model's own mask.
    Mask();
    /// "own", "none", "causal".
    static Result<Mask> parse(const std::string& text);

    std::string name() const { return kind_->name; }
    bool allows(int q, int k, bool causal) const { return kind_->allows(q, k, causal); }

    bool operator==(const Mask&) const = default;

private:
    explicit Mask(const MaskKind* kind) : kind_(kind) {}
    const MaskKind* kind_;
};

/// A mask laid out for n queries, so that the usual rows (every key up to a last one) cost nothing to check.
struct MaskPlan {
    Mask mask;
    bool causal = true;
    std::vector<int> end;       // one past the last key each query may see
    std::vector<bool> prefix;   // whether it may see every key before `end`

    static MaskPlan make(const Mask& mask, bool causal, int n);
    int size() const { return static_cast<int>(end.size()); }
    bool allows(int q, int k) const;
    /// One past the last key that any of the queries [first, last) may see; n where one of them sees nothing.
    int visible_keys(int first, int last) const;
};

/// The table of masks: the only place to add one.
std::span<const MaskKind> mask_kinds();

}  // namespace headlight
