// Reads tensors by slot.
#include "model/loading/named_tensors.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "model/loading/gguf_tensors.h"
#include "model/loading/made_tensors.h"
#include "model/loading/unread.h"

namespace headlight {

bool same_values(const Linear& a, const Linear& b) {
    if (a.weight == b.weight) return true;
    return a.dtype == b.dtype && a.in == b.in && a.out == b.out && a.order == b.order &&
           std::memcmp(a.weight, b.weight, a.dtype->size(a.in) * a.out) == 0;
}

std::vector<int64_t> axes_of(const TensorShape& shape, Stored stored, const LayerSpec& layer) {
    std::vector<int64_t> out = shape.axes();
    const AttentionGate& gate = layer.attention.gate;
    if (stored == Stored::parts && !gate.norm_shared) out = {gate.norms, shape.out / gate.norms};
    if (stored == Stored::pixels) out.insert(out.begin(), shape.in ? 1 : 2, 1);
    if (stored == Stored::scalar) out = {};
    if (stored == Stored::kernels) out.insert(out.begin() + 1, 1);
    if (stored == Stored::one_row) out = {1, shape.out};
    return out;
}

NamedTensors::NamedTensors(WeightStore& store, const ModelConfig& config, const TensorNames& names)
    : store_(store), c_(config), names_(names) {
    store.set_prefixes(store.is_gguf()
                           ? std::vector<std::string>{""}
                           : std::vector<std::string>(names.prefixes.begin(), names.prefixes.end()));
}

// A decoder alone is the second stack of its files.
std::vector<const TensorRow*> NamedTensors::rows(Slot slot, SlotPlace at) const {
    std::vector<const TensorRow*> out;
    const int stack = at.stack + c_.stacks[at.stack].decoder_alone;
    const std::span<const TensorRow> beside = at.second ? names_.beside : std::span<const TensorRow>{};
    for (const auto table : {beside, names_.rows, names_.more_rows, names_.last_rows, gguf_tensors()}) {
        for (const TensorRow& row : table)
            if (row.slot == slot && (row.stack < 0 || row.stack == stack) &&
                *(store_.is_gguf() ? row.gguf : row.name))
                out.push_back(&row);
        if (!out.empty()) break;  // a family's own rows replace those that it shares
    }
    return out;
}

namespace {
/// Returns the number of the files' layer that holds a tensor of one.
int number_of(const StackConfig& stack, Slot slot, int layer) {
    const bool of_mlp = (slot >= Slot::mlp_norm && slot <= Slot::mlp_scale) ||
                        (slot >= Slot::router && slot <= Slot::experts_post_norm);
    const std::vector<int>& apart = of_mlp ? stack.mlp_at : stack.attention_at;
    if (!apart.empty()) return apart[layer];
    return stack.layers[layer].group >= 0 ? stack.layers[layer].group : layer;
}
}  // namespace

std::string NamedTensors::expanded(const TensorRow& row, SlotPlace at) const {
    std::string out;
    for (const char* c = store_.is_gguf() ? row.gguf : row.name; *c; ++c) {
        const StackConfig& stack = c_.stacks[at.stack];
        if (*c == '#')
            out += std::to_string(number_of(stack, row.slot, at.layer));
        else if (*c == '%')
            out += std::to_string(at.expert);
        else if (*c == '@')
            out += stack.decoder_alone ? "decoder" : store_.is_gguf() ? stack.name.substr(0, 3) : stack.name;
        else
            out += *c;
    }
    return out;
}

std::vector<std::string> NamedTensors::names(Slot slot, SlotPlace at) const {
    std::vector<std::string> out;
    for (const TensorRow* row : rows(slot, at)) out.push_back(expanded(*row, at));
    return out;
}

const TensorRow* NamedTensors::stored_row(Slot slot, SlotPlace at) const {
    const auto all = rows(slot, at);
    const auto stored = std::find_if(all.begin(), all.end(), [&](const TensorRow* row) {
        const std::string name = expanded(*row, at);
        return has(name) || has(name + ".weight");
    });
    return all.empty() ? nullptr : stored == all.end() ? all.front() : *stored;
}

bool NamedTensors::has(Slot slot, SlotPlace at, const char* ending) const {
    const auto all = names(slot, at);
    return std::any_of(all.begin(), all.end(), [&](const std::string& name) { return has(name + ending); });
}

void NamedTensors::mark(const std::string& name) {
    if (const StoredTensor* tensor = store_.find(name)) read_.insert(tensor);
}

std::string NamedTensors::stored_of(const std::vector<std::string>& names, const char* ending) {
    for (const auto& name : names) mark(name + ending);
    for (const auto& name : names)
        if (has(name + ending)) return name + ending;
    return names.front() + ending;
}

const float* NamedTensors::vector(const std::string& name, const std::vector<int64_t>& shape) {
    if (!error_.empty()) return nullptr;
    mark(name);
    const StoredTensor* stored = store_.find(name);
    if (const auto bound = vectors_.find(stored); bound != vectors_.end() && stored && stored->shape == shape)
        return bound->second;
    const auto found = store_.tensor(name, shape);
    if (found) return vectors_[stored] = *found;
    error_ = found.error().message;
    return nullptr;
}

Norm NamedTensors::norm_without_weight(const TensorShape& shape) {
    float* ones = store_.make(shape.out);
    std::fill(ones, ones + shape.out, 1.0f);
    return {ones, nullptr};
}

Norm NamedTensors::norm(const std::vector<std::string>& names, const TensorShape& shape) {
    const std::string weight = stored_of(names, ".weight"), name = weight.substr(0, weight.rfind('.'));
    const bool old = !has(weight) && has(name + ".gamma"),
               bare = store_.is_gguf() && !has(weight) && has(name);  // Falcon-H1's ffn_norm
    const int64_t count = shape.out * std::max<int64_t>(shape.in, 1);
    Norm n;
    n.weight = vector(name + (old ? ".gamma" : bare ? "" : ".weight"), shape.axes());
    if (shape.bias) n.bias = vector(name + (old ? ".beta" : ".bias"), shape.axes());
    if (c_.norm_weight_offset != 0 && n.weight) {
        float* moved = store_.make(count);
        for (int64_t i = 0; i < count; ++i) moved[i] = n.weight[i] + c_.norm_weight_offset;
        n.weight = moved;
    }
    return n;
}

/// Joins the weights of norms that are stored one by one.
Norm NamedTensors::norm_of_rows(const std::string& name, const TensorShape& shape) {
    float* all = store_.make(shape.out * shape.in);
    for (int64_t i = 0; i < shape.out; ++i) {
        const float* row = vector(name + "." + std::to_string(i) + ".weight", {shape.in});
        if (row) std::copy(row, row + shape.in, all + i * shape.in);
    }
    return {all, nullptr};
}

Linear NamedTensors::matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout) {
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

Linear NamedTensors::slice(const std::string& name, int64_t count, int64_t index, int64_t in, int64_t out,
                           WeightLayout layout) {
    if (!error_.empty()) return {};
    const auto found = store_.slice(name, count, index, in, out, layout);
    if (found) return *found;
    error_ = found.error().message;
    return {};
}

Linear NamedTensors::grouped(const std::string& name, int64_t in, int64_t out) {
    const StoredTensor* stored = store_.find(name);
    const int64_t own = stored && stored->shape.size() == 3 ? std::max<int64_t>(stored->shape[1], 1) : in;
    if (in % own != 0 || out % (in / own) != 0) return matrix(name, in, out, WeightLayout::out_in);  // fails
    const float* values = vector(name, {out, own, 1});
    return values ? block_diagonal(store_, values, in, out, own) : Linear();
}

Linear NamedTensors::convolution(const std::string& name) {
    const ConvolutionSpec& spec = *c_.stacks[0].layers[0].convolution;
    const int64_t own = c_.d_model / spec.groups;
    const float* values = vector(name, {c_.d_model, own, spec.kernel});
    return values ? unfolded(store_, values, c_.d_model, own, spec.kernel) : Linear();
}

/// Joins the outputs of square matrices that are stored one by one.
Linear NamedTensors::squares(const std::vector<std::string>& names, const TensorShape& shape) {
    const int64_t count = shape.out / shape.in;
    if (store_.is_gguf()) {
        Linear all = slice(stored_of(names, ".weight"), count, 0, shape.in, shape.in, WeightLayout::out_in);
        all.out *= count;  // the others follow the first
        return all;
    }
    std::vector<Linear> parts;
    for (int64_t i = 0; i < count; ++i)
        parts.push_back(matrix(stored_of({names.front() + "." + std::to_string(i)}, ".weight"), shape.in,
                               shape.in, WeightLayout::out_in));
    for (const Linear& part : parts)
        if (part.adapter)
            note(Error{names.front() +
                       ": what an adapter adds to it is not computed; merge the adapter first."});
    return error_.empty() ? joined_outputs(store_, parts) : Linear();
}

Linear NamedTensors::linear(const TensorRow& row, const std::vector<std::string>& names,
                            const TensorShape& shape) {
    const std::string weight = stored_of(names, ".weight"),
                      bias = weight.substr(0, weight.rfind('.')) + ".bias";
    Linear w;
    if (row.stored == Stored::pixels) {
        std::vector<int64_t> axes{1, shape.out, shape.in};  // a table
        if (row.slot == Slot::patch) axes = {shape.out, c_.vision.channels, c_.vision.patch, c_.vision.patch};
        const float* values = vector(row.slot == Slot::patch ? weight : names.front(), axes);
        if (values) w = Linear::of_floats(values, nullptr, shape.in, shape.out, WeightLayout::out_in);
    } else if (row.stored == Stored::each_square) {
        w = squares(names, shape);
    } else if (row.stored == Stored::groups) {
        w = grouped(weight, shape.in, shape.out);
    } else if (row.stored == Stored::convolution) {
        w = convolution(weight);
    } else {
        w = matrix(weight, shape.in, shape.out,
                   row.stored == Stored::in_out ? WeightLayout::in_out : WeightLayout::out_in);
    }
    if (store_.is_gguf() ? has(bias) && row.slot != Slot::unembedding : shape.bias)
        w.bias = vector(bias, {shape.out});
    return w;
}

// Files store tied tensors under any of their names; if they hold several that differ, each is used under its
// own name (transformers 5).
Linear NamedTensors::tied_table(const std::vector<std::string>& names, int64_t rows, int64_t width) {
    const std::string stored = stored_of(names, ".weight");
    const Linear own = matrix(stored, width, rows, WeightLayout::out_in);
    for (const auto& name : names) {  // equal copies are one table
        const auto bound = matrices_.find(store_.find(name + ".weight"));
        if (own && name + ".weight" != stored && bound != matrices_.end() && same_values(own, bound->second))
            return matrices_[store_.find(stored)] = bound->second;
    }
    return own;
}

Linear NamedTensors::expert_matrix(const TensorRow& row, const std::vector<std::string>& names,
                                   const TensorShape& shape, SlotPlace at) {
    const bool in_out = row.stored == Stored::stacked_in_out;
    const WeightLayout layout = in_out ? WeightLayout::in_out : WeightLayout::out_in;
    if (row.stored != Stored::stacked && !in_out)
        return matrix(stored_of(names, ".weight"), shape.in, shape.out, layout);
    if (!error_.empty()) return {};
    const bool bare = std::any_of(names.begin(), names.end(), [this](const auto& n) { return has(n); });
    const std::string name = stored_of(names, bare ? "" : ".weight");
    const int64_t count = c_.stacks[at.stack].layers[at.layer].mlp.experts->count;
    Linear w = slice(name, count, at.expert, shape.in, shape.out, layout);
    if (!w) return w;
    const std::string bias = bare ? name + "_bias" : name.substr(0, name.rfind('.')) + ".bias";
    if (store_.is_gguf() ? !has(bias) : !shape.bias) return w;
    const float* biases = vector(bias, {count, shape.out});
    w.bias = biases ? biases + at.expert * shape.out : nullptr;
    return w;
}

Status NamedTensors::finish() const {
    if (!error_.empty()) return Error{error_};
    return check_all_read(store_, c_, read_);
}

}  // namespace headlight
