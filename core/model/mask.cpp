#include "model/mask.h"

#include <algorithm>

namespace headlight {

std::span<const MaskKind> mask_kinds() {
    static const MaskKind table[] = {
        {"own", "the model's own mask", [](int q, int n, const Visibility& own) {
             const int reach = own.window > 0 ? own.window : n;
             return KeyRange{std::max(0, q - reach + 1), own.causal ? q + 1 : std::min(n, q + reach)};
         }},
        {"none", "every query sees every key", [](int, int n, const Visibility&) { return KeyRange{0, n}; }},
        {"causal", "a query sees itself and earlier keys", [](int q, int, const Visibility&) { return KeyRange{0, q + 1}; }},
    };
    return table;
}

Mask::Mask() : kind_(&mask_kinds()[0]) {}

Result<Mask> Mask::parse(const std::string& text) {
    std::string known;
    for (const MaskKind& kind : mask_kinds()) {
        if (text == kind.name) return Mask(&kind);
        known += (known.empty() ? "" : ", ") + std::string(kind.name);
    }
    return Error{"The mask \"" + text.substr(0, 40) + "\" is unknown; use one of: " + known + "."};
}

MaskPlan MaskPlan::make(const Mask& mask, const Visibility& own, int n) {
    MaskPlan plan{{}, n};
    for (int q = 0; q < n; ++q) plan.seen.push_back(mask.keys(q, n, own));
    return plan;
}

MaskPlan MaskPlan::open(int queries, int keys) { return {std::vector(static_cast<size_t>(queries), KeyRange{0, keys}), keys}; }

bool MaskPlan::hides_any() const {
    return std::any_of(seen.begin(), seen.end(), [&](const KeyRange& r) { return r.size() < keys; });
}

KeyRange MaskPlan::visible_keys(int first, int last) const {
    KeyRange all{keys, 0};
    for (int q = first; q < last; ++q) {
        const KeyRange& r = seen[static_cast<size_t>(q)];
        if (r.size() == 0) return {0, keys};
        all = {std::min(all.begin, r.begin), std::max(all.end, r.end)};
    }
    return all;
}

}  // namespace headlight
