#include "analysis/align.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace headlight {

namespace {

constexpr size_t kMaxCells =
    16'000'000;  // of the table of common subsequences; longer texts are paired by position
using Tokens = std::span<const std::string>;

/// Pairs of a longest common subsequence, in order.
TokenPairs common(Tokens a, Tokens b) {
    const size_t n = a.size(), m = b.size(), width = m + 1;
    std::vector<uint16_t> length((n + 1) * width, 0);  // of the common subsequence of a[i…] and b[j…]
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;)
            length[i * width + j] = a[i] == b[j]
                                        ? static_cast<uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                        : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    TokenPairs out;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        if (a[i] == b[j])
            out.push_back({static_cast<int>(i++), static_cast<int>(j++)});
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1])
            ++i;
        else
            ++j;
    }
    return out;
}

/// B's partner of each token of A, −1 for none.
std::vector<int> partners(AlignBy by, Tokens a, Tokens b) {
    std::vector<int> out(a.size(), -1);
    if (by == AlignBy::position || (a.size() + 1) * (b.size() + 1) > kMaxCells) {
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) out[i] = static_cast<int>(i);
        return out;
    }
    TokenPairs found = common(a, b);
    found.push_back({static_cast<int>(a.size()), static_cast<int>(b.size())});
    TokenPair last{-1, -1};
    for (const TokenPair& p : found) {
        const bool replaced = p.a - last.a == p.b - last.b;  // as many on both sides
        for (int i = 1; replaced && i < p.a - last.a; ++i) out[static_cast<size_t>(last.a + i)] = last.b + i;
        if (p.a < static_cast<int>(a.size())) out[static_cast<size_t>(p.a)] = p.b;
        last = p;
    }
    return out;
}

}  // namespace

TokenPairs align(const Alignment& how, Tokens a, Tokens b) {
    std::vector<int> partner = partners(how.by, a, b);
    for (const auto& [mine, theirs] : how.by_hand) {
        if (mine < 0 || mine >= static_cast<int>(a.size()) || theirs >= static_cast<int>(b.size())) continue;
        if (theirs >= 0) std::replace(partner.begin(), partner.end(), theirs, -1);
        partner[static_cast<size_t>(mine)] = theirs;
    }
    std::vector<bool> taken(b.size());
    for (const int p : partner)
        if (p >= 0) taken[static_cast<size_t>(p)] = true;
    TokenPairs out;
    const auto append_unmatched = [&](size_t j) {
        for (; j < b.size() && !taken[j]; ++j) out.push_back({-1, static_cast<int>(j)});
    };
    append_unmatched(0);
    for (size_t i = 0; i < a.size(); ++i) {
        out.push_back({static_cast<int>(i), partner[i]});
        if (partner[i] >= 0) append_unmatched(static_cast<size_t>(partner[i]) + 1);
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
    return it == pairs.end() ? -1 : static_cast<int>(it - pairs.begin());
}

Matrix laid_out(const Matrix& values, const TokenPairs& rows, const TokenPairs& columns, Side side,
                float absent) {
    const auto token = [side](const TokenPair& p) { return side == Side::a ? p.a : p.b; };
    Matrix out =
        Matrix::Constant(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()), absent);
    for (size_t r = 0; r < rows.size(); ++r)
        for (size_t c = 0; c < columns.size(); ++c)
            if (token(rows[r]) >= 0 && token(columns[c]) >= 0) {
                HEADLIGHT_DCHECK(token(rows[r]) < values.rows() && token(columns[c]) < values.cols());
                out(static_cast<Index>(r), static_cast<Index>(c)) = values(token(rows[r]), token(columns[c]));
            }
    return out;
}

}  // namespace headlight
