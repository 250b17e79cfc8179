// Tests the attention block around a query, vector by vector, against plain products with the weights and the
// trace.
#include "analysis/attention/block_chain.h"

#include <cmath>
#include <iostream>

#include "analysis/circuits/head_matrices.h"
#include "helpers.h"

using namespace headlight;

namespace {

/// Returns a matrix as the pass multiplies by it: [in, out], without its bias.
Matrix dense(Linear w, ThreadPool& pool) {
    w.bias = nullptr;
    Matrix out(w.in, w.out);
    apply_linear(pool, Matrix::Identity(w.in, w.in), w, out);
    return out;
}

/// Computes a norm by its formula, in float64.
Vector normed(const ModelConfig& c, const Norm& norm, const Vector& x) {
    if (!norm) return x;
    const bool center = c.norm == NormKind::layer_norm;
    const Eigen::VectorXd y = x.cast<double>();
    const double mean = center ? y.mean() : 0,
                 deviation = std::sqrt((y.array() - mean).square().mean() + double(c.norm_eps));
    Vector out(x.size());
    for (Index i = 0; i < x.size(); ++i)
        out[i] = float((y[i] - mean) / deviation * double(norm.weight[i]) +
                       (norm.bias ? double(norm.bias[i]) : 0));
    return out;
}

struct Errors {
    float q = 0, v = 0, output = 0, sum = 0, norm = 0, entry = 0;
    void see(float& worst, const Vector& a, const Vector& b) {
        REQUIRE(a.size() == b.size());
        worst = std::max(worst, (a - b).cwiseAbs().maxCoeff() / std::max(1.0f, b.cwiseAbs().maxCoeff()));
    }
    float largest() const { return std::max({q, v, output, sum, norm, entry}); }
};

/// Computes a head's part of a product with the weights, with its bias.
Vector projected(const Linear& w, Index first, Index width, const Vector& x, ThreadPool& pool) {
    Vector y = (x.transpose() * dense(w, pool).middleCols(first, width)).transpose();
    if (w.bias)
        for (Index i = 0; i < width; ++i) y[i] += w.bias[first + i];
    return y;
}

const Vector& values(const BlockChain& chain, ChainStep step) {
    const ChainStage* stage = chain.find(step);
    REQUIRE(stage);
    return stage->values;
}

/// Checks one side of a chain: input, W x + b, its norm, its rotation.
void check_side(const Trace& trace, const BlockChain& chain, const BlockChainRequest& w, bool query,
                ThreadPool& pool, Errors& errors) {
    const ModelConfig& c = trace.config();
    const AttentionWeights& weights = trace.weights(w.block);
    const Index d = c.d_head(w.block), kv = trace.rule(w.block).kv_head(w.head);
    const auto at = [query](ChainStep step) {
        return query ? step : static_cast<ChainStep>(static_cast<int>(step) + 5);
    };
    const bool cross = c.block(w.block).kind == AttentionKind::cross,
               normalizes = !c.norms_sums() && weights.norm && (query || !cross);
    const Vector in = values(chain, at(ChainStep::query_in));
    CHECK((chain.find(at(ChainStep::query_norm)) != nullptr) == normalizes);
    const Norm& read = query ? weights.norm : trace.weights(c.key_block(w.block)).norm;
    const Vector x = normalizes ? normed(c, read, in) : in;
    if (normalizes) errors.see(errors.norm, values(chain, at(ChainStep::query_norm)), x);
    const Linear& matrix = query ? weights.q : weights.k;
    const Norm& norm = query ? weights.q_norm : weights.k_norm;
    const Index head = query ? w.head : kv;
    Vector y = projected(matrix, head * d, d, x, pool);
    errors.see(errors.q, values(chain, at(ChainStep::q)), y);
    CHECK((chain.find(at(ChainStep::q_norm)) != nullptr) == static_cast<bool>(norm));
    if (norm) errors.see(errors.norm, values(chain, at(ChainStep::q_norm)), y = normed(c, norm, y));
    const Vector meets = query ? trace.q(w.block, w.head).row(w.query).transpose()
                               : trace.k(w.block, w.head).row(w.key).transpose();
    const bool turns = c.positions == PositionScheme::rotary && !cross;
    CHECK((chain.find(at(ChainStep::q_rotated)) != nullptr) == turns);
    const int place = query ? w.query : w.key;
    if (turns) CHECK(values(chain, at(ChainStep::q_rotated)) == meets);
    if (!turns || place == 0) errors.see(errors.q, meets, y);  // position 0 is not rotated
    if (turns) CHECK(meets.norm() == doctest::Approx(y.norm()).epsilon(1e-4));
    if (query) return;
    Vector v = projected(weights.v, kv * d, d, x, pool);
    CHECK((chain.find(ChainStep::v_made) != nullptr) == static_cast<bool>(weights.v_norm));
    if (weights.v_norm) v = normed(c, weights.v_norm, v);
    errors.see(errors.v, values(chain, ChainStep::v), v);
}

/// z W_O + b = attn_out, E + attn_out = resid_mid, and the norms before and after.
void check_after(const Trace& trace, const BlockChain& chain, const BlockChainRequest& w, ThreadPool& pool,
                 Errors& errors) {
    const ModelConfig& c = trace.config();
    const AttentionWeights& weights = trace.weights(w.block);
    const Vector joined = values(chain, ChainStep::heads);
    const Index d = c.d_head(w.block);
    CHECK(values(chain, ChainStep::z) == Vector(joined.segment(w.head * d, d)));
    Vector added = projected(weights.o, 0, weights.o.out, joined, pool);
    errors.see(errors.output, values(chain, ChainStep::projected), added);
    CHECK((chain.find(ChainStep::added_norm) != nullptr) == static_cast<bool>(weights.post_norm));
    added = normed(c, weights.post_norm, added);
    errors.see(errors.output, trace.attn_out(w.block, w.query, 1, pool).row(0).transpose(), added);
    const Vector sum = values(chain, ChainStep::query_in) + added;
    errors.see(errors.sum, values(chain, ChainStep::sum), sum);
    const bool after = c.norms_sums();
    if (after) errors.see(errors.norm, values(chain, ChainStep::next_norm), normed(c, weights.norm, sum));
    if (c.stacks[0].layers[0].parallel) CHECK(chain.find(ChainStep::next_norm) == nullptr);
    // Cross-attention's output is added to the stream after self-attention.
    const AttentionBlock at = c.block(w.block);
    const auto blocks = c.blocks_of(at.stack, at.layer);
    if (blocks.size() == 2 && w.block == blocks.front())
        errors.see(errors.sum, trace.resid_before(blocks.back(), pool).row(w.query).transpose(),
                   values(chain, after ? ChainStep::next_norm : ChainStep::sum));
}

/// Recomputes each stage's entry from the weights that it highlights.
void check_entries(const Trace& trace, BlockChainRequest w, ThreadPool& pool, Errors& errors) {
    for (int step = 0; step <= static_cast<int>(ChainStep::next_norm); ++step) {
        w.step = static_cast<ChainStep>(step);
        w.dimension = step % 3;
        const BlockChain chain = *answer_block_chain(trace, w, pool);
        const ChainEntry& e = chain.entry;
        if (!chain.find(w.step)) {
            CHECK(e.step < w.step);
            continue;
        }
        float value = e.value;
        CHECK(value == values(chain, w.step)[w.dimension]);
        const Vector* from = chain.find(e.from) ? &chain.find(e.from)->values : nullptr;
        if (e.how == ChainEntry::How::matrix) {
            value = e.row.dot(*from) + e.bias.value_or(0.0f);
            CHECK(e.picture.rows == values(chain, w.step).size());
        } else if (e.how == ChainEntry::How::norm) {
            value = ((*from)[w.dimension] - e.mean) / e.deviation * e.weight + e.bias.value_or(0.0f);
        } else if (e.how == ChainEntry::How::sum) {
            value = e.term + e.added;
        }
        errors.see(errors.entry, Vector::Constant(1, value), Vector::Constant(1, e.value));
    }
}

std::shared_ptr<const Trace> any_trace(const std::shared_ptr<const Model>& model, ThreadPool& pool) {
    if (model->config.stacks.size() == 1) return trace_of(model, {5, 9, 200, 31, 5}, pool);
    ForwardRequest request = request_of({5, 9, 200, 31, 5});
    request.inputs.push_back(request_of({7, 11, 30}).inputs[0]);
    return *run_trace(model, std::move(request), pool);
}

}  // namespace

TEST_CASE("block chain: every stage of every family is its product, norm or sum") {
    ThreadPool pool(2);
    Errors errors;
    for (const char* name : {"albert", "bart", "bert",     "bloom", "distilbert", "electra", "gemma2",
                             "gemma4", "gpt2", "gpt_neox", "llama", "marian",     "mistral", "modernbert",
                             "opt",    "phi",  "qwen2",    "qwen3", "roberta",    "t5",      "gemma3n"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto trace = any_trace(model, pool);
        for (int block = 0; block < model->config.blocks(); ++block)
            for (const auto& [query, key] : {std::pair{0, 0}, std::pair{2, 1}}) {
                CAPTURE(block);
                const BlockChainRequest w{block, model->config.heads(block) - 1, query, key, ChainStep::q,
                                          -1};
                const BlockChain chain = *answer_block_chain(*trace, w, pool);
                check_side(*trace, chain, w, true, pool, errors);
                check_side(*trace, chain, w, false, pool, errors);
                check_after(*trace, chain, w, pool, errors);
                check_entries(*trace, w, pool, errors);
            }
    }
    std::cout << "block chain, largest errors: q and k " << errors.q << ", v " << errors.v << ", attn_out "
              << errors.output << ", resid_mid " << errors.sum << ", norms " << errors.norm << ", entries "
              << errors.entry << "\n";
    CHECK(errors.largest() < 2e-5f);
}

TEST_CASE("block chain: a skipped block adds nothing, and without positions nothing rotates") {
    ThreadPool pool(2);
    const auto model = reference_model("llama");
    ForwardRequest request = request_of({5, 9, 200, 31});
    request.intervention.changes = {*parse_change(model->config, "skip-attention:0"),
                                    *parse_change(model->config, "positions:off")};
    const auto trace = *run_trace(model, request, pool);
    const BlockChain chain =
        *answer_block_chain(*trace, BlockChainRequest{0, 1, 3, 2, ChainStep::projected, 0}, pool);
    CHECK(chain.find(ChainStep::projected) == nullptr);
    CHECK(chain.entry.step == ChainStep::heads);
    CHECK(values(chain, ChainStep::sum) == values(chain, ChainStep::query_in));
    CHECK(chain.find(ChainStep::q_rotated) == nullptr);
}

TEST_CASE("block chain: the chain of all heads has each head's own vectors") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bart"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto trace = any_trace(model, pool);
        const int block = model->config.blocks() - 1;
        const auto stages = *answer_heads_chain(*trace, HeadsChainRequest{block, 2, 1}, pool);
        REQUIRE(stages.size() == 6);
        for (int h = 0; h < model->config.heads(block); ++h) {
            const BlockChain chain =
                *answer_block_chain(*trace, BlockChainRequest{block, h, 2, 1, ChainStep::z, 0}, pool);
            CHECK(Vector(stages[0].values.col(h)) == Vector(trace->q(block, h).row(2).transpose()));
            CHECK(stages[2].values(1, h) == chain.weight);
            CHECK(Vector(stages[3].values.col(h)) == values(chain, ChainStep::v));
            CHECK((Vector(stages[4].values.col(h)) - values(chain, ChainStep::z)).norm() < 1e-6f);
        }
        const Matrix added = trace->results(block, 2, pool);
        CHECK(stages[5].largest == doctest::Approx(added.cwiseAbs().maxCoeff()));
    }
}
