// Recomputes one attention block vector by vector, around one query and one key.
#include "analysis/attention/block_chain.h"

#include <algorithm>
#include <cmath>

#include "analysis/attention/steps.h"
#include "analysis/circuits/head_matrices.h"
#include "base/check.h"
#include "model/head_weights.h"

namespace headlight {

namespace {

struct ChainMaker {
    const Trace& trace;
    const BlockChainRequest& request;
    ThreadPool& pool;
    const ModelConfig& c = trace.config();
    const AttentionBlock at = c.block(request.block);
    const AttentionWeights& w = trace.weights(request.block);
    const int makes_keys = c.key_block(request.block);
    const Norm& norm_of_keys = trace.weights(makes_keys).norm;
    const HeadWeights of_head{*trace.model, {request.block, request.head}};
    const LayerWeights& layer = trace.model->weights.stacks[at.stack].layers[at.layer];
    const bool after = c.layer_of(request.block).norms_sum(), cross = at.kind == AttentionKind::cross;
    const AttentionSpec& spec = c.attention(request.block);
    const Index d = spec.value_width();
    const bool adds_beside = c.stacks[at.stack].beside() || c.layer_of(request.block).laurel_rank;
    const ZBy z_made_by = z_by(trace.rule(request.block), request.head, request.query);
    const OutBy out_made_by = out_by(trace.rule(request.block), request.query);
    BlockChain out = {};

    const char* norm_name() const { return c.norm == NormKind::layer_norm ? "LayerNorm" : "RMSNorm"; }
    void add(ChainStep step, std::string name, std::string formula, Vector values) {
        out.stages.push_back({step, std::move(name), std::move(formula), std::move(values)});
    }
    Vector normalized(const Norm& norm, const Vector& x) const {
        return apply_norm(c, norm, x.transpose(), pool).row(0).transpose();
    }
    /// Returns the residual stream at a token of the block's own stack, as the block's queries or keys read
    /// it.
    Vector stream(int token, bool keys = false) const {
        if (cross) return trace.resid_before(request.block, pool).row(token).transpose();
        const int layer_read = keys ? c.block(makes_keys).layer : at.layer;
        return trace.stack(at.stack).layers[layer_read]->resid_pre.row(token).transpose();
    }
    /// Adds a token's vector as the block reads it, and its norm if there is one; returns the block's input.
    Vector entering(ChainStep in, ChainStep norm, bool source, int token) {
        const bool keys = in == ChainStep::key_in;
        Vector x = source ? Vector(trace.stack(at.key_stack).normalized.row(token).transpose())
                          : stream(token, keys);
        add(in, source ? "encoder's" : "E", source ? "what the encoder left" : "residual stream", x);
        const Norm& read = keys ? norm_of_keys : w.norm;
        if (after || source || !read) return x;
        x = normalized(read, x);
        add(norm, norm_name(), "norm of E", x);
        return x;
    }
    bool rotates() const {
        return !cross && spec.positions_vectors() && !trace.rule(request.block).positions.off;
    }
    /// Returns y rotated by the position of a token.
    Vector rotated(const Vector& y, int token) const {
        const int n = trace.request.inputs[at.stack].size();
        Matrix out = y.transpose();
        apply_rope(spec.rope, make_rope_table(spec.rope, n, trace.rule(request.block).positions.of(token), 1),
                   1, pool, out);
        return out.row(0).transpose();
    }
    /// Returns the formula of q, k or v.
    std::string made_by(const std::string& formula, HeadPart which) const {
        if (spec.latent) return formula + (which == HeadPart::q && !w.latent.q_down ? "" : ", by its latent");
        const Linear& matrix = which == HeadPart::q ? w.q : which == HeadPart::k ? w.k : w.v;
        return matrix.bias ? formula + " + b" : formula;
    }
    /// Adds q or k of a token from the block's input to the vector of the score, which the trace holds.
    void add_head(ChainStep first, const char* name, const char* formula, HeadPart which, const Vector& x,
                  int token, const Vector& in_score) {
        const auto add_step = [&](int offset, const std::string& called, const std::string& by,
                                  const Vector& values) {
            add(static_cast<ChainStep>(static_cast<int>(first) + offset), called, by, values);
        };
        const auto add_norm = [&](const Vector& values) {
            add_step(1, name + std::string("_normed"), norm_name(), values);
        };
        const auto add_rotation = [&](const Vector& values) {
            add_step(2, std::string("rot_") + name, "for its position", values);
        };
        const bool norm(of_head.norm(which));
        const Vector y = of_head.project_alone(which, x.transpose(), pool).row(0).transpose();
        add_step(0, name, made_by(formula, which), norm || rotates() ? y : in_score);
        if (norm && rotates() && spec.norm_rotated) add_rotation(rotated(y, token));
        if (norm && (spec.norm_rotated || !rotates())) return add_norm(in_score);
        if (norm) add_norm(of_head.project(which, x.transpose(), pool).row(0).transpose());
        if (rotates()) add_rotation(in_score);
    }

    void make_before() {
        const int query = request.query, key = request.key;
        const Vector x = entering(ChainStep::query_in, ChainStep::query_norm, false, query);
        add_head(ChainStep::q, "q", "W_Q x", HeadPart::q, x, query,
                 trace.q(request.block, request.head).row(query).transpose());
        const Vector y = entering(ChainStep::key_in, ChainStep::key_norm, cross, key);
        add_head(ChainStep::k, "k", "W_K x", HeadPart::k, y, key,
                 trace.k(request.block, request.head).row(key).transpose());
        add_value(y, trace.v(request.block, request.head).row(key).transpose());
    }
    /// Adds v of the key's token, and what it is the norm of, if it is one.
    void add_value(const Vector& y, const Vector& v) {
        const std::string formula = made_by(spec.keys_as_values ? "W_K x" : "W_V x", HeadPart::v);
        if (!w.v_norm) return add(ChainStep::v, "v", formula, v);
        add(ChainStep::v_made, "v", formula,
            of_head.project_alone(HeadPart::v, y.transpose(), pool).row(0).transpose());
        add(ChainStep::v, "v_normed", norm_name(), v);
    }
    /// Returns the norm that reads the sum next; null: the sum is read without a norm.
    const Norm* next_norm() const {
        if (after) return &w.norm;
        if (c.layer_of(request.block).parallel || adds_beside) return nullptr;
        const Norm& norm = !cross && c.stacks[at.stack].cross() ? layer.second.norm : layer.mlp_norm;
        return norm ? &norm : nullptr;
    }
    const char* z_formula() const {
        return z_made_by == ZBy::given  ? "replaced"
               : z_made_by == ZBy::zero ? "0: ablated"
               : z_made_by == ZBy::mean ? "the mean of z over the text"
                                        : "Σ weight · v";
    }
    const char* gate_formula() const {
        return spec.gate.norms ? "gate, with the norm’s sizes" : "gate of the block’s input";
    }
    const char* out_formula() const {
        if (w.gate) return w.o.bias ? "W_O (z ∘ g) + b" : "W_O (z ∘ g)";
        return w.o.bias ? "W_O z + b" : "W_O z";
    }
    void make_after() {
        const int query = request.query;
        const Vector joined = trace.z(request.block, query, 1, pool).row(0).transpose();
        add(ChainStep::z, "z", z_formula(), joined.segment(request.head * d, d));
        add(ChainStep::heads, "heads", "z of all heads", joined);
        if (const Vector gate = gate_at(trace, request.block, query, pool); gate.size()) {
            add(ChainStep::gate, "g", gate_formula(), gate);
            add(ChainStep::gated, "z·g", "z ∘ g", joined.cwiseProduct(gate));
        }
        const bool skipped = out_made_by == OutBy::skipped, out_given = out_made_by == OutBy::given;
        const Vector added = trace.attn_out(request.block, query, 1, pool).row(0).transpose();
        if (out_given)
            add(ChainStep::projected, "attn_out", "replaced", added);
        else if (!skipped)
            add(ChainStep::projected, w.post_norm ? "output" : "attn_out", out_formula(),
                trace.proj_out(request.block, query, 1, pool).row(0).transpose());
        if (!skipped && !out_given && w.post_norm) add(ChainStep::added_norm, "attn_out", norm_name(), added);
        const Vector sum = stream(query) + added;
        add(ChainStep::sum, after || adds_beside ? "sum" : "resid_mid",
            skipped ? "E, nothing added" : "E + attn_out", sum);
        if (const Norm* norm = next_norm(); norm && *norm)
            add(ChainStep::next_norm, after ? "resid_mid" : norm_name(),
                after ? norm_name() : "what the next block reads", normalized(*norm, sum));
    }
    void make_entry();
    void choose_entry();
    bool explain_by_norm();
    bool explain_by_head();
    void explain_by_matrix(const Linear& all_rows, const Linear& row, ChainStep from, const char* name);
    void explain(ChainEntry::How how, ChainStep from);
    ChainStep before_rotation(ChainStep first) const;
    ChainStep before_norm(ChainStep first) const;
};

/// Returns a stage if the chain has it, else the one before it.
ChainStep read_by(const BlockChain& chain, ChainStep stage, ChainStep before) {
    return chain.find(stage) ? stage : before;
}

/// Returns the stage of q (or k) whose rotation follows.
ChainStep ChainMaker::before_rotation(ChainStep first) const {
    const ChainStep normed = first == ChainStep::q ? ChainStep::q_norm : ChainStep::k_norm;
    return spec.norm_rotated ? first : read_by(out, normed, first);
}
/// Returns the stage of q (or k) whose norm follows.
ChainStep ChainMaker::before_norm(ChainStep first) const {
    const ChainStep turned = first == ChainStep::q ? ChainStep::q_rotated : ChainStep::k_rotated;
    return spec.norm_rotated ? read_by(out, turned, first) : first;
}

void ChainMaker::explain(ChainEntry::How how, ChainStep from) {
    out.entry.how = how;
    out.entry.from = from;
}

void ChainMaker::explain_by_matrix(const Linear& all_rows, const Linear& row, ChainStep from,
                                   const char* name) {
    ChainEntry& e = out.entry;
    explain(ChainEntry::How::matrix, from);
    e.row = input_rows(row, 0, row.in).col(0);
    if (row.bias) e.bias = row.bias[0];
    e.matrix = name;
    e.picture = map_of_linear(name, "its row", all_rows, true, pool);
}

/// Explains q, k or v as a row of the head's part of W_Q, W_K or W_V.
bool ChainMaker::explain_by_head() {
    struct Projected {
        ChainStep step;
        HeadPart by;
        ChainStep normed, before;
        const char* name;
    };
    const Projected projections[] = {
        {ChainStep::q, HeadPart::q, ChainStep::query_norm, ChainStep::query_in, "W_Q"},
        {ChainStep::k, HeadPart::k, ChainStep::key_norm, ChainStep::key_in, "W_K"},
        {w.v_norm ? ChainStep::v_made : ChainStep::v, HeadPart::v, ChainStep::key_norm, ChainStep::key_in,
         spec.keys_as_values ? "W_K" : "W_V"}};
    for (const Projected& p : projections) {
        if (p.step != out.entry.step) continue;
        const ChainStep from = read_by(out, p.normed, p.before);
        const HeadProjection at = of_head.at_row(p.by, out.find(from)->values.transpose(), pool);
        const Linear matrix = Linear::of_floats(at.weight.data(), at.bias.size() ? at.bias.data() : nullptr,
                                                at.weight.rows(), at.weight.cols(), WeightLayout::in_out);
        explain_by_matrix(matrix, matrix.columns(out.entry.dimension, 1), from, p.name);
        return true;
    }
    return false;
}

/// Explains an entry of a normed stage: (x − mean) / deviation · weight + bias.
bool ChainMaker::explain_by_norm() {
    const Norm of_q = of_head.norm(HeadPart::q), of_k = of_head.norm(HeadPart::k);
    struct NormedStage {
        ChainStep step;
        const Norm* norm;
        ChainStep from;
    };
    const NormedStage normed[] = {{ChainStep::query_norm, &w.norm, ChainStep::query_in},
                                  {ChainStep::key_norm, &norm_of_keys, ChainStep::key_in},
                                  {ChainStep::q_norm, &of_q, before_norm(ChainStep::q)},
                                  {ChainStep::k_norm, &of_k, before_norm(ChainStep::k)},
                                  {ChainStep::v, w.v_norm ? &w.v_norm : nullptr, ChainStep::v_made},
                                  {ChainStep::added_norm, &w.post_norm, ChainStep::projected},
                                  {ChainStep::next_norm, next_norm(), ChainStep::sum}};
    ChainEntry& e = out.entry;
    const auto* const found =
        std::find_if(std::begin(normed), std::end(normed),
                     [&](const NormedStage& stage) { return stage.norm && stage.step == e.step; });
    if (found == std::end(normed)) return false;
    Vector x = out.find(found->from)->values;
    const auto over = [&](HeadPart which, ChainStep normed_in, ChainStep in) {
        x = of_head.normed_over(which, out.find(read_by(out, normed_in, in))->values.transpose(), pool);
    };
    const bool whole = spec.qk_norm == QkNorm::whole;  // normed with all heads
    if (whole && found->norm == &of_q) over(HeadPart::q, ChainStep::query_norm, ChainStep::query_in);
    if (whole && found->norm == &of_k) over(HeadPart::k, ChainStep::key_norm, ChainStep::key_in);
    explain(ChainEntry::How::norm, found->from);
    e.mean = c.norm == NormKind::layer_norm ? x.mean() : 0.0f;
    e.deviation = std::sqrt((x.array() - e.mean).square().mean() + c.norm_eps);
    e.weight = found->norm->weight[e.dimension];
    if (found->norm->bias) e.bias = found->norm->bias[e.dimension];
    return true;
}

/// Chooses the requested stage and dimension, or the nearest that exist.
void ChainMaker::choose_entry() {
    ChainEntry& e = out.entry;
    const ChainStage* stage = out.find(request.step);
    for (int step = static_cast<int>(request.step); !stage && step >= 0; --step)
        stage = out.find(static_cast<ChainStep>(step));
    Index largest = 0;
    stage->values.cwiseAbs().maxCoeff(&largest);
    e.step = stage->step;
    e.dimension = request.dimension < 0 ? narrow<int>(largest)
                                        : std::min(request.dimension, narrow<int>(stage->values.size()) - 1);
    e.value = stage->values[e.dimension];
}

void ChainMaker::make_entry() {
    using How = ChainEntry::How;
    choose_entry();
    if (explain_by_norm() || explain_by_head()) return;
    ChainEntry& e = out.entry;
    switch (e.step) {
        case ChainStep::q_rotated:
            return explain(How::rotated, before_rotation(ChainStep::q));
        case ChainStep::k_rotated:
            return explain(How::rotated, before_rotation(ChainStep::k));
        case ChainStep::z:
            if (z_made_by == ZBy::weights) explain(How::weighted, ChainStep::v);
            return;
        case ChainStep::heads:
            return explain(How::joined, ChainStep::z);
        case ChainStep::projected:
            if (out_made_by == OutBy::heads)
                explain_by_matrix(w.o, w.o.columns(e.dimension, 1),
                                  read_by(out, ChainStep::gated, ChainStep::heads), "W_O");
            return;
        case ChainStep::gated:
            explain(How::product, ChainStep::heads);
            e.term = out.find(ChainStep::heads)->values[e.dimension];
            e.added = out.find(ChainStep::gate)->values[e.dimension];
            return;
        case ChainStep::sum:
            explain(How::sum, ChainStep::query_in);
            e.term = out.find(ChainStep::query_in)->values[e.dimension];
            e.added = e.value - e.term;
            return;
        default:
            return;  // query_in and key_in enter the block: nothing here made them
    }
}

}  // namespace

const ChainStage* BlockChain::find(ChainStep step) const {
    const auto it =
        std::find_if(stages.begin(), stages.end(), [&](const ChainStage& s) { return s.step == step; });
    return it == stages.end() ? nullptr : &*it;
}

Result<BlockChain> answer_block_chain(const Trace& trace, const BlockChainRequest& request, ThreadPool& pool,
                                      const CancelFlag* cancel) {
    if (trace.is_mixing(request.block)) return no_scores(trace.config(), {request.block, request.head});
    const CancelScope scope(pool, cancel);
    HEADLIGHT_CHECK(request.query < trace.query_count(request.block) &&
                    request.key < trace.key_count(request.block));
    ChainMaker maker{trace, request, pool};
    maker.make_before();
    maker.make_after();
    maker.make_entry();
    maker.out.weights_by = weights_by(trace.rule(request.block), request.head, request.query);
    maker.out.temperature = trace.rule(request.block).temperature_of(request.head);
    maker.out.weight = trace.pattern_rows(request.block, request.head, request.query, 1)(0, request.key);
    return std::move(maker.out);
}

void BlockChainRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
    query = nearest(query, t.query_count(block));
    key = nearest(key, t.key_count(block));
}
bool BlockChainRequest::valid_for(const Shown& shown) const {
    return block == shown.block && head == shown.head;
}

namespace {

constexpr Index kMaxHeadEntries = 64;

/// Makes a stage whose columns are heads, max-pooled by magnitude if it has many entries.
HeadsStage heads_stage(std::string name, const Matrix& columns, bool is_weights) {
    HeadsStage out{std::move(name), {}, 1, is_weights, 0};
    out.step = narrow<int>(std::max<Index>(1, (columns.rows() + kMaxHeadEntries - 1) / kMaxHeadEntries));
    out.values = Matrix::Zero((columns.rows() + out.step - 1) / out.step, columns.cols());
    for (Index r = 0; r < columns.rows(); ++r)
        for (Index h = 0; h < columns.cols(); ++h) {
            float& seen = out.values(r / out.step, h);
            if (std::abs(columns(r, h)) > std::abs(seen)) seen = columns(r, h);
        }
    out.largest = out.values.size() ? out.values.cwiseAbs().maxCoeff() : 0;
    return out;
}

}  // namespace

Result<std::vector<HeadsStage>> answer_heads_chain(const Trace& trace, const HeadsChainRequest& request,
                                                   ThreadPool& pool, const CancelFlag* cancel) {
    if (trace.is_mixing(request.block)) return no_scores(trace.config(), {request.block, 0});
    const CancelScope scope(pool, cancel);
    const Index heads = trace.config().heads(request.block), d = trace.config().d_head(request.block),
                d_value = trace.config().d_value(request.block);
    Matrix q(d, heads), k(d, heads), v(d_value, heads), weights(trace.key_count(request.block), heads);
    for (int h = 0; h < heads; ++h) {
        q.col(h) = trace.q(request.block, h).row(request.query).transpose();
        k.col(h) = trace.k(request.block, h).row(request.key).transpose();
        v.col(h) = trace.v(request.block, h).row(request.key).transpose();
        weights.col(h) = trace.pattern_rows(request.block, h, request.query, 1).row(0).transpose();
    }
    const Matrix joined = trace.z(request.block, request.query, 1, pool);
    const Matrix z = Eigen::Map<const Matrix>(joined.data(), heads, d_value).transpose();
    const Matrix added = trace.results(request.block, request.query, pool).transpose();
    std::vector<HeadsStage> out{heads_stage("q", q, false), heads_stage("k", k, false),
                                heads_stage("weights", weights, true), heads_stage("v", v, false),
                                heads_stage("z", z, false)};
    if (const Vector gate = gate_at(trace, request.block, request.query, pool); gate.size()) {
        const Matrix g = Eigen::Map<const Matrix>(gate.data(), heads, d_value).transpose();
        out.push_back(heads_stage("g", g, false));
        out.push_back(heads_stage("z·g", z.cwiseProduct(g), false));
    }
    out.push_back(heads_stage("ΔE", added, false));
    return out;
}

void HeadsChainRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    query = nearest(query, t.query_count(block));
    key = nearest(key, t.key_count(block));
}

}  // namespace headlight
