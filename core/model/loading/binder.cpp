// Binds tensors to a model's weights.
#include "model/loading/binder.h"

#include <cstring>

#include "base/check.h"
#include "model/loading/unread.h"

namespace headlight {

namespace {

bool same_values(const Linear& a, const Linear& b) {
    if (a.weight == b.weight) return true;
    return a.dtype == b.dtype && a.in == b.in && a.out == b.out &&
           std::memcmp(a.weight, b.weight, a.dtype->size(a.in) * a.out) == 0;
}

}  // namespace

void Binder::mark(const std::string& name) {
    if (const StoredTensor* tensor = store_.find(name)) read_.insert(tensor);
}

std::string Binder::stored_of(const std::vector<std::string>& names) {
    for (const auto& name : names) mark(name);
    for (const auto& name : names)
        if (has(name)) return name;
    return names.front();
}

Norm Binder::norm(const std::string& name, int64_t width, bool bias) {
    const bool old = !store_.has(name + ".weight") && store_.has(name + ".gamma");
    Norm n;
    n.weight = vector(name + (old ? ".gamma" : ".weight"), {width});
    if (bias) n.bias = vector(name + (old ? ".beta" : ".bias"), {width});
    if (c_.norm_weight_offset != 0 && n.weight) {
        float* moved = store_.make(width);
        for (int64_t i = 0; i < width; ++i) moved[i] = n.weight[i] + c_.norm_weight_offset;
        n.weight = moved;
    }
    return n;
}

const float* Binder::vector(const std::string& name, const std::vector<int64_t>& shape) {
    if (!error_.empty()) return nullptr;
    mark(name);
    const auto found = store_.tensor(name, shape);
    if (found) return *found;
    error_ = found.error().message;
    return nullptr;
}

Linear Binder::linear(const std::string& name, int64_t in, int64_t out, bool bias) {
    Linear w = table(name, out, in);
    if (store_.is_gguf() ? has(name + ".bias") : bias) w.bias = vector(name + ".bias", {out});
    return w;
}

Linear Binder::conv1d(const std::string& name, int64_t in, int64_t out) {
    Linear w = matrix(name + ".weight", in, out, WeightLayout::in_out);
    w.bias = vector(name + ".bias", {out});
    return w;
}

Linear Binder::matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout) {
    if (!error_.empty()) return {};
    mark(name);
    const StoredTensor* stored = store_.find(name);
    if (const auto bound = matrices_.find(stored);
        bound != matrices_.end() && bound->second.in == in && bound->second.out == out)
        return bound->second;
    const auto found = store_.matrix(name, in, out, layout);
    if (found) return matrices_[stored] = *found;
    error_ = found.error().message;
    return {};
}

Linear Binder::table(const std::string& name, int64_t rows, int64_t width) {
    return matrix(name + ".weight", width, rows, WeightLayout::out_in);
}

Linear Binder::tied_table(const std::vector<std::string>& names, int64_t rows, int64_t width) {
    std::vector<std::string> weights;
    for (const auto& name : names) weights.push_back(name + ".weight");
    const std::string stored = stored_of(weights);
    const Linear own = matrix(stored, width, rows, WeightLayout::out_in);
    for (const auto& name : weights) {  // equal copies are one table
        const auto bound = matrices_.find(store_.find(name));
        if (own && name != stored && bound != matrices_.end() && same_values(own, bound->second))
            return matrices_[store_.find(stored)] = bound->second;
    }
    return own;
}

Linear Binder::embedding(const std::string& name, int64_t rows, int64_t width, const std::string& head) {
    return has(name + ".weight") || !c_.tied_unembedding || !has(head + ".weight") ? table(name, rows, width)
                                                                                   : table(head, rows, width);
}

int64_t Binder::inner() const { return int64_t{c_.stacks[0].heads} * c_.stacks[0].d_head; }

void Binder::split_qkv(AttentionWeights& into, const Linear& qkv, bool by_head) {
    if (!qkv) return;
    const int64_t inner = this->inner(), d = c_.stacks[0].d_head, shared = int64_t{c_.stacks[0].kv_heads} * d;
    HEADLIGHT_CHECK(qkv.out == inner + 2 * shared && (!by_head || shared == inner));
    if (!by_head) {
        into.q = qkv.columns(0, inner);
        into.k = qkv.columns(inner, shared);
        into.v = qkv.columns(inner + shared, shared);
        return;
    }
    Linear* const parts[] = {&into.q, &into.k, &into.v};
    for (int64_t p = 0; p < 3; ++p) {
        Linear& part = *parts[p];
        part = qkv.columns(p * d, inner);
        part.group = d;
        part.group_stride = 3 * d * qkv.stride;
        if (!qkv.bias) continue;
        float* bias = store_.make(inner);
        for (int64_t i = 0; i < inner; ++i) bias[i] = qkv.bias[i / d * 3 * d + p * d + i % d];
        part.bias = bias;
    }
}

void Binder::attention(AttentionWeights& into, const StackConfig& s, const std::string& at, const char* q,
                       const char* k, const char* v, const char* o, const char* fused) {
    const int64_t inner = int64_t{s.heads} * s.d_head, shared = int64_t{s.kv_heads} * s.d_head;
    if (*fused && store_.is_gguf() && has(at + fused + ".weight")) {
        split_qkv(into, linear(at + fused, c_.d_model, inner + 2 * shared, c_.attention_bias), false);
    } else {
        into.q = linear(at + q, c_.d_model, inner, c_.attention_bias);
        into.k = linear(at + k, c_.d_model, shared, c_.attention_bias);
        into.v = linear(at + v, c_.d_model, shared, c_.attention_bias);
    }
    into.o = linear(at + o, inner, c_.d_model, c_.output_bias);
}

void Binder::mlp(LayerWeights& into, const StackConfig& stack, const std::string& in, const std::string& out,
                 const std::string& gate) {
    if (!gate.empty()) into.mlp_gate = linear(gate, c_.d_model, stack.d_mlp, c_.mlp_bias);
    into.mlp_in = linear(in, c_.d_model, stack.d_mlp, c_.mlp_bias);
    into.mlp_out = linear(out, stack.d_mlp, c_.d_model, c_.mlp_bias);
}

Linear Binder::unembedding(const Linear& embedding, const std::string& name, int64_t width,
                           const std::vector<std::string>& biases) {
    Linear w = embedding;
    if (has(name + ".weight")) {
        w = table(name, c_.vocab, width);
        if (w && embedding && same_values(w, embedding)) w = embedding;
    } else if (!c_.tied_unembedding) {
        return {};
    }
    if (!biases.empty())
        w.bias = vector(stored_of(biases), {c_.vocab});
    else if (store_.is_gguf() && has(name + ".bias"))
        w.bias = vector(name + ".bias", {c_.vocab});
    return w;
}

Result<ModelWeights> Binder::finish(ModelWeights weights) const {
    if (!error_.empty()) return Error{error_};
    TRY_STATUS(check_all_read(store_, c_, read_));
    return weights;
}

Result<ModelWeights> Binder::finish(StackWeights stack, const Linear& unembedding) const {
    ModelWeights w;
    w.unembedding = unembedding;
    w.stacks.push_back(std::move(stack));
    return finish(std::move(w));
}

Result<ModelWeights> Binder::finish(StackWeights stack, const MlmHeadNames& names, bool has_head) {
    ModelWeights w;
    if (has_head) {
        w.head_dense = linear(names.dense, c_.d_model, c_.d_embed, c_.head_dense_bias);
        w.head_norm = norm(names.norm, c_.d_embed, c_.norm_bias);
        w.unembedding = unembedding(
            stack.token_embedding, names.decoder, c_.d_embed,
            c_.head_bias ? std::vector{names.decoder + ".bias", names.bias} : std::vector<std::string>{});
    }
    w.stacks.push_back(std::move(stack));
    return finish(std::move(w));
}

}  // namespace headlight
