// Replaces rows of activations.
#include "model/interventions/given_rows.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

bool GivenRows::Part::has(int row) const {
    return values && row >= first && row - first < count && row < values->rows();
}

void ReplacedRows::put_back(MatrixRef all) const {
    for (size_t i = 0; i < at.size(); ++i) all.row(at[i]) = rows.row(narrow<Index>(i));
}

bool GivenRows::gives(int row) const {
    return std::any_of(parts.begin(), parts.end(), [row](const Part& part) { return part.has(row); });
}

bool GivenRows::replaces(int row) const {
    return std::any_of(parts.begin(), parts.end(),
                       [row](const Part& part) { return !part.added && part.has(row); });
}

ReplacedRows GivenRows::replaced(const ReplacedRows* past, int first, ConstMatrixRef rows) const {
    ReplacedRows out;
    for (int i = 0; past && i < isize(past->at); ++i)
        if (past->at[i] < first) out.at.push_back(past->at[i]);
    const Index kept = isize(out.at);
    for (int i = 0; i < narrow<int>(rows.rows()); ++i)
        if (gives(first + i)) out.at.push_back(first + i);
    out.rows.resize(isize(out.at), rows.cols());
    if (kept) out.rows.topRows(kept) = past->rows.topRows(kept);
    for (Index i = kept; i < isize(out.at); ++i) out.rows.row(i) = rows.row(out.at[i] - first);
    return out;
}

void GivenRows::put(int start, MatrixRef rows) const {
    for (const Part& part : parts) {
        HEADLIGHT_CHECK(!part.values || part.values->cols() == rows.cols());
        for (int i = 0; i < narrow<int>(rows.rows()); ++i) {
            if (!part.has(start + i)) continue;
            const auto given = part.values->row(start + i);
            if (part.added)
                rows.row(i) += given;
            else
                rows.row(i) = given;
        }
    }
}

void GivenRows::zero_replaced(std::span<const int> positions, MatrixRef gradients) const {
    HEADLIGHT_CHECK(gradients.rows() == std::ssize(positions));
    for (const Part& part : parts)
        for (Index i = 0; i < gradients.rows(); ++i)
            if (!part.added && part.has(positions[static_cast<size_t>(i)])) gradients.row(i).setZero();
}

bool GivenRows::same_row(const GivenRows& other, int row) const {
    const auto of = [row](const GivenRows& given) {
        std::vector<const Part*> out;
        for (const Part& part : given.parts)
            if (part.has(row)) out.push_back(&part);
        return out;
    };
    const auto mine = of(*this), theirs = of(other);
    return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                      [row](const Part* a, const Part* b) {
                          return a->added == b->added &&
                                 (a->values == b->values || a->values->row(row) == b->values->row(row));
                      });
}

}  // namespace headlight
