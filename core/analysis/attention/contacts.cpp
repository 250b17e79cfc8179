// Predicts contacts of residues from patterns.
#include "analysis/attention/contacts.h"

#include "base/cast.h"
#include "base/memory.h"

namespace headlight {

namespace {

/// Is the id of <eos> in the contact head, whatever the configuration says (transformers).
constexpr int kEndId = 2;

/// Returns the pattern between residues: without the first and last token, 0 at end tokens.
Matrix between_residues(const Trace& trace, AttentionHead head) {
    Matrix pattern = trace.pattern(head.block, head.head);
    const std::vector<int>& ids = trace.request.inputs[0].ids;
    for (int i = 0; i < isize(ids); ++i)
        if (ids[i] == kEndId) {
            pattern.row(i).setZero();
            pattern.col(i).setZero();
        }
    return pattern.block(1, 1, pattern.rows() - 2, pattern.cols() - 2);
}

}  // namespace

Matrix corrected_pattern(const Matrix& pattern) {
    const Matrix both = pattern + pattern.transpose();
    const float all = both.sum();
    if (all == 0) return both;  // no residue sees another
    return both - both.rowwise().sum() * both.colwise().sum() / all;
}

Result<Matrix> contact_map(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel) {
    const Linear& head = trace.model->weights.contact;
    const ModelConfig& c = trace.config();
    if (!head)
        return Error{
            trace.model->name +
            " has no contact head, whose coefficients the map needs; open an ESM-2 that stores one."};
    const int n = trace.query_count(0);
    if (n < 3)
        return Error{
            "A contact map needs residues between the first and the last token; give a longer protein."};
    check_fits(Index{n} * n * 4 * int64_t{sizeof(float)});
    Vector coefficients(head.in);
    head.read(0, 0, head.in, coefficients.data());
    Matrix sum = Matrix::Zero(n - 2, n - 2);
    for (int i = 0; i < c.head_count(); ++i) {
        if (stopped(cancel) || pool.stopped()) return cancelled();
        sum += coefficients[i] * corrected_pattern(between_residues(trace, c.head_at(i)));
    }
    const float bias = head.bias ? head.bias[0] : 0;
    return Matrix(1 / (1 + (-(sum.array() + bias)).exp()));
}

}  // namespace headlight
