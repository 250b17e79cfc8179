// Recomputes one attention block vector by vector, around one query and one key.
#include "analysis/attention/block_chain.h"

#include <algorithm>
#include <cmath>

#include "analysis/attention/steps.h"
#include "analysis/circuits/head_matrices.h"
#include "base/check.h"

namespace headlight {

namespace {

struct ChainMaker {
    const Trace& trace;
    const BlockChainRequest& request;
    ThreadPool& pool;
    const ModelConfig& c = trace.config();
    const AttentionBlock at = c.block(request.block);
    const AttentionWeights& w = trace.weights(request.block);
    const LayerWeights& layer = trace.model->weights.stacks[at.stack].layers[at.layer];
    const bool after = c.norm_place == NormPlace::after, cross = at.kind == AttentionKind::cross;
    const Index d = c.d_head(request.block), kv = trace.rule(request.block).kv_head(request.head);
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
    /// Returns the residual stream at a token of the block's own stack.
    Vector stream(int token) const {
        if (cross) return trace.resid_before(request.block, pool).row(token).transpose();
        return trace.stack(at.stack).layers[at.layer]->resid_pre.row(token).transpose();
    }
    /// Adds a token's vector as the block reads it, and its norm if there is one; returns the block's input.
    Vector entering(ChainStep in, ChainStep norm, bool source, int token) {
        Vector x =
            source ? Vector(trace.stack(at.key_stack()).normalized.row(token).transpose()) : stream(token);
        add(in, source ? "encoder's" : "E", source ? "what the encoder left" : "residual stream", x);
        if (after || source || !w.norm) return x;
        x = normalized(w.norm, x);
        add(norm, norm_name(), "norm of E", x);
        return x;
    }
    Vector projected(const Linear& matrix, const Vector& x) const {
        Matrix y(1, matrix.out);
        apply_linear(pool, x.transpose(), matrix, y);
        return y.row(0).transpose();
    }
    bool rotates() const {
        return !cross && c.positions == PositionScheme::rotary && !trace.rule(request.block).positions.off;
    }
    /// Adds q or k from the block's input to the vector of the score, which the trace holds.
    void add_head(ChainStep first, const char* name, const char* formula, const Linear& matrix,
                  const Norm& norm, const Vector& x, const Vector& in_score) {
        const auto step = [&](int offset) {
            return static_cast<ChainStep>(static_cast<int>(first) + offset);
        };
        Vector y = projected(matrix, x);
        const std::string sign = matrix.bias ? formula + std::string(" + b") : formula;
        add(step(0), name, sign, norm || rotates() ? y : in_score);
        if (norm)
            add(step(1), name + std::string("_normed"), norm_name(),
                rotates() ? normalized(norm, y) : in_score);
        if (rotates()) add(step(2), std::string("rot_") + name, "for its position", in_score);
    }
    Linear of_head(const Linear& matrix, Index head) const { return matrix.columns(head * d, d); }

    void make_before() {
        const int query = request.query, key = request.key;
        const Vector x = entering(ChainStep::query_in, ChainStep::query_norm, false, query);
        add_head(ChainStep::q, "q", "W_Q x", of_head(w.q, request.head), w.q_norm, x,
                 trace.q(request.block, request.head).row(query).transpose());
        const Vector y = entering(ChainStep::key_in, ChainStep::key_norm, cross, key);
        add_head(ChainStep::k, "k", "W_K x", of_head(w.k, kv), w.k_norm, y,
                 trace.k(request.block, request.head).row(key).transpose());
        add(ChainStep::v, "v", w.v.bias ? "W_V x + b" : "W_V x",
            trace.v(request.block, request.head).row(key).transpose());
    }
    /// Returns the norm that reads the sum next; null: the sum is read without a norm.
    const Norm* next_norm() const {
        if (after) return &w.norm;
        if (c.parallel) return nullptr;
        return !cross && layer.cross.q ? &layer.cross.norm : &layer.mlp_norm;
    }
    const char* z_formula() const {
        return z_made_by == ZBy::given  ? "replaced"
               : z_made_by == ZBy::zero ? "0: ablated"
               : z_made_by == ZBy::mean ? "the mean of z over the text"
                                        : "Σ weight · v";
    }
    void make_after() {
        const int query = request.query;
        const Vector joined = trace.z(request.block, query, 1, pool).row(0).transpose();
        add(ChainStep::z, "z", z_formula(), joined.segment(request.head * d, d));
        add(ChainStep::heads, "heads", "z of all heads", joined);
        const bool skipped = out_made_by == OutBy::skipped, out_given = out_made_by == OutBy::given;
        const Vector added = trace.attn_out(request.block, query, 1, pool).row(0).transpose();
        if (out_given)
            add(ChainStep::projected, "attn_out", "replaced", added);
        else if (!skipped)
            add(ChainStep::projected, w.post_norm ? "output" : "attn_out", w.o.bias ? "W_O z + b" : "W_O z",
                trace.proj_out(request.block, query, 1, pool).row(0).transpose());
        if (!skipped && !out_given && w.post_norm) add(ChainStep::added_norm, "attn_out", norm_name(), added);
        const Vector sum = stream(query) + added;
        add(ChainStep::sum, after ? "sum" : "resid_mid", skipped ? "E, nothing added" : "E + attn_out", sum);
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
};

/// Returns the normed stage if the chain has it, else the one before it.
ChainStep read_by(const BlockChain& chain, ChainStep normed, ChainStep before) {
    return chain.find(normed) ? normed : before;
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
    struct Projection {
        ChainStep step;
        const Linear& matrix;
        Index head;
        ChainStep normed, before;
        const char* name;
    };
    const Projection projections[] = {
        {ChainStep::q, w.q, request.head, ChainStep::query_norm, ChainStep::query_in, "W_Q"},
        {ChainStep::k, w.k, kv, ChainStep::key_norm, ChainStep::key_in, "W_K"},
        {ChainStep::v, w.v, kv, ChainStep::key_norm, ChainStep::key_in, "W_V"}};
    for (const Projection& p : projections) {
        if (p.step != out.entry.step) continue;
        const Linear row = p.matrix.columns(p.head * d + out.entry.dimension, 1);
        explain_by_matrix(of_head(p.matrix, p.head), row, read_by(out, p.normed, p.before), p.name);
        return true;
    }
    return false;
}

/// Explains an entry of a normed stage: (x − mean) / deviation · weight + bias.
bool ChainMaker::explain_by_norm() {
    struct NormedStage {
        ChainStep step;
        const Norm* norm;
        ChainStep from;
    };
    const NormedStage normed[] = {{ChainStep::query_norm, &w.norm, ChainStep::query_in},
                                  {ChainStep::key_norm, &w.norm, ChainStep::key_in},
                                  {ChainStep::q_norm, &w.q_norm, ChainStep::q},
                                  {ChainStep::k_norm, &w.k_norm, ChainStep::k},
                                  {ChainStep::added_norm, &w.post_norm, ChainStep::projected},
                                  {ChainStep::next_norm, next_norm(), ChainStep::sum}};
    ChainEntry& e = out.entry;
    const auto* const found = std::find_if(std::begin(normed), std::end(normed),
                                           [&](const NormedStage& stage) { return stage.step == e.step; });
    if (found == std::end(normed)) return false;
    const Vector& x = out.find(found->from)->values;
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
            return explain(How::rotated, read_by(out, ChainStep::q_norm, ChainStep::q));
        case ChainStep::k_rotated:
            return explain(How::rotated, read_by(out, ChainStep::k_norm, ChainStep::k));
        case ChainStep::z:
            if (z_made_by == ZBy::weights) explain(How::weighted, ChainStep::v);
            return;
        case ChainStep::heads:
            return explain(How::joined, ChainStep::z);
        case ChainStep::projected:
            if (out_made_by == OutBy::heads)
                explain_by_matrix(w.o, w.o.columns(e.dimension, 1), ChainStep::heads, "W_O");
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
    const CancelScope scope(pool, cancel);
    const Index heads = trace.config().heads(request.block), d = trace.config().d_head(request.block);
    Matrix q(d, heads), k(d, heads), v(d, heads), weights(trace.key_count(request.block), heads);
    for (int h = 0; h < heads; ++h) {
        q.col(h) = trace.q(request.block, h).row(request.query).transpose();
        k.col(h) = trace.k(request.block, h).row(request.key).transpose();
        v.col(h) = trace.v(request.block, h).row(request.key).transpose();
        weights.col(h) = trace.pattern_rows(request.block, h, request.query, 1).row(0).transpose();
    }
    const Matrix joined = trace.z(request.block, request.query, 1, pool);
    const Matrix z = Eigen::Map<const Matrix>(joined.data(), heads, d).transpose();
    const Matrix added = trace.results(request.block, request.query, pool).transpose();
    return std::vector<HeadsStage>{
        heads_stage("q", q, false), heads_stage("k", k, false), heads_stage("weights", weights, true),
        heads_stage("v", v, false), heads_stage("z", z, false), heads_stage("ΔE", added, false)};
}

void HeadsChainRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    query = nearest(query, t.query_count(block));
    key = nearest(key, t.key_count(block));
}

}  // namespace headlight
