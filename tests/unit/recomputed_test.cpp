// Tests that what is shown recomputes under every kind of change: steps of a score, parts of a logit, hooks
// of a trace.
#include "recomputed.h"

#include <cmath>

#include "analysis/attention/cell.h"
#include "analysis/attention/steps.h"
#include "analysis/attribution/stream_parts.h"
#include "analysis/circuits/direct.h"
#include "analysis/prediction/lens.h"

using namespace headlight;

namespace {

/// Returns the largest gap between a weight and e^score over its sum.
double gap_of_softmax(const headlight::Steps& s) {
    double worst = 0, sum = 0, largest = -1e300;
    for (const KeyStep& k : s.keys)
        if (k.allowed) largest = std::max(largest, double(k.score));
    const bool none = largest == -1e300;
    const auto power = [&](const KeyStep& k) {
        return none ? 1 : k.allowed ? std::exp(double(k.score) - largest) : 0;
    };
    for (const KeyStep& k : s.keys) sum += power(k);
    if (s.sink) sum += std::exp(double(s.sink->score) - largest);
    for (const KeyStep& k : s.keys) {
        worst = std::max(worst, std::abs(power(k) / sum - double(k.weight)));
        worst = std::max(worst, std::abs(k.exp / s.sum - double(k.weight)));
    }
    return worst;
}

void check_chain_of_scores(const headlight::Steps& s) {
    for (const KeyStep& k : s.keys) {
        if (!k.edited) CHECK(k.before == doctest::Approx(k.capped + k.bias).epsilon(1e-4));
        const bool divided = is_tempered(s);
        if (!divided) CHECK(k.score == k.before);
        if (divided && std::isinf(s.temperature)) CHECK(k.score == 0);
        if (divided && !std::isinf(s.temperature))
            CHECK(k.score == doctest::Approx(k.before / s.temperature));
    }
}

}  // namespace

TEST_CASE("recomputed: e^score over the sum is the weight, or its replacement is reported") {
    ThreadPool pool(2);
    const unsigned seed = fresh_seed();
    double worst = 0;
    int rows = 0;
    for_changed_runs(seed, pool, [&](const Trace& trace, AttentionHead at, const auto& queries) {
        for (const int query : queries) {
            const auto s = answer_steps(trace, StepsRequest{at.block, at.head, query}, pool, nullptr);
            REQUIRE(s);
            CAPTURE(query);
            ++rows;
            const Matrix pattern = trace.pattern_rows(at.block, at.head, query, 1);
            for (size_t k = 0; k < s->keys.size(); ++k) REQUIRE(s->keys[k].weight == pattern(0, Index(k)));
            check_chain_of_scores(*s);
            const bool given = trace.rule(at.block).is_given(at.head, query);
            REQUIRE((s->weights_by == WeightsBy::given) == given);
            if (s->weights_by == WeightsBy::softmax) {
                worst = std::max(worst, gap_of_softmax(*s));
                CHECK(worst < 2e-6);
            }
            for (const KeyStep& k : s->keys)
                if (s->weights_by == WeightsBy::heaviest) CHECK(k.exp / s->sum == double(k.weight));
            const int key = query % isize(s->keys);
            const CellReport cell = report_cell(trace, {at.block, at.head, query, key}, false, pool);
            CHECK(cell.score == doctest::Approx(s->keys[size_t(key)].score).epsilon(1e-4));
            CHECK((cell.weight == s->keys[size_t(key)].weight && cell.weights_by == s->weights_by &&
                   cell.temperature == s->temperature));
        }
    });
    MESSAGE("steps of " << rows << " changed rows, seed " << seed << ", largest error " << worst);
}

namespace {

/// [d_model]: what a head adds at a query, as the difference that its z makes to its block's output.
Eigen::RowVectorXf added_by(const Trace& trace, AttentionHead head, int query, ThreadPool& pool) {
    const AttentionWeights& w = trace.weights(head.block);
    const Index d = trace.config().d_value(head.block);
    Matrix z = trace.gated_z(head.block, query, 1, pool);
    const Matrix with = project_out(w, z, pool);
    z.middleCols(head.head * d, d).setZero();
    Eigen::RowVectorXf out = (with - project_out(w, z, pool)).row(0);
    if (w.post_norm)  // at the scale of the post-norm in this run
        out.array() *= trace.attn_out(head.block, query, 1, pool).row(0).array() / with.row(0).array();
    return out;
}

/// [d_model]: a part, computed independently of the attribution.
Eigen::RowVectorXf row_of(const Trace& trace, const LogitPart& part, int query, ThreadPool& pool) {
    const int stack = isize(trace.config().stacks) - 1;
    const auto& layers = trace.stack(stack).layers;
    switch (part.kind) {
        case LogitPart::Kind::embedding:
            return layers[0]->entering().row(query);
        case LogitPart::Kind::head:
        case LogitPart::Kind::given_head:
            return added_by(trace, {part.block, part.head}, query, pool);
        case LogitPart::Kind::mlp:
        case LogitPart::Kind::given_mlp:
            return trace.mlp_out(stack, part.block, pool).row(query);
        case LogitPart::Kind::given_attention:
            return trace.attn_out(part.block, query, 1, pool).row(0);
        case LogitPart::Kind::attention_bias:
            return Eigen::Map<const Eigen::RowVectorXf>(trace.weights(part.block).o.bias,
                                                        trace.config().d_model);
        default:
            break;
    }
    Eigen::RowVectorXf given = Eigen::RowVectorXf::Zero(trace.config().d_model);
    for (const auto& layer : layers)
        if (layer->changed.resid_pre.gives(query)) given = layer->resid_pre.row(query);
    const Change& change = trace.request.intervention.changes[0];
    return change.kind == ChangeKind::noise ? Eigen::RowVectorXf(change.pattern->row(query)) : given;
}

/// Returns one past the last layer whose input was replaced at a query, which drops what lower layers added.
int replaced_below(const Trace& trace, int query) {
    const int stack = isize(trace.config().stacks) - 1;
    const Change& change = trace.request.intervention.changes[0];
    const auto& layers = trace.stack(stack).layers;
    for (int l = isize(layers) - 1; l >= 0 && change.kind == ChangeKind::patch_resid; --l)
        if (layers[l]->changed.resid_pre.gives(query)) return l;
    return -1;
}

bool is_below(const ModelConfig& c, const LogitPart& part, int layer) {
    using Kind = LogitPart::Kind;
    if (part.kind == Kind::given || part.kind == Kind::norm_bias || part.kind == Kind::unembedding_bias ||
        layer < 0)
        return false;
    if (part.kind == Kind::embedding) return true;
    const bool mlp = part.kind == Kind::mlp || part.kind == Kind::given_mlp;
    return (mlp ? part.block : c.block(part.block).layer) < layer;
}

/// Returns a token's logit of this run before the soft cap.
float own_logit(const Trace& trace, int query, int token, ThreadPool& pool) {
    const float logit = unembed(*trace.model, trace.normalized().middleRows(query, 1), pool)(0, token),
                cap = trace.config().logit_cap;
    return cap > 0 ? cap * std::atanh(logit / cap) : logit;
}

/// Returns the largest error of a run's parts, relative to the sum of their magnitudes.
float error_of_parts(const Trace& trace, int query, int token, ThreadPool& pool) {
    const auto a = answer_attribution(trace, AttributionRequest{query, token, 3}, pool, nullptr);
    REQUIRE(a);
    const auto path = DirectPath::at(trace, query);
    const Matrix whole = trace.activations.stacks.back()->resid_final.middleRows(query, 1);
    const int replaced = replaced_below(trace, query);
    float sum = 0, size = 1, worst = 0;
    for (const LogitPart& part : a->parts) {
        sum += part.logit;
        size += std::abs(part.logit);
        if (part.kind == LogitPart::Kind::norm_bias || part.kind == LogitPart::Kind::unembedding_bias)
            continue;
        Matrix without = whole;
        if (!is_below(trace.config(), part, replaced)) without.row(0) -= row_of(trace, part, query, pool);
        const float difference = path->logit(whole, token)[0] - path->logit(without, token)[0];
        worst = std::max(worst, std::abs(difference - part.logit));
    }
    worst = std::max({worst, std::abs(sum - a->logit), std::abs(sum - own_logit(trace, query, token, pool))});
    return worst / size;
}

}  // namespace

TEST_CASE(
    "recomputed: parts sum to the logit, and each equals the difference of removing it from the stream") {
    ThreadPool pool(2);
    const unsigned seed = fresh_seed();
    float worst = 0;
    int runs = 0;
    for_changed_runs(seed, pool, [&](const Trace& trace, AttentionHead, const auto& queries) {
        // origins_test.cpp splits streams that layers scale
        const bool scaled = trace.model->weights.stacks.back().layers[0].output_scale;
        if (!has_direct_path(*trace.model) || scaled) return;
        for (const int query : queries) {
            const int at = std::min(query, trace.output().size() - 1);
            CAPTURE(at);
            const float error = error_of_parts(trace, at, 17, pool);
            CHECK(error < 2e-5f);
            worst = std::max(worst, error);
            ++runs;
        }
    });
    CHECK(runs > 300);
    MESSAGE("parts of " << runs << " changed logits, seed " << seed << ", largest error " << worst);
}

TEST_CASE("recomputed: a replacement is its own part, and no other part gets its credit") {
    ThreadPool pool(2);
    for (const char* family : {"gpt2", "marian", "gemma2"}) {
        CAPTURE(family);
        const auto model = reference_model(family);
        if (!has_direct_path(*model)) continue;
        const ModelConfig& c = model->config;
        const int last = isize(c.stacks) - 1, block = c.blocks_of(last, 1).front();
        ChangedRuns runs(model, 3);
        const auto plain = *run_trace(model, runs.plain(), pool);
        for (const auto& [kind, part] :
             {std::pair{ChangeKind::patch_resid, LogitPart::Kind::given},
              std::pair{ChangeKind::patch_attention, LogitPart::Kind::given_attention},
              std::pair{ChangeKind::patch_mlp, LogitPart::Kind::given_mlp},
              std::pair{ChangeKind::patch_head, LogitPart::Kind::given_head}}) {
            ForwardRequest request = runs.plain();
            request.intervention.changes = {*runs.of_kind(kind, {block, 1})};
            const Change& change = request.intervention.changes[0];
            CAPTURE(change_name(c, change));
            const auto trace = *run_trace(model, request, pool);
            const auto a =
                *answer_attribution(*trace, AttributionRequest{change.query, 17, 3}, pool, nullptr);
            const auto count = std::count_if(a.parts.begin(), a.parts.end(),
                                             [want = part](const LogitPart& p) { return p.kind == want; });
            CHECK(count == 1);
            // the previous layer's output is the same as without the patch
            CHECK(same(trace->resid_post(last, 0).all(), plain->resid_post(last, 0).all()));
        }
    }
}
