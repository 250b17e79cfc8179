// Aligns two token sequences.
#include "analysis/comparison/align.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

constexpr size_t kMaxCells =
    16'000'000;  // entries of the table of common subsequences; longer texts are paired by position
using Tokens = std::span<const std::string>;

/// Returns pairs of a longest common subsequence, in order.
TokenPairs common(Tokens a, Tokens b) {
    const int n = isize(a), m = isize(b);
    const int64_t width = m + 1;
    std::vector<uint16_t> length((n + 1) * width, 0);  // of the common subsequence of a[i…] and b[j…]
    for (int i = n; i-- > 0;)
        for (int j = m; j-- > 0;)
            length[i * width + j] = a[i] == b[j]
                                        ? static_cast<uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                        : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    TokenPairs out;
    for (int i = 0, j = 0; i < n && j < m;) {
        if (a[i] == b[j])
            out.push_back({i++, j++});
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1])
            ++i;
        else
            ++j;
    }
    return out;
}

/// Returns B's partner of each token of A, −1 for none.
std::vector<int> partners(AlignBy by, Tokens a, Tokens b) {
    std::vector<int> out(a.size(), -1);
    if (by == AlignBy::position || (a.size() + 1) * (b.size() + 1) > kMaxCells) {
        std::iota(out.begin(), out.begin() + std::min(a.size(), b.size()), 0);
        return out;
    }
    TokenPairs found = common(a, b);
    found.push_back({isize(a), isize(b)});
    TokenPair last{-1, -1};
    for (const TokenPair& p : found) {
        const bool replaced = p.a - last.a == p.b - last.b;  // as many on both sides
        for (int i = 1; replaced && i < p.a - last.a; ++i) out[last.a + i] = last.b + i;
        if (p.a < isize(a)) out[p.a] = p.b;
        last = p;
    }
    return out;
}

}  // namespace

TokenPairs align(const Alignment& how, Tokens a, Tokens b) {
    std::vector<int> partner = partners(how.by, a, b);
    for (const auto& [mine, theirs] : how.by_hand) {
        if (mine < 0 || mine >= isize(a) || theirs >= isize(b)) continue;
        if (theirs >= 0) std::replace(partner.begin(), partner.end(), theirs, -1);
        partner[mine] = theirs;
    }
    std::vector<bool> taken(b.size());
    for (const int p : partner)
        if (p >= 0) taken[p] = true;
    TokenPairs out;
    const auto append_unmatched = [&](int j) {
        for (; j < isize(b) && !taken[j]; ++j) out.push_back({-1, j});
    };
    append_unmatched(0);
    for (int i = 0; i < isize(a); ++i) {
        out.push_back({i, partner[i]});
        if (partner[i] >= 0) append_unmatched(partner[i] + 1);
    }
    return out;
}

TokenPairs paired_with_itself(int count) {
    TokenPairs out;
    for (int i = 0; i < count; ++i) out.push_back({i, i});
    return out;
}

int index_of(const TokenPairs& pairs, int a) {
    const auto it = std::find_if(pairs.begin(), pairs.end(), [a](const TokenPair& p) { return p.a == a; });
    return it == pairs.end() ? -1 : narrow<int>(it - pairs.begin());
}

Matrix laid_out(const Matrix& values, const TokenPairs& rows, const TokenPairs& columns, Side side,
                float absent) {
    const auto token = [side](const TokenPair& p) { return side == Side::a ? p.a : p.b; };
    Matrix out = Matrix::Constant(rows.size(), columns.size(), absent);
    for (int r = 0; r < isize(rows); ++r)
        for (int c = 0; c < isize(columns); ++c)
            if (token(rows[r]) >= 0 && token(columns[c]) >= 0) {
                HEADLIGHT_DCHECK(token(rows[r]) < values.rows() && token(columns[c]) < values.cols());
                out(r, c) = values(token(rows[r]), token(columns[c]));
            }
    return out;
}

}  // namespace headlight
