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

NumberTable pattern_table(std::string name, std::span<const std::string> queries,
                          std::span<const std::string> keys, const Matrix& weights, const Vector& sinks) {
    NumberTable out{
        std::move(name),    "query", "key", {queries.begin(), queries.end()}, {keys.begin(), keys.end()},
        shown_only(weights)};
    if (sinks.size() == 0) return out;
    out.columns.push_back("sink");
    out.values.conservativeResize(Eigen::NoChange, weights.cols() + 1);
    out.values.col(weights.cols()) = sinks;
    return out;
}

std::vector<NumberTable> pattern_numbers(const Scene& s) {
    if (!s.answer->picture) return {};
    const HeadPicture& p = *s.answer->picture;
    const std::string name = !p.group                       ? "pattern"
                             : p.group->by == Combine::mean ? "mean pattern"
                                                            : "max pattern";
    if (p.step == 1) return {pattern_table(name, s.query_labels(), s.key_labels(), p.levels[0], p.sinks)};
    check_fits(int64_t{s.queries()} * s.keys() * 12);
    const Trace& trace = *s.sentence()->trace;
    const Matrix weights = picture_rows(trace, p, 0, s.queries());
    const Vector rest = (1 - weights.cwiseMax(0.0f).rowwise().sum().array()).cwiseMax(0.0f);
    return {pattern_table(name, s.query_labels(), s.key_labels(), weights,
                          leaves_to_sinks(trace, p) ? rest : Vector())};
}

}  // namespace headlight
