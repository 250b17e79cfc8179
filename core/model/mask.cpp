#include "model/mask.h"

#include <algorithm>

namespace headlight {

std::span<const MaskKind> mask_kinds() {
    static const MaskKind table[] = {
        {"own", "the model's own mask", [](int q, int k, bool causal) { return !causal || k <= q; }},
        {"none", "every query sees every key", [](int, int, bool) { return true; }},
        {"causal", "a query sees itself and earlier keys", [](int q, int k, bool) { return k <= q; }},
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

MaskPlan MaskPlan::make(const Mask& mask, bool causal, int n) {
    MaskPlan plan{mask, causal, std::vector<int>(static_cast<size_t>(n)), std::vector<bool>(static_cast<size_t>(n), true)};
    for (int q = 0; q < n; ++q) {
        int end = n;
        while (end > 0 && !mask.allows(q, end - 1, causal)) --end;
        plan.end[static_cast<size_t>(q)] = end;
        for (int k = 0; k < end; ++k)
            if (!mask.allows(q, k, causal)) {
                plan.prefix[static_cast<size_t>(q)] = false;
                break;
            }
    }
    return plan;
}

bool MaskPlan::allows(int q, int k) const {
    return k < end[static_cast<size_t>(q)] && (prefix[static_cast<size_t>(q)] || mask.allows(q, k, causal));
}

int MaskPlan::visible_keys(int first, int last) const {
    int keys = 0;
    for (int q = first; q < last; ++q) keys = std::max(keys, end[static_cast<size_t>(q)] ? end[static_cast<size_t>(q)] : size());
    return keys;
}

}  // namespace headlight
