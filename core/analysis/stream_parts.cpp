#include "analysis/stream_parts.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

using PartRow = Eigen::RowVectorXf;
using PartKind = StreamPart::Kind;

bool gives(const GivenRows& given, int position) {
    return std::any_of(given.parts.begin(), given.parts.end(),
                       [&](const GivenRows::Part& part) { return part.has(position); });
}

const StackWeights& stack_weights(const Trace& trace, int stack) {
    trace.weights(0);  // said where a trace holds none
    return trace.model->weights.stacks[stack];
}

/// Follows one token up a stack.
class Splitter {
public:
    Splitter(const Trace& trace, int stack, int position, ThreadPool& pool)
        : trace_(trace),
          c_(trace.config()),
          w_(stack_weights(trace, stack)),
          stack_(stack),
          position_(position),
          pool_(pool) {
        const StackConfig& s = c_.stacks[stack];
        rows_.setZero(kFixed + 3 + Index{s.layers} * (2 * s.heads + 1), c_.d_model);
        parts_ = {{PartKind::biases}, {PartKind::given}};
        embed();
    }

    /// Everything before an attention block of this stack.
    void climb_to(const AttentionBlock& block, int first_of_layer) {
        for (int l = 0; l < block.layer; ++l) pass_layer(l);
        enter_layer(block.layer);
        if (block.kind == AttentionKind::cross) pass_attention(first_of_layer, layer(block.layer).self.norm);
    }
    void climb_to_end() {
        for (int l = 0; l < c_.stacks[stack_].layers; ++l) pass_layer(l);
        now_ = trace_.stack(stack_).resid_final.row(position_);
        if (w_.final_norm) through(w_.final_norm);
    }
    void through(const Norm& norm) {
        if (!norm) return;
        Matrix used = rows_.topRows(isize(parts_));
        through_norm(c_, norm, now_, used);
        rows_.topRows(isize(parts_)) = used;
        now_ = normalized(norm, now_);
    }
    /// Without what nothing was put into.
    StreamParts finished() const {
        StreamParts out;
        std::vector<Index> kept;
        for (Index i = 0; i < isize(parts_); ++i)
            if (i == 0 || parts_[i].kind != PartKind::given || !rows_.row(i).isZero(0)) {
                kept.push_back(i);
                out.parts.push_back(parts_[i]);
            }
        out.rows = rows_(kept, Eigen::all);
        return out;
    }

private:
    static constexpr Index kBiases = 0, kGiven = 1, kFixed = 2;

    const LayerWeights& layer(int l) const { return w_.layers[l]; }
    const LayerActivations& activations(int l) const { return *trace_.stack(stack_).layers[l]; }
    bool after() const { return c_.norm_place == NormPlace::after; }
    PartRow normalized(const Norm& norm, const PartRow& x) const {
        return apply_norm(c_, norm, x, pool_).row(0);
    }
    void add(StreamPart part, const PartRow& row) {
        rows_.row(isize(parts_)) = row;
        parts_.push_back(part);
    }

    PartRow position_vector(Index width) const;
    Matrix embedding_rows(std::vector<StreamPart>& parts) const;
    void embed();

    /// The stream that enters a layer, where a person may have put another one.
    void enter_layer(int l) {
        const GivenRows& given = activations(l).changed.resid_pre;
        const PartRow before = now_;
        now_ = activations(l).resid_pre.row(position_);
        bool replaced = false;
        for (const GivenRows::Part& part : given.parts)
            replaced = replaced || (part.has(position_) && !part.added);
        if (replaced) {
            rows_.topRows(isize(parts_)).setZero();
            rows_.row(kGiven) = now_;
        } else if (gives(given, position_)) {
            rows_.row(kGiven) += now_ - before;
        }
    }
    void pass_attention(int block, const Norm& norm) {
        const AttentionRule& rule = trace_.rule(block);
        const PartRow out = trace_.attn_out(block, position_, 1, pool_).row(0);
        if (gives(rule.given_out, position_)) {
            rows_.row(kGiven) += out;
        } else if (!rule.skipped) {
            const Matrix heads = trace_.head_additions(block, position_, pool_);
            for (int h = 0; h < heads.rows(); ++h) add({PartKind::head, block, h}, heads.row(h));
            if (trace_.adds_bias(block)) rows_.row(kBiases) += out - heads.colwise().sum();
        }
        now_ += out;
        if (after()) through(norm);
    }
    /// What the MLP adds: the step of the stream, or, where a norm stands behind it, computed again.
    PartRow mlp_row(int l) const {
        if (!after()) return trace_.resid_post(stack_, l).row(position_) - now_;
        Matrix out = activations(l).changed.no_mlp ? Matrix(Matrix::Zero(1, c_.d_model))
                                                   : mlp_output(*trace_.model, stack_, l, now_, pool_);
        activations(l).changed.mlp_out.put(position_, out);
        return out.row(0);
    }
    void pass_layer(int l) {
        pool_.stop_point();
        enter_layer(l);
        const auto blocks = c_.blocks_of(stack_, l);
        pass_attention(blocks.front(), layer(l).self.norm);
        if (blocks.size() > 1) pass_attention(blocks.back(), layer(l).cross.norm);
        const LayerChanges& changed = activations(l).changed;
        const PartRow out = mlp_row(l);
        if (gives(changed.mlp_out, position_))
            rows_.row(kGiven) += out;
        else if (!changed.no_mlp)
            add({PartKind::mlp, blocks.front()}, out);
        now_ += out;
        if (after()) through(layer(l).mlp_norm);
    }

    const Trace& trace_;
    const ModelConfig& c_;
    const StackWeights& w_;
    const int stack_, position_;
    ThreadPool& pool_;
    std::vector<StreamPart> parts_;
    Matrix rows_;  // [room, d_model]; those of parts_ are in use
    PartRow now_;  // what they sum to
};

/// What is added for where the token stands; empty: nothing.
PartRow Splitter::position_vector(Index width) const {
    const PositionIds& positions = activations(0).self.rule->positions;
    const int at = positions.of(position_);
    if (positions.off) return {};
    if (c_.positions == PositionScheme::sinusoidal) return sinusoids(width, at, 1).row(0);
    if (!w_.position_embedding) return {};
    const Sequence& input = trace_.request.inputs[stack_];
    int64_t row = at, next = c_.position_offset;
    for (int i = 0; !input.picture && i <= at; ++i)
        row = input.ids[i] == c_.position_pad ? c_.position_pad : next++;
    PartRow out(w_.position_embedding.in);
    w_.position_embedding.read(row, 0, out.size(), out.data());
    return out;
}

/// [biases and parts, width]: what is summed before the norm of the embeddings, the biases' row first.
Matrix Splitter::embedding_rows(std::vector<StreamPart>& parts) const {
    const Sequence& input = trace_.request.inputs[stack_];
    PartRow token = PartRow::Zero(w_.token_embedding.in), biases = PartRow::Zero(token.size());
    w_.token_embedding.read(input.ids[position_], 0, token.size(), token.data());
    token *= c_.embed_scale;
    if (w_.embed_project && c_.d_model_positions) {
        Matrix y(1, w_.embed_project.out);
        Linear matrix = w_.embed_project;
        matrix.bias = nullptr;
        apply_linear(pool_, token, matrix, y);
        token = y.row(0);
        biases = PartRow::Zero(token.size());
        if (const float* bias = w_.embed_project.bias)
            biases = Eigen::Map<const PartRow>(bias, w_.embed_project.out);
    }
    const PartRow place = position_vector(token.size());
    Matrix rows(4, token.size());
    rows.row(0) = biases;
    rows.row(1) = token;
    parts.push_back({PartKind::token});
    const auto append = [&](PartKind kind, const PartRow& row) {
        parts.push_back({kind});
        rows.row(isize(parts)) = row;
    };
    if (place.size()) append(PartKind::position, place);
    if (w_.type_embedding) {
        PartRow type(w_.type_embedding.in);
        w_.type_embedding.read(input.types.empty() ? 0 : input.types[position_], 0, type.size(), type.data());
        append(PartKind::segment, type);
    }
    return rows.topRows(isize(parts) + 1);
}

void Splitter::embed() {
    if (trace_.request.inputs[stack_].picture) {
        now_ = activations(0).resid_pre.row(position_);
        const PartRow place = position_vector(now_.size());
        add({PartKind::token}, place.size() ? PartRow(now_ - place) : now_);
        if (place.size()) add({PartKind::position}, place);
        return;
    }
    std::vector<StreamPart> parts;
    Matrix rows = embedding_rows(parts);
    now_ = rows.colwise().sum();
    if (w_.embed_norm) {
        through_norm(c_, w_.embed_norm, now_, rows);
        now_ = normalized(w_.embed_norm, now_);
    }
    if (w_.embed_project && !c_.d_model_positions) {
        Linear matrix = w_.embed_project;
        matrix.bias = nullptr;
        Matrix wide(rows.rows(), matrix.out);
        apply_linear(pool_, rows, matrix, wide);
        if (const float* bias = w_.embed_project.bias)
            wide.row(0) += Eigen::Map<const PartRow>(bias, matrix.out);
        rows = std::move(wide);
        now_ = rows.colwise().sum();
    }
    rows_.row(kBiases) += rows.row(0);
    for (int i = 0; i < isize(parts); ++i) add(parts[i], rows.row(i + 1));
}

}  // namespace

std::string stream_part_name(const ModelConfig& c, const StreamPart& part) {
    switch (part.kind) {
        case PartKind::token:
            return c.can.read_image ? "patch" : "token";
        case PartKind::position:
            return "position";
        case PartKind::segment:
            return "segment";
        case PartKind::head:
            return head_path(c, part.block, part.head);
        case PartKind::mlp:
            return "MLP " + block_path(c, part.block);
        case PartKind::biases:
            return "biases";
        case PartKind::given:
            return "put in place";
        case PartKind::others:
            break;
    }
    return std::to_string(part.count) + (part.count == 1 ? " other" : " others");
}

void through_norm(const ModelConfig& c, const Norm& norm, const PartRow& whole, Matrix& rows) {
    const bool center = c.norm == NormKind::layer_norm;
    const float mean = center ? whole.mean() : 0.0f,
                deviation = std::sqrt((whole.array() - mean).square().mean() + c.norm_eps);
    if (center) rows.colwise() -= rows.rowwise().mean().eval();
    const Eigen::Map<const PartRow> weight(norm.weight, rows.cols());
    rows = (rows.array().rowwise() * (weight.array() / deviation)).matrix();
    if (norm.bias) rows.row(0) += Eigen::Map<const PartRow>(norm.bias, rows.cols());
}

StreamParts parts_read(const Trace& trace, int block, bool keys, int token, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const AttentionBlock at = c.block(block);
    const bool source = keys && at.kind == AttentionKind::cross;
    Splitter split(trace, source ? at.key_stack() : at.stack, token, pool);
    if (source) {
        split.climb_to_end();
        return split.finished();
    }
    split.climb_to(at, c.blocks_of(at.stack, at.layer).front());
    if (c.norm_place == NormPlace::before) split.through(trace.weights(block).norm);
    return split.finished();
}

}  // namespace headlight
