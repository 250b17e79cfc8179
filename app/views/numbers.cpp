#include "views/numbers.h"

#include <limits>

#include "views/views.h"

namespace headlight {

Matrix shown_only(const Matrix& values) {
    return (values.array() < 0)
        .select(Matrix::Constant(values.rows(), values.cols(), std::numeric_limits<float>::quiet_NaN()),
                values);
}

Matrix matrix_of_columns(const std::vector<std::vector<float>>& columns) {
    Matrix out(columns.empty() ? 0 : static_cast<Index>(columns[0].size()),
               static_cast<Index>(columns.size()));
    for (size_t c = 0; c < columns.size(); ++c)
        for (size_t r = 0; r < columns[c].size(); ++r)
            out(static_cast<Index>(r), static_cast<Index>(c)) = columns[c][r];
    return out;
}

std::vector<NumberTable> shown_numbers(const Scene& s) {
    if (!s.sentence()) return {};
    const View& view = views()[view_for(s.session, *s.model())];
    return view.numbers ? view.numbers(s) : std::vector<NumberTable>();
}

}  // namespace headlight
