#include "analysis/neighbors.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr int kRowsAtOnce = 1024;

/// The cosine of every row to a vector of length 1; −2 for rows of no length.
std::vector<float> cosines_to(const Linear& table, const Vector& unit, ThreadPool& pool) {
    const int rows = narrow<int>(table.out);
    std::vector<float> out(rows);
    pool.run((rows + kRowsAtOnce - 1) / kRowsAtOnce, [&](int tile) {
        Vector row(table.in);
        for (int i = tile * kRowsAtOnce; i < std::min(rows, (tile + 1) * kRowsAtOnce); ++i) {
            table.read(i, 0, table.in, row.data());
            const float length = row.norm();
            out[i] = length > 0 ? row.dot(unit) / length : -2.0f;
        }
    });
    return out;
}

}  // namespace

std::vector<Neighbor> nearest_rows(const Linear& table, const Vector& to, int count,
                                   const std::vector<int>& without, ThreadPool& pool) {
    HEADLIGHT_CHECK(to.size() == table.in);
    std::vector<float> cosine = cosines_to(table, to.normalized(), pool);
    for (const int id : without) cosine[id] = -2;
    std::vector<int> order;
    for (int id = 0; id < isize(cosine); ++id)
        if (cosine[id] >= -1.5f) order.push_back(id);
    const int kept = std::min(count, isize(order));
    std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                      [&](int a, int b) { return cosine[a] != cosine[b] ? cosine[a] > cosine[b] : a < b; });
    std::vector<Neighbor> out;
    for (int i = 0; i < kept; ++i) out.push_back({order[i], cosine[order[i]]});
    return out;
}

Matrix table_rows(const Linear& table, const std::vector<int>& ids) {
    Matrix out(isize(ids), table.in);
    for (int i = 0; i < isize(ids); ++i) {
        HEADLIGHT_CHECK(ids[i] >= 0 && ids[i] < table.out);
        table.read(ids[i], 0, table.in, out.row(i).data());
    }
    return out;
}

Result<std::vector<int>> ids_of_word(const Model& model, const std::string& word) {
    if (!model.tokenizer) return model.tokenizer.error();
    TRY(const Encoding pieces, (*model.tokenizer)->encode(" " + word, false));
    if (pieces.ids.empty())
        return Error{model.name + ": its tokenizer has no token for " + in_quotes(word) +
                     "; type another word."};
    return pieces.ids;
}

}  // namespace headlight
