// Puts matrices of one encoding into a model of another, one after the other.
#include "analysis/comparison/encodings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/comparison/head_encoding.h"
#include "base/cast.h"
#include "base/pace.h"
#include "base/quoted.h"
#include "model/head_weights.h"
#include "model/loading/slots.h"

namespace headlight {

namespace {

/// Names the matrices of a layer as traces name its hooks.
constexpr std::pair<Slot, const char*> kNames[] = {
    {Slot::q, "attn.W_Q"},
    {Slot::k, "attn.W_K"},
    {Slot::v, "attn.W_V"},
    {Slot::o, "attn.W_O"},
    {Slot::attn_gate, "attn.W_g"},
    {Slot::q_down, "attn.W_Q_down"},
    {Slot::kv_down, "attn.W_KV_down"},
    {Slot::kv_up, "attn.W_KV_up"},
    {Slot::decay, "attn.W_decay"},
    {Slot::strength, "attn.W_strength"},
    {Slot::mixer_states, "attn.W_states"},
    {Slot::cross_q, "cross_attn.W_Q"},
    {Slot::cross_k, "cross_attn.W_K"},
    {Slot::cross_v, "cross_attn.W_V"},
    {Slot::cross_o, "cross_attn.W_O"},
    {Slot::gate, "mlp.W_gate"},
    {Slot::up, "mlp.W_in"},
    {Slot::down, "mlp.W_out"},
    {Slot::router, "mlp.router"},
    {Slot::shared_gate, "mlp.shared_gate"},
    {Slot::token_embedding, "W_E"},
    {Slot::position_embedding, "W_pos"},
    {Slot::embed_project, "W_E_project"},
    {Slot::head_dense, "head.dense"},
    {Slot::unembedding, "W_U"},
    {Slot::expert_gate, "mlp.experts"},
    {Slot::expert_up, "mlp.experts"},
    {Slot::expert_down, "mlp.experts"},
};

/// Groups matrices by name: one each, or those of all experts of a layer.
struct NamedMatrices {
    std::string name;
    std::vector<Linear*> matrices;
    int stack = 0, layer = -1;
};

/// Names W_Q and W_K where files hold their outputs in another order, for another pairing of the rotation:
/// they are restored together, with that rotation and their norms.
constexpr const char* kRotated = "attn.W_Q W_K";

using MatrixList = std::vector<NamedMatrices>;

/// Lists the matrices of a model; `other`: the model with which they are exchanged.
MatrixList matrices_by_name(const ModelConfig& c, ModelWeights& weights, const ModelConfig& other) {
    const auto rotated = [&](int s, int l) {
        return s < isize(other.stacks) && l < other.stacks[s].depth() &&
               c.stacks[s].layers[l].attention.rope != other.stacks[s].layers[l].attention.rope;
    };
    MatrixList out;
    each_matrix(weights, [&](Slot slot, Linear& w, SlotPlace at) {
        const int s = at.stack, l = at.layer;
        const auto name = std::find_if(std::begin(kNames), std::end(kNames),
                                       [&](const auto& known) { return known.first == slot; });
        if (name == std::end(kNames) || !w) return;
        const std::string of = l >= 0 ? c.stacks[s].name + "." + std::to_string(l) + "."
                               : s >= 0 && c.stacks.size() > 1 ? c.stacks[s].name + "."
                                                               : "";
        const bool turned = l >= 0 && !at.second && (slot == Slot::q || slot == Slot::k) && rotated(s, l);
        const std::string named = turned ? kRotated : name->second,
                          full = of + (at.second ? "mamba" + named.substr(named.find('.')) : named);
        if (out.empty() || out.back().name != full) out.push_back({full, {}, s, l});
        out.back().matrices.push_back(&w);
    });
    return out;
}

int64_t stored_bytes(const Linear& w) {
    return w.layout == WeightLayout::out_in ? w.out * w.dtype->size(w.in) : w.in * w.dtype->size(w.out);
}

/// Returns whether both hold the same bytes in the same format: nothing to restore.
bool stored_alike(const Linear& a, const Linear& b) {
    const int64_t width = a.layout == WeightLayout::out_in ? a.in : a.out;
    return a.dtype == b.dtype && a.layout == b.layout && stored_bytes(a) == stored_bytes(b) && !a.order &&
           !b.order && std::equal(a.row(0), a.row(0) + a.dtype->size(width), b.row(0));
}

/// Returns whether two lists name the same matrices, however they are stored.
bool same_matrices(const MatrixList& a, const MatrixList& b) {
    const auto same_size = [](const Linear* p, const Linear* q) {
        return p->in == q->in && p->out == q->out;
    };
    const auto same = [&](const NamedMatrices& x, const NamedMatrices& y) {
        return std::equal(x.matrices.begin(), x.matrices.end(), y.matrices.begin(), y.matrices.end(),
                          same_size);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

int64_t bytes_of(const MatrixList& matrices) {
    int64_t out = 0;
    for (const NamedMatrices& named : matrices)
        for (const Linear* w : named.matrices) out += stored_bytes(*w);
    return out;
}

/// Holds both models and their matrices, in one order.
struct Encodings {
    std::shared_ptr<const Model> exact, coded;
    ModelWeights of_exact, of_coded;  // to which the lists point
    MatrixList from, to;

    Encodings(const Trace& wide, const Trace& narrow)
        : exact(wide.model),
          coded(narrow.model),
          of_exact(exact->weights),
          of_coded(coded->weights),
          from(matrices_by_name(exact->config, of_exact, coded->config)),
          to(matrices_by_name(coded->config, of_coded, exact->config)) {}

    Status check(const Trace& wide, const Trace& narrow) const;
    std::shared_ptr<const Model> restored_model(size_t which) const;
    MatrixCost described(size_t which) const;
};

Status Encodings::check(const Trace& wide, const Trace& narrow) const {
    if (!wide.has_weights() || !narrow.has_weights())
        return Error{"A trace holds no weights to restore; open both models."};
    if (!same_matrices(from, to) || !same_heads(exact->config, coded->config))
        return Error{printable(coded->name) + " and " + printable(exact->name) +
                     " are not two encodings of one model; name two files of the same one."};
    if (wide.request.inputs != narrow.request.inputs)
        return Error{printable(coded->name) + " and " + printable(exact->name) +
                     " read the text as different tokens; give it as ids."};
    return success();
}

/// Returns a copy of `coded` with these matrices of `exact`.
std::shared_ptr<const Model> Encodings::restored_model(size_t which) const {
    auto out = std::make_shared<Model>(*coded);
    const MatrixList into = matrices_by_name(out->config, out->weights, exact->config);
    const auto& [name, matrices, s, l] = into[which];
    for (size_t i = 0; i < matrices.size(); ++i) *matrices[i] = *from[which].matrices[i];
    if (!name.ends_with(kRotated)) return out;
    out->config.stacks[s].layers[l].attention = exact->config.stacks[s].layers[l].attention;
    AttentionWeights& self = out->weights.stacks[s].layers[l].self;
    self.q_norm = exact->weights.stacks[s].layers[l].self.q_norm;
    self.k_norm = exact->weights.stacks[s].layers[l].self.k_norm;
    return out;
}

MatrixCost Encodings::described(size_t which) const {
    MatrixCost out{to[which].name, to[which].matrices[0]->dtype->name, from[which].matrices[0]->dtype->name};
    for (const Linear* w : to[which].matrices) out.bytes += stored_bytes(*w);
    return out;
}

/// Lists what is restored, one after the other: matrices by number, then heads.
struct RestoredParts {
    std::vector<size_t> matrices;
    std::vector<AttentionHead> heads;
};

RestoredParts parts_to_restore(const Encodings& of, Restored what) {
    RestoredParts out;
    if (what != Restored::heads)
        for (size_t i = 0; i < of.to.size(); ++i)
            if (!stored_alike(*of.from[i].matrices[0], *of.to[i].matrices[0])) out.matrices.push_back(i);
    if (what == Restored::matrices) return out;
    const ModelConfig& c = of.coded->config;
    for (int block = 0; block < c.blocks(); ++block) {
        const AttentionWeights &a = weights_of(*of.exact, block), &b = weights_of(*of.coded, block);
        const auto alike = [&](Linear AttentionWeights::*w) {
            return !(a.*w) || !(b.*w) || stored_alike(a.*w, b.*w);
        };
        if (alike(&AttentionWeights::q) && alike(&AttentionWeights::k) && alike(&AttentionWeights::v) &&
            alike(&AttentionWeights::o))
            continue;
        for (int head = 0; head < c.heads(block); ++head) out.heads.push_back({block, head});
    }
    return out;
}

/// Evaluates both runs, before anything is restored.
Result<EncodingCosts> costs_to_measure(const Encodings& both, const Trace& exact, const Trace& coded,
                                       const Metric& wanted, ThreadPool& pool, const CancelFlag* cancel) {
    EncodingCosts out;
    TRY(out.metric, resolved(wanted, exact, pool));
    out.exact = evaluate(out.metric, exact, exact, pool);
    out.coded = evaluate(out.metric, coded, exact, pool);
    out.exact_bytes = bytes_of(both.from);
    out.coded_bytes = bytes_of(both.to);
    TRY(out.patterns, head_distances(exact, coded, {AlignBy::position, {}}, pool, cancel));
    out.heads = PerHead<float>(coded.config(), std::numeric_limits<float>::quiet_NaN());
    return out;
}

void insert_by_size(std::vector<MatrixCost>& all, MatrixCost cost) {
    const auto smaller = [&](const MatrixCost& other) { return std::abs(other.cost) < std::abs(cost.cost); };
    const auto at = std::find_if(all.begin(), all.end(), smaller);
    all.insert(at, std::move(cost));
}

}  // namespace

Result<EncodingCosts> encoding_costs(const Trace& exact, const Trace& coded, const Metric& wanted,
                                     Restored what, ThreadPool& pool, const CancelFlag* cancel,
                                     const std::function<void(const EncodingCosts&)>& seen) {
    const CancelScope scope(pool, cancel);
    const Encodings both(exact, coded);
    TRY_STATUS(both.check(exact, coded));
    TRY(EncodingCosts out, costs_to_measure(both, exact, coded, wanted, pool, cancel));
    const RestoredParts parts = parts_to_restore(both, what);
    out.steps = isize(parts.matrices) + isize(parts.heads);
    const auto cost_of = [&](std::shared_ptr<const Model> with) -> Result<float> {
        TRY(const auto run, run_trace(std::move(with), coded.request, pool, cancel));
        const float value = evaluate(out.metric, *run, exact, pool).value;
        if (stopped(cancel)) return cancelled();
        return out.coded.value - value;
    };
    const auto tell = [&] {
        ++out.done;
        if (seen) seen(out);
    };
    for (const size_t i : parts.matrices) {
        MatrixCost cost = both.described(i);
        TRY(cost.cost, cost_of(both.restored_model(i)));
        insert_by_size(out.matrices, std::move(cost));
        tell();
    }
    for (const AttentionHead head : parts.heads) {
        if (const auto with = with_exact_head(*coded.model, *exact.model, head)) {
            TRY(out.heads[head], cost_of(with));
        }
        tell();
    }
    return out;
}

Result<EncodingsFound> measure_encodings(const Runs& runs, const EncodingsRequest& request, ThreadPool& pool,
                                         const CancelFlag* cancel,
                                         const std::function<void(EncodingsFound)>& seen) {
    if (!runs.other) return Error{"Choose model B: the same model in another encoding."};
    const Trace &a = runs.own ? *runs.own : runs.shown, &b = *runs.other;
    const auto bytes = [](const Trace& run) {
        ModelWeights weights = run.model->weights;
        return bytes_of(matrices_by_name(run.config(), weights, run.config()));
    };
    EncodingsFound out;
    out.shown_is_coded = bytes(a) < bytes(b);
    const Trace &exact = out.shown_is_coded ? b : a, &coded = out.shown_is_coded ? a : b;
    Pace pace;
    TRY(EncodingCosts costs, encoding_costs(exact, coded, request.metric, Restored::both, pool, cancel,
                                            [&](const EncodingCosts& now) {
                                                if (!seen || !pace.is_due()) return;
                                                out.costs = std::make_shared<const EncodingCosts>(now);
                                                seen(out);
                                            }));
    out.costs = std::make_shared<const EncodingCosts>(std::move(costs));
    return out;
}

}  // namespace headlight
