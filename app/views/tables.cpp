#include "views/tables.h"

#include <limits>

#include "base/cast.h"
#include "base/memory.h"

namespace headlight {

Matrix shown_only(const Matrix& values) {
    return (values.array() <= kMasked)
        .select(Matrix::Constant(values.rows(), values.cols(), std::numeric_limits<float>::quiet_NaN()),
                values);
}

Matrix matrix_of_columns(const std::vector<std::vector<float>>& columns) {
    Matrix out(columns.empty() ? 0 : columns[0].size(), columns.size());
    for (int c = 0; c < isize(columns); ++c)
        for (int r = 0; r < isize(columns[c]); ++r) out(r, c) = columns[c][r];
    return out;
}

std::vector<NumberTable> pattern_numbers(const Scene& s) {
    if (!s.answer->picture) return {};
    const HeadPicture& p = *s.answer->picture;
    const std::string name = !p.group                       ? "pattern"
                             : p.group->by == Combine::mean ? "mean pattern"
                                                            : "max pattern";
    if (p.step == 1)
        return {{name, "query", "key", s.query_labels(), s.key_labels(), shown_only(p.levels[0])}};
    check_fits(int64_t{s.queries()} * s.keys() * 12);
    return {{name, "query", "key", s.query_labels(), s.key_labels(),
             shown_only(picture_rows(*s.sentence()->trace, p, 0, s.queries()))}};
}

}  // namespace headlight
