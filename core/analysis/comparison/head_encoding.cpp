#include "analysis/comparison/head_encoding.h"

#include "base/check.h"
#include "model/head_weights.h"

namespace headlight {

namespace {

/// Owns a model and what is added to its matrices.
struct WithHead {
    Model model;
    std::deque<Matrix> factors;
    std::deque<LowRank> added;

    explicit WithHead(const Model& coded) : model(coded) {}
    /// Adds b a to a matrix; a [rank, in], b [outputs as stored, rank].
    void add(Linear& w, Matrix a, Matrix b);
};

/// Numbers an output of a matrix among the stored ones, of which it may have some.
int64_t stored_number(const Linear& w, int64_t i) {
    const bool of_outputs = w.layout == WeightLayout::out_in;
    const std::byte* const at = of_outputs ? w.row(i) : w.weight + w.dtype->size(i);
    return (at - w.weight) / (of_outputs ? w.stride : w.dtype->size(1));
}

void WithHead::add(Linear& w, Matrix a, Matrix b) {
    const Matrix& reads = factors.emplace_back(std::move(a));
    const Matrix& writes = factors.emplace_back(std::move(b));
    added.push_back({.base = w.weight,
                     .stride = w.layout == WeightLayout::out_in ? w.stride : w.dtype->size(1),
                     .in = w.in,
                     .out = writes.rows(),
                     .rank = reads.rows(),
                     .a = reads.data(),
                     .b = writes.data()});
    w.adapter = &added.back();
}

/// The component of a head in the order of `to` for one in the order of `from`: files hold rotated pairs side
/// by side or half a head apart.
int same_component(const Rope& from, const Rope& to, int component) {
    const int i = component - from.first, half = from.dims / 2;
    if (from.interleaved == to.interleaved || i < 0 || i >= from.dims) return component;
    return from.first + (from.interleaved ? i / 2 + i % 2 * half : i % half * 2 + i / half);
}

/// [count, in]: outputs [first, first + count) of a matrix, without its scale.
Matrix output_rows(const Linear& w, int64_t first, int64_t count) {
    const Linear part = w.columns(first, count);
    return input_rows(part, 0, part.in).transpose() / w.scale;
}

/// Restores outputs of a head; the rows of `exact` are in the order of its own rotation.
void restore_outputs(WithHead& to, Linear& coded, const Linear& exact, int64_t first, int64_t count,
                     const Rope* from = nullptr, const Rope* own = nullptr) {
    const Matrix now = output_rows(coded, first, count), was = output_rows(exact, first, count);
    Matrix a(count, coded.in), b = Matrix::Zero(stored_number(coded, coded.out - 1) + 1, count);
    for (int64_t i = 0; i < count; ++i) {
        const int at = from ? same_component(*from, *own, int(i)) : int(i);
        a.row(i) = was.row(at) - now.row(i);
        b(stored_number(coded, first + i), i) = 1;
    }
    to.add(coded, std::move(a), std::move(b));
}

/// Restores the inputs of W_O that a head writes.
void restore_inputs(WithHead& to, Linear& coded, const Linear& exact, int64_t first, int64_t count) {
    const Matrix change =
        (input_rows(exact, first, count) / exact.scale - input_rows(coded, first, count) / coded.scale)
            .transpose();
    Matrix a = Matrix::Zero(count, coded.in),
           b = Matrix::Zero(stored_number(coded, coded.out - 1) + 1, count);
    for (int64_t i = 0; i < count; ++i) a(i, first + i) = 1;
    for (int64_t o = 0; o < coded.out; ++o) b.row(stored_number(coded, o)) = change.row(o);
    to.add(coded, std::move(a), std::move(b));
}

bool has_adapter(const AttentionWeights& w) {
    return w.q.adapter || w.k.adapter || w.v.adapter || w.o.adapter;
}

}  // namespace

std::shared_ptr<const Model> with_exact_head(const Model& coded, const Model& exact, AttentionHead head) {
    const AttentionSpec &spec = coded.config.attention(head.block), &own = exact.config.attention(head.block);
    const AttentionWeights& from = weights_of(exact, head.block);
    if (spec.latent || spec.recurrence || has_adapter(from) || has_adapter(weights_of(coded, head.block)))
        return nullptr;
    const auto out = std::make_shared<WithHead>(coded);
    const AttentionBlock at = coded.config.block(head.block);
    LayerWeights& layer = out->model.weights.stacks[at.stack].layers[at.layer];
    AttentionWeights& to = at.is_second() ? layer.second : layer.self;
    const int64_t width = spec.d_head, values = spec.value_width(),
                  shared = head.head / (spec.heads / spec.kv_heads);
    restore_outputs(*out, to.q, from.q, head.head * width, width, &spec.rope, &own.rope);
    if (spec.makes_keys()) restore_outputs(*out, to.k, from.k, shared * width, width, &spec.rope, &own.rope);
    if (spec.projects_values()) restore_outputs(*out, to.v, from.v, shared * values, values);
    restore_inputs(*out, to.o, from.o, head.head * values, values);
    return {out, &out->model};
}

}  // namespace headlight
