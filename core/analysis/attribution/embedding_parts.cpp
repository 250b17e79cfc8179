// Splits a token's embedding.
#include "analysis/attribution/embedding_parts.h"

#include "base/cast.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

using PartRow = Eigen::RowVectorXf;
using PartKind = StreamPart::Kind;

struct Token {
    const Trace& trace;
    int stack, position;
    ThreadPool& pool;
    const ModelConfig& c = trace.config();
    const StackWeights& w = trace.model->weights.stacks[stack];
    const Sequence& input = trace.request.inputs[stack];
    const LayerActivations& first = *trace.stack(stack).layers[0];
    const bool norms_tokens = c.stacks[stack].norms_tokens;
};

/// Returns the token's position vector; empty: none.
PartRow position_vector(const Token& t, Index width) {
    const PositionIds& positions = t.first.self.rule->positions;
    const int at = positions.of(t.position);
    if (positions.off) return {};
    const bool waves = t.c.positions == PositionScheme::sinusoidal;
    if (!waves && !t.w.position_embedding) return {};
    const int registers = t.input.picture ? t.c.vision.registers : 0;
    if (at > 0 && at <= registers) return {};
    int64_t row = at ? at - registers : 0, next = t.c.position_offset;
    for (int i = 0; !t.input.picture && i <= at; ++i)
        row = t.input.ids[i] == t.c.position_pad ? t.c.position_pad : next++;
    if (waves) return position_waves(t.c, width, row, 1).row(0);
    PartRow out(t.w.position_embedding.in);
    t.w.position_embedding.read(row, 0, out.size(), out.data());
    return out;
}

/// Projects rows from embedding to stream width; the bias goes to the first row.
Matrix projected(const Token& t, const Matrix& rows) {
    Linear matrix = t.w.embed_project;
    matrix.bias = nullptr;
    Matrix out(rows.rows(), matrix.out);
    apply_linear(t.pool, rows, matrix, out);
    if (const float* bias = t.w.embed_project.bias) out.row(0) += Eigen::Map<const PartRow>(bias, matrix.out);
    return out;
}

StreamParts of_patch(const Token& t) {
    const PartRow whole = t.first.entering_row(t.position), place = position_vector(t, whole.size());
    StreamParts out{{{PartKind::biases}, {PartKind::token}},
                    Matrix::Zero(place.size() ? 3 : 2, whole.size())};
    out.rows.row(1) = whole;
    if (!place.size()) return out;
    out.parts.push_back({PartKind::position});
    out.rows.row(1) -= place;
    out.rows.row(2) = place;
    return out;
}

/// Lists what is summed, before the norm of the embeddings unless that norms the tokens alone.
StreamParts summed(const Token& t) {
    Matrix begin = Matrix::Zero(2, t.w.token_embedding.in);
    t.w.token_embedding.read(t.input.ids[t.position], 0, begin.cols(), begin.row(1).data());
    begin.row(1) *= embedding_scales(t.c, t.input)[t.position];
    if (t.w.embed_project && t.c.d_model_positions) begin = projected(t, begin);
    if (t.norms_tokens) apply_fixed_norm(t.c, t.w.embed_norm, begin.colwise().sum(), begin);
    StreamParts out{{{PartKind::biases}, {PartKind::token}}, Matrix(4, begin.cols())};
    out.rows.topRows(2) = begin;
    const auto append = [&](PartKind kind, const PartRow& row) {
        out.rows.row(isize(out.parts)) = row;
        out.parts.push_back({kind});
    };
    if (const PartRow place = position_vector(t, begin.cols()); place.size())
        append(PartKind::position, place);
    if (t.w.type_embedding) {
        PartRow type(t.w.type_embedding.in);
        t.w.type_embedding.read(t.input.types.empty() ? 0 : t.input.types[t.position], 0, type.size(),
                                type.data());
        append(PartKind::segment, type);
    }
    out.rows.conservativeResize(isize(out.parts), Eigen::NoChange);
    return out;
}

}  // namespace

StreamParts embedding_parts(const Trace& trace, int stack, int position, ThreadPool& pool) {
    const Token t{trace, stack, position, pool};
    if (t.input.picture) return of_patch(t);
    StreamParts out = summed(t);
    const bool project_before = t.w.embed_project && t.c.norm_projected;
    if (project_before) out.rows = projected(t, out.rows);
    if (t.w.embed_norm && !t.norms_tokens)
        apply_fixed_norm(t.c, t.w.embed_norm, out.rows.colwise().sum(), out.rows);
    if (t.w.embed_project && !t.c.d_model_positions && !project_before) out.rows = projected(t, out.rows);
    return out;
}

}  // namespace headlight
