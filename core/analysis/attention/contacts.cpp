// Predicts contacts of residues from patterns.
#include "analysis/attention/contacts.h"

#include <algorithm>

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
    check_fits(Index{n} * n * (4 + c.max_heads()) * int64_t{sizeof(float)});
    Vector coefficients(head.in);
    head.read(0, 0, head.in, coefficients.data());
    Matrix sum = Matrix::Zero(n - 2, n - 2);
    const CancelScope scope(pool, cancel);
    for (int block = 0; block < c.blocks(); ++block) {
        std::vector<Matrix> parts(size_t(c.heads(block)));
        pool.run(c.heads(block), [&](int h) {
            parts[size_t(h)] = corrected_pattern(between_residues(trace, {block, h}));
        });
        if (stopped(cancel) || pool.stopped()) return cancelled();
        for (int h = 0; h < c.heads(block); ++h)  // in one order, whatever the threads
            sum += coefficients[c.head_index({block, h})] * parts[size_t(h)];
    }
    const float bias = head.bias ? head.bias[0] : 0;
    return Matrix(1 / (1 + (-(sum.array() + bias)).exp()));
}

Result<Matrix> answer_contacts(const Trace& trace, const ContactsRequest&, ThreadPool& pool,
                               const CancelFlag* cancel) {
    return contact_map(trace, pool, cancel);
}

std::vector<Contact> likely_contacts(const Matrix& map, int apart, int count) {
    std::vector<Contact> all;
    for (int i = 0; i < map.rows(); ++i)
        for (int j = i + std::max(1, apart); j < map.cols(); ++j) all.push_back({i, j, map(i, j)});
    const auto kept = all.begin() + std::min(count, isize(all));
    std::partial_sort(all.begin(), kept, all.end(), [](const Contact& a, const Contact& b) {
        if (a.probability != b.probability) return a.probability > b.probability;
        return std::pair(a.first, a.second) < std::pair(b.first, b.second);
    });
    all.erase(kept, all.end());
    return all;
}

}  // namespace headlight
