// Splits the residual stream of a token into parts.
#include "analysis/attribution/stream_parts.h"

#include <algorithm>
#include <cmath>

#include "analysis/attribution/embedding_parts.h"
#include "base/cast.h"
#include "base/check.h"
#include "model/convolution.h"
#include "model/feed_forward/experts.h"
#include "model/layer_embedding.h"

namespace headlight {

namespace {

using PartRow = Eigen::RowVectorXf;
using PartKind = StreamPart::Kind;

bool gives_z(const AttentionRule& rule, int head, int position) {
    return rule.change(head) && rule.change(head)->given_z.gives(position);
}

const StackWeights& stack_weights(const Trace& trace, int stack) {
    trace.weights(0);  // fails if the trace holds none
    return trace.model->weights.stacks[stack];
}

class Splitter {
public:
    Splitter(const Trace& trace, int stack, int position, ThreadPool& pool)
        : trace_(trace),
          c_(trace.config()),
          w_(stack_weights(trace, stack)),
          stack_(stack),
          position_(position),
          pool_(pool) {
        Index most = kFixed + 3;  // parts that there are at most
        for (const LayerSpec& l : c_.stacks[stack].layers)
            most += 2 * c_.max_heads() + 5 + (l.mlp.experts ? l.mlp.experts->used : 0);
        HEADLIGHT_CHECK(missing_parts(c_).empty());
        rows_.setZero(most, c_.d_model);
        parts_ = {{PartKind::biases}, {PartKind::given}};
        embed();
    }

    /// Adds everything that an attention block of this stack reads.
    void climb_to(const AttentionBlock& block, int first_of_layer) {
        for (int l = 0; l < block.layer; ++l) pass_layer(l);
        enter_layer(block.layer);
        if (block.kind == AttentionKind::cross) pass_attention(first_of_layer, layer(block.layer).self.norm);
    }
    void climb() {
        for (int l = 0; l < c_.stacks[stack_].depth(); ++l) pass_layer(l);
    }
    void climb_to_end() {
        climb();
        now_ = trace_.stack(stack_).resid_final.row(position_);
        if (w_.final_norm) through(w_.final_norm);
    }
    void through(const Norm& norm) {
        if (!norm) return;
        Matrix used = rows_.topRows(isize(parts_));
        apply_fixed_norm(c_, norm, now_, used);
        rows_.topRows(isize(parts_)) = used;
        now_ = normalized(norm, now_);
    }
    /// Returns the parts without those that are empty.
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
    /// Returns the parts with all biases in the first row.
    StreamParts joined() const {
        const StreamParts all = finished();
        StreamParts out;
        std::vector<Index> kept;
        PartRow biases = PartRow::Zero(c_.d_model);
        for (Index i = 0; i < isize(all.parts); ++i) {
            const bool is_bias = all.parts[i].kind == PartKind::biases;
            if (is_bias) biases += all.rows.row(i);
            if (is_bias && i > 0) continue;
            kept.push_back(i);
            out.parts.push_back(all.parts[i]);
        }
        out.rows = all.rows(kept, Eigen::all);
        out.rows.row(0) = biases;
        return out;
    }

private:
    static constexpr Index kBiases = 0, kGiven = 1, kFixed = 2;

    const LayerWeights& layer(int l) const { return w_.layers[l]; }
    const LayerActivations& activations(int l) const { return *trace_.stack(stack_).layers[l]; }
    bool after(int l) const { return c_.stacks[stack_].layers[l].norms_sum(); }
    PartRow normalized(const Norm& norm, const PartRow& x) const {
        return apply_norm(c_, norm, x, pool_).row(0);
    }
    void add(StreamPart part, const PartRow& row) {
        rows_.row(isize(parts_)) = row;
        parts_.push_back(part);
    }

    void embed() {
        const StreamParts parts = embedding_parts(trace_, stack_, position_, pool_);
        now_ = parts.rows.colwise().sum();
        rows_.row(kBiases) += parts.rows.row(0);
        for (int i = 1; i < isize(parts.parts); ++i) add(parts.parts[i], parts.rows.row(i));
    }

    /// Enters a layer, where the user may have replaced the stream.
    void enter_layer(int l) {
        const GivenRows& given = activations(l).changed.resid_pre;
        now_ = activations(l).resid_pre.row(position_);
        if (given.replaces(position_)) {
            rows_.topRows(isize(parts_)).setZero();
            rows_.row(kGiven) = now_;
        } else if (given.gives(position_)) {
            rows_.row(kGiven) += now_ - activations(l).entering_row(position_);
        }
    }
    void pass_attention(int block, const Norm& norm) {
        const AttentionRule& rule = trace_.rule(block);
        const PartRow out = trace_.attn_out(block, position_, 1, pool_).row(0);
        if (rule.given_out.gives(position_)) {
            add({PartKind::given_attention, block}, out);
        } else if (!rule.skipped) {
            const Matrix heads = trace_.head_additions(block, position_, pool_);
            for (int h = 0; h < heads.rows(); ++h)
                add({gives_z(rule, h, position_) ? PartKind::given_head : PartKind::head, block, h},
                    heads.row(h));
            if (trace_.adds_bias(block)) add({PartKind::biases, block}, out - heads.colwise().sum());
        }
        now_ += out;
        if (trace_.config().layer_of(block).norms_sum()) through(norm);
    }
    PartRow left_by(int l) const {
        const bool last = l + 1 == c_.stacks[stack_].depth();
        return last ? trace_.stack(stack_).resid_final.row(position_)
                    : activations(l + 1).entering_row(position_);
    }
    /// Returns the MLP's output: the difference of the stream, or recomputed if a post-norm follows.
    PartRow mlp_row(int l) const {
        const LayerSpec& spec = c_.stacks[stack_].layers[l];
        if (!after(l) && !spec.embedding && !spec.output_scale) return left_by(l) - now_;
        Matrix out = mlp_output(*trace_.model, stack_, l, activations(l).changed, mlp_reads(l), pool_);
        activations(l).changed.mlp_out.put(position_, out);
        return out.row(0);
    }
    /// Adds what an MLP puts out: of experts one part each, of the shared one the rest.
    void add_mlp(int l, int block, PartRow out) {
        const MlpSpec& spec = c_.stacks[stack_].layers[l].mlp;
        if (!spec.experts) return add({PartKind::mlp, block}, out);
        const LayerWeights& w = layer(l);
        const PartRow reads = mlp_reads(l);
        const StackRun run{*trace_.model, c_.stacks[stack_], w_, pool_};
        const std::vector<int>& off = activations(l).changed.experts_off;
        const auto chosen = route(run, *spec.experts, w, reads).front();
        Matrix rows = Matrix::Zero(isize(chosen) + 1, c_.d_model);  // the first takes a post-norm's bias
        for (int i = 0; i < isize(chosen); ++i)
            if (!contains(off, chosen[i].expert))
                rows.row(i + 1) = expert_part(run, spec, w, chosen[i], reads);
        if (w.apart.experts_norm)
            apply_fixed_norm(c_, w.apart.experts_norm, chosen_output(run, spec, w, reads, off).row(0), rows);
        if (w.mlp_post_norm)
            apply_fixed_norm(c_, w.mlp_post_norm, experts_output(run, spec, w, reads, off).row(0), rows);
        for (int i = 0; i < isize(chosen); ++i) {
            if (contains(off, chosen[i].expert)) continue;
            add({PartKind::expert, block, chosen[i].expert}, rows.row(i + 1));
            out -= rows.row(i + 1);
        }
        if (w.mlp_in || w.mlp_post_norm.bias) add({PartKind::mlp, block}, out);  // else rounding is left
    }
    /// Returns what the MLP of a layer reads, before `now_` passes it.
    PartRow mlp_reads(int l) const {
        const PartRow reads =
            c_.stacks[stack_].layers[l].parallel ? PartRow(activations(l).resid_pre.row(position_)) : now_;
        return !after(l) && layer(l).mlp_norm ? normalized(layer(l).mlp_norm, reads) : reads;
    }
    void pass_layer(int l) {
        pool_.stop_point();
        enter_layer(l);
        const auto blocks = c_.blocks_of(stack_, l);
        pass_attention(blocks.front(), layer(l).self.norm);
        if (blocks.size() > 1) pass_attention(blocks.back(), layer(l).second.norm);
        const LayerChanges& changed = activations(l).changed;
        const PartRow out = mlp_row(l);
        if (changed.mlp_out.gives(position_))
            add({PartKind::given_mlp, blocks.front()}, out);
        else if (!changed.no_mlp)
            add_mlp(l, blocks.front(), out);
        now_ += out;
        if (after(l)) through(layer(l).mlp_norm);
        if (c_.stacks[stack_].layers[l].convolution) pass_convolution(l);
        if (c_.stacks[stack_].layers[l].embedding) pass_layer_embedding(l);
        if (const float* scale = layer(l).output_scale) {
            rows_ *= *scale;
            now_ *= *scale;
        }
    }
    /// Adds what the layer makes of its own vector of the token.
    void pass_layer_embedding(int l) {
        const StackRun run{*trace_.model, c_.stacks[stack_], w_, pool_};
        const PartRow own = layer_embedding(run, l, trace_.stack(stack_)).row(position_);
        const PartRow out = layer_embedding_output(run, l, now_, own).row(0);
        add({PartKind::layer_embedding, c_.blocks_of(stack_, l).front()}, out);
        now_ += out;
    }
    /// Adds the convolution of the layer's input, and norms the sum.
    void pass_convolution(int l) {
        const int half = c_.stacks[stack_].layers[l].convolution->kernel / 2;
        const Rows& input = activations(l).resid_pre;
        const Index first = std::max(0, position_ - half),
                    end = std::min<Index>(input.rows(), position_ + half + 1);
        const StackRun run{*trace_.model, c_.stacks[stack_], w_, pool_};
        const PartRow out =
            convolution_output(run, l, input.middleRows(first, end - first)).row(position_ - first);
        add({PartKind::convolution, c_.blocks_of(stack_, l).front()}, out);
        now_ += out;
        through(layer(l).convolution_norm);
    }

    const Trace& trace_;
    const ModelConfig& c_;
    const StackWeights& w_;
    const int stack_, position_;
    ThreadPool& pool_;
    std::vector<StreamPart> parts_;
    Matrix rows_;  // [capacity, d_model]; the first parts_.size() are in use
    PartRow now_;  // their sum
};

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
            return head_name(c, part.block, part.head);
        case PartKind::mlp:
            return "MLP " + block_name(c, part.block);
        case PartKind::expert:
            return "expert " + block_name(c, part.block) + "." + std::to_string(part.head);
        case PartKind::convolution:
            return "convolution " + block_name(c, part.block);
        case PartKind::layer_embedding:
            return "layer embedding " + block_name(c, part.block);
        case PartKind::distance:
            return "distance";
        case PartKind::biases:
            return "biases";
        case PartKind::given:
            return "replaced input";
        case PartKind::given_head:
            return head_name(c, part.block, part.head) + " (replaced)";
        case PartKind::given_attention:
            return "attention " + block_name(c, part.block) + " (replaced)";
        case PartKind::given_mlp:
            return "MLP " + block_name(c, part.block) + " (replaced)";
        case PartKind::others:
            break;
    }
    return std::to_string(part.count) + (part.count == 1 ? " other" : " others");
}

std::string missing_parts(const ModelConfig& c) {
    return c.has_streams()
               ? "Several streams are mixed before each layer, so that what a layer reads is no sum of "
                 "what heads and MLPs added"
               : "";
}

void apply_fixed_norm(const ModelConfig& c, const Norm& norm, const PartRow& whole, Matrix& rows) {
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
    if (keys) block = c.key_block(block);
    const AttentionBlock at = c.block(block);
    const bool source = keys && at.kind == AttentionKind::cross;
    Splitter split(trace, source ? at.key_stack : at.stack, token, pool);
    if (source) {
        split.climb_to_end();
        return split.joined();
    }
    split.climb_to(at, c.blocks_of(at.stack, at.layer).front());
    if (const Norm& norm = trace.weights(block).norm; norm && !c.layer_of(block).norms_sum())
        split.through(norm);
    return split.joined();
}

StreamParts parts_left(const Trace& trace, int stack, int token, ThreadPool& pool) {
    Splitter split(trace, stack, token, pool);
    split.climb();
    return split.finished();
}

}  // namespace headlight
