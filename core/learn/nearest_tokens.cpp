// Finds nearest neighbors in embedding tables.
#include "learn/nearest_tokens.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr int kRowsAtOnce = 1024;

/// Returns whether a text holds only letters; bytes beyond ASCII count as such.
bool all_letters(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const unsigned char byte = as_byte(c);
        return byte >= 0x80 || std::isalpha(byte);
    });
}

int tiles_of(const Linear& table) { return (narrow<int>(table.out) + kRowsAtOnce - 1) / kRowsAtOnce; }

/// Calls each(i, row) for the rows of a tile.
template <class Each>
void read_tile(const Linear& table, int tile, const Each& each) {
    Vector row(table.in);
    const int end = std::min(narrow<int>(table.out), (tile + 1) * kRowsAtOnce);
    for (int i = tile * kRowsAtOnce; i < end; ++i) {
        table.read(i, 0, table.in, row.data());
        each(i, row);
    }
}

/// [vectors, vocab]: the cosine of every row, seen from `center`, with unit vectors; −2 for zero rows.
Matrix cosines_to(const Linear& table, const Matrix& units, const Vector& center, ThreadPool& pool) {
    Matrix out = Matrix::Constant(units.rows(), table.out, -2);
    pool.run(tiles_of(table), [&](int tile) {
        read_tile(table, tile, [&](int i, const Vector& row) {
            const Vector seen = row - center;
            const float length = seen.norm();
            if (!row.isZero(0) && length > 0) out.col(i) = units * seen / length;
        });
    });
    return out;
}

/// Returns the indices of the `count` largest cosines, the first of equal ones.
std::vector<Neighbor> largest_cosines(const Eigen::Ref<const Eigen::RowVectorXf>& cosine, int count) {
    std::vector<int> order;
    for (int id = 0; id < cosine.size(); ++id)
        if (cosine[id] >= -1.5f) order.push_back(id);
    const int kept = std::min(count, isize(order));
    std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                      [&](int a, int b) { return cosine[a] != cosine[b] ? cosine[a] > cosine[b] : a < b; });
    std::vector<Neighbor> out;
    for (int i = 0; i < kept; ++i) out.push_back({order[i], cosine[order[i]]});
    return out;
}

}  // namespace

Vector mean_row(const Linear& table, ThreadPool& pool) {
    Matrix sums = Matrix::Zero(tiles_of(table), table.in);
    pool.run(tiles_of(table), [&](int tile) {
        read_tile(table, tile, [&](int, const Vector& row) { sums.row(tile) += row.transpose(); });
    });
    return sums.colwise().sum().transpose() / float(std::max<Index>(1, table.out));
}

std::vector<std::vector<Neighbor>> nearest_rows(const Linear& table, const Matrix& to, const Vector& center,
                                                int count, ThreadPool& pool) {
    HEADLIGHT_CHECK(to.cols() == table.in && center.size() == table.in);
    const Matrix seen = to.rowwise() - center.transpose();
    const Matrix cosine = cosines_to(table, seen.rowwise().normalized(), center, pool);
    std::vector<std::vector<Neighbor>> out;
    for (Index i = 0; i < to.rows(); ++i) out.push_back(largest_cosines(cosine.row(i), count));
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

std::vector<bool> whole_words(const Tokenizer& tokenizer, int count) {
    constexpr double kSoon = 1.15;
    bool merged = false;             // WordPiece marks what continues a word instead, "##s"
    std::map<std::string, int> ids;  // of tokens that begin a word, by their letters
    for (int id = 0; id < count; ++id) {
        const std::string bytes = tokenizer.bytes(id);
        const bool spaced = bytes.starts_with(" ");
        const std::string word = spaced ? bytes.substr(1) : bytes;
        if (word.empty() || !all_letters(word) || (merged && !spaced)) continue;
        if (spaced && !std::exchange(merged, true)) ids.clear();
        ids.emplace(word, id);
    }
    std::vector<bool> out(count, false);
    for (auto at = ids.begin(); at != ids.end(); ++at) {
        bool whole = true;
        for (auto longer = std::next(at);
             merged && longer != ids.end() && longer->first.starts_with(at->first); ++longer)
            whole = whole && longer->second > kSoon * at->second;
        out[at->second] = whole;
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
