// Measures composition between heads.
#include "analysis/circuits/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "analysis/circuits/circuit_factors.h"
#include "base/cast.h"
#include "base/check.h"
#include "model/heads.h"

namespace headlight {

namespace {

constexpr float kNoPair = std::numeric_limits<float>::quiet_NaN();

/// Says which inputs of a block an earlier block may write into.
struct Readings {
    bool q = false, k = false, v = false;
    bool any() const { return q || k || v; }
};

/// Blocks write into the stream of their stack; cross-attention follows the self-attention of its layer, and
/// reads keys and values from the encoder.
Readings readings(const ModelConfig& c, int writer, int reader) {
    const AttentionBlock w = c.block(writer), r = c.block(reader);
    const bool cross = r.kind == AttentionKind::cross;
    if (w.stack != r.stack) return {false, cross && w.stack == r.key_stack, cross && w.stack == r.key_stack};
    const bool earlier = w.layer < r.layer || (w.layer == r.layer && cross && w.kind != AttentionKind::cross),
               before_keys = !cross && w.layer < c.block(c.key_block(reader)).layer;
    return {earlier, before_keys, before_keys};
}

/// Holds a head's W_V [d_model, d_value] and W_O [d_value, d_model], and the products that norms need.
struct Writer {
    int index;
    Matrix out, value_gram, output_gram;  // W_O; W_Vᵀ W_V; W_O W_Oᵀ
    double size;                          // ‖W_V W_O‖
};
/// Holds what a head reads with, [d_model, d_head] each, v [d_model, d_value], and their products.
struct Reader {
    int index;
    Matrix q, k, v, q_gram, k_gram, output_gram;
    double qk_size, ov_size;
};

/// ‖A B‖² of two matrices, given AᵀA and B Bᵀ.
double squared_size(const Matrix& left_gram, const Matrix& right_gram) {
    return left_gram.cwiseProduct(right_gram).cast<double>().sum();
}
/// ‖A M B‖² likewise.
double squared_size(const Matrix& left_gram, const Matrix& middle, const Matrix& right_gram) {
    const Matrix left = left_gram * middle, right = middle * right_gram;
    return std::max(0.0, left.cwiseProduct(right).cast<double>().sum());
}

Writer writer_of(const Model& model, AttentionHead head) {
    const HeadMatrices m = head_matrices(model, head);
    const Matrix v = read_through(model, head.block, true, m.v);
    Writer w{
        model.config.head_index(head), written_through(model, head.block, m.o), v.transpose() * v, {}, 0};
    w.output_gram = w.out * w.out.transpose();
    w.size = std::sqrt(squared_size(w.value_gram, w.output_gram));
    return w;
}

Reader reader_of(const Model& model, AttentionHead head) {
    const HeadMatrices m = head_matrices(model, head);
    Reader r{model.config.head_index(head),
             read_through(model, head.block, false, m.q),
             read_through(model, head.block, true, m.k),
             read_through(model, head.block, true, m.v),
             {},
             {},
             {},
             0,
             0};
    const Matrix o = written_through(model, head.block, m.o);
    r.q_gram = r.q.transpose() * r.q;
    r.k_gram = r.k.transpose() * r.k;
    r.output_gram = o * o.transpose();
    r.qk_size = std::sqrt(squared_size(r.q_gram, r.k_gram));
    r.ov_size = std::sqrt(squared_size(r.v.transpose() * r.v, r.output_gram));
    return r;
}

float normalized_size(double squared, double left, double right) {
    return left > 0 && right > 0 ? float(std::sqrt(squared) / (left * right)) : kNoPair;
}

void compose(const Writer& w, const Reader& r, Readings into, Composition& out) {
    const auto put = [&](CompositionKind kind, bool there, const Matrix& reads, const Matrix& gram,
                         double size) {
        if (!there) return;
        const double squared = squared_size(w.value_gram, w.out * reads, gram);
        out.of[static_cast<int>(kind)](r.index, w.index) = normalized_size(squared, w.size, size);
    };
    put(CompositionKind::q, into.q, r.q, r.k_gram, r.qk_size);
    put(CompositionKind::k, into.k, r.k, r.q_gram, r.qk_size);
    put(CompositionKind::v, into.v, r.v, r.output_gram, r.ov_size);
}

std::vector<int> heads_of(const ModelConfig& c, int block, const std::optional<AttentionHead>& with) {
    if (with && with->block == block) return {with->head};
    std::vector<int> out(c.heads(block));
    for (int h = 0; h < isize(out); ++h) out[h] = h;
    return out;
}

/// Lists pairs of blocks of which one writes into the other, if requested.
std::vector<std::pair<int, int>> block_pairs(const ModelConfig& c, const std::optional<AttentionHead>& with) {
    std::vector<std::pair<int, int>> out;
    for (int writer = 0; writer < c.blocks(); ++writer)
        for (int reader = 0; reader < c.blocks(); ++reader)
            if (readings(c, writer, reader).any() && !c.attention(writer).recurrence &&
                !c.attention(reader).recurrence &&  // whose q, k and v are no products of the stream
                (!with || with->block == writer || with->block == reader))
                out.emplace_back(writer, reader);
    return out;
}

bool is_stronger(const ComposedPair& a, const ComposedPair& b) {
    return a.value != b.value ? a.value > b.value
                              : std::tie(a.kind, a.reader, a.writer) < std::tie(b.kind, b.reader, b.writer);
}

std::string heads_text(int heads) { return std::to_string(heads) + " heads"; }

}  // namespace

int composition_steps(const ModelConfig& c, std::optional<AttentionHead> with) {
    return isize(block_pairs(c, with));
}

double composition_cost(const ModelConfig& c) {
    double out = 0;
    for (const auto& [writer, reader] : block_pairs(c, std::nullopt)) {
        const Readings into = readings(c, writer, reader);
        const double wide = double(c.heads(writer)) * c.d_value(writer) * c.heads(reader) * c.d_head(reader);
        out += 2 * wide * (c.d_model + 2.0 * c.d_head(reader)) * (into.q + into.k + into.v);
    }
    return out;
}

Result<Composition> composition(const Model& model, std::optional<AttentionHead> with, ThreadPool& pool,
                                const CancelFlag* cancel, const CompositionStep& step) {
    return guarded([&]() -> Result<Composition> {
        const CancelScope scope(pool, cancel);
        const ModelConfig& c = model.config;
        Composition out;
        out.random = float(1 / std::sqrt(double(c.d_model)));
        for (Matrix& m : out.of) m.setConstant(c.head_count(), c.head_count(), kNoPair);
        std::vector<Writer> writers;
        int written = -1;  // block of the heads in `writers`
        for (const auto& [from, to] : block_pairs(c, with)) {
            const int writer = from, reader = to;
            if (writer != written) {
                const std::vector<int> heads = heads_of(c, writer, with);
                writers.assign(heads.size(), {});
                pool.run(isize(heads), [&](int i) { writers[i] = writer_of(model, {writer, heads[i]}); });
                written = writer;
            }
            const std::vector<int> heads = heads_of(c, reader, with);
            pool.run(isize(heads), [&](int i) {
                const Reader r = reader_of(model, {reader, heads[i]});
                for (const Writer& w : writers)
                    if (!pool.stopped()) compose(w, r, readings(c, writer, reader), out);
            });
            if (step) step(out);
        }
        return out;
    });
}

bool composes_within(const ModelConfig& c, Patience patience) {
    constexpr double kSomeSeconds = 4e11, kMinutes = 8e12;  // products of two cores
    return composition_cost(c) <= (patience == Patience::some_seconds ? kSomeSeconds : kMinutes);
}

Result<Composition> model_composition(const Model& model, ThreadPool& pool, const CancelFlag* cancel,
                                      Patience patience, const CompositionStep& step) {
    const ModelConfig& c = model.config;
    if (composes_within(c, patience)) {
        TRY(Composition all, composition(model, std::nullopt, pool, cancel, step));
        rank_pairs(all);
        return all;
    }
    Composition out;
    out.refusal = "This model's " + heads_text(c.head_count()) +
                  " make too many pairs to compose while you wait: 'headlight circuits --composition' writes "
                  "them all, 'headlight circuits --head' those of one head.";
    return out;
}

Result<Composition> answer_composition(const Trace& trace, const CompositionRequest& request,
                                       ThreadPool& pool, const CancelFlag* cancel) {
    trace.weights(0);  // fails if the trace holds none
    return model_composition(*trace.model, pool, cancel, request.patience);
}

std::vector<ComposedPair> strongest_compositions(const Composition& of, int count,
                                                 std::optional<CompositionKind> kind) {
    std::vector<ComposedPair> all;
    for (int k = 0; k < kCompositionKinds; ++k) {
        if (kind && static_cast<int>(*kind) != k) continue;
        for (int reader = 0; reader < narrow<int>(of.of[k].rows()); ++reader)
            for (int writer = 0; writer < narrow<int>(of.of[k].cols()); ++writer)
                if (const float v = of.of[k](reader, writer); !std::isnan(v))
                    all.push_back({static_cast<CompositionKind>(k), writer, reader, v});
    }
    const auto kept = all.begin() + std::min(count, isize(all));
    std::partial_sort(all.begin(), kept, all.end(), is_stronger);
    all.erase(kept, all.end());
    return all;
}

void rank_pairs(Composition& all) {
    for (int k = 0; k < kCompositionKinds; ++k)
        all.ranked[k] = strongest_compositions(all, kRankedCompositions, static_cast<CompositionKind>(k));
}

std::vector<ComposedPair> strongest_ranked(const Composition& of, int count,
                                           const std::array<bool, kCompositionKinds>& kinds) {
    std::vector<ComposedPair> all;
    for (int k = 0; k < kCompositionKinds; ++k)
        if (kinds[k]) all.insert(all.end(), of.ranked[k].begin(), of.ranked[k].end());
    std::sort(all.begin(), all.end(), is_stronger);
    all.resize(std::min(all.size(), static_cast<size_t>(std::max(0, count))));
    return all;
}

std::vector<NumberTable> composition_numbers(const Composition& of, const ModelConfig& c) {
    std::vector<std::string> heads;
    for (int i = 0; i < c.head_count(); ++i) heads.push_back(head_name(c, c.head_at(i)));
    std::vector<NumberTable> out;
    for (int k = 0; k < kCompositionKinds; ++k)
        out.push_back({.name = std::string(kCompositionNames[k]) + " composition",
                       .rows_are = "reads",
                       .columns_are = "writes",
                       .rows = heads,
                       .columns = heads,
                       .values = of.of[k]});
    return out;
}

}  // namespace headlight
