// Puts matrices of one encoding into a model of another, one after the other.
#include "analysis/comparison/encodings.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/heads.h"
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
/// they go back together, with that rotation and their norms.
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

/// Returns whether both hold the same bytes in the same format: nothing to put back.
bool stored_alike(const Linear& a, const Linear& b) {
    const int64_t width = a.layout == WeightLayout::out_in ? a.in : a.out;
    return a.dtype == b.dtype && a.layout == b.layout && stored_bytes(a) == stored_bytes(b) && !a.order &&
           !b.order && std::equal(a.row(0), a.row(0) + a.dtype->size(width), b.row(0));
}

/// Returns whether two models have the same matrices, however they are stored.
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

Error not_one_model(const Model& exact, const Model& coded) {
    return {printable(coded.name) + " and " + printable(exact.name) +
            " are not two encodings of one model; name two files of the same one."};
}

/// Returns a copy of `coded` with the matrices `which` of `exact`, which `from` lists.
std::shared_ptr<const Model> put_back(const Model& coded, const Model& exact, const MatrixList& from,
                                      size_t which) {
    auto out = std::make_shared<Model>(coded);
    const MatrixList to = matrices_by_name(out->config, out->weights, exact.config);
    const auto& [name, matrices, s, l] = to[which];
    for (size_t i = 0; i < matrices.size(); ++i) *matrices[i] = *from[which].matrices[i];
    if (!name.ends_with(kRotated)) return out;
    out->config.stacks[s].layers[l].attention = exact.config.stacks[s].layers[l].attention;
    AttentionWeights& self = out->weights.stacks[s].layers[l].self;
    self.q_norm = exact.weights.stacks[s].layers[l].self.q_norm;
    self.k_norm = exact.weights.stacks[s].layers[l].self.k_norm;
    return out;
}

}  // namespace

Result<EncodingCosts> encoding_costs(const std::shared_ptr<const Model>& exact,
                                     const std::shared_ptr<const Model>& coded, const ForwardRequest& request,
                                     const std::string& metric, ThreadPool& pool, const CancelFlag* cancel,
                                     const std::function<void(int, int)>& seen) {
    ModelWeights of_exact = exact->weights, of_coded = coded->weights;
    const MatrixList a = matrices_by_name(exact->config, of_exact, coded->config),
                     b = matrices_by_name(coded->config, of_coded, exact->config);
    if (!same_matrices(a, b) || !same_heads(exact->config, coded->config))
        return not_one_model(*exact, *coded);
    TRY(const auto own, run_trace(exact, request, pool, cancel));
    TRY(const auto now, run_trace(coded, request, pool, cancel));
    EncodingCosts out;
    TRY(const Metric wanted, parse_metric(*exact, metric, own.get()));
    TRY(out.metric, resolved(wanted, *own, pool));
    out.exact = evaluate(out.metric, *own, *own, pool);
    out.coded = evaluate(out.metric, *now, *own, pool);
    TRY(out.patterns, head_distances(*own, *now, {AlignBy::position, {}}, pool, cancel));
    for (size_t i = 0; i < a.size(); ++i) {
        if (seen) seen(narrow<int>(i), isize(a));
        const Linear &x = *a[i].matrices[0], &y = *b[i].matrices[0];
        if (stored_alike(x, y)) continue;
        TRY(const auto with, run_trace(put_back(*coded, *exact, a, i), request, pool, cancel));
        MatrixCost cost{a[i].name, y.dtype->name, x.dtype->name};
        for (const Linear* w : b[i].matrices) cost.bytes += stored_bytes(*w);
        cost.cost = out.coded.value - evaluate(out.metric, *with, *own, pool).value;
        out.matrices.push_back(cost);
    }
    std::stable_sort(out.matrices.begin(), out.matrices.end(), [](const MatrixCost& p, const MatrixCost& q) {
        return std::abs(p.cost) > std::abs(q.cost);
    });
    return out;
}

}  // namespace headlight
