// Adds what peft trains for parameters that hold the matrices of all experts of a layer (target_parameters):
// the rows of A of one expert after those of another; the columns of B of all experts side by side at each
// rank.
#include "model/loading/adapter_experts.h"

#include <charconv>

namespace headlight {

namespace {

constexpr std::string_view kInner = ".base_layer";  // of the first of two parameters of one module

/// "model.layers.3.mlp.experts" of the same with ".base_layer" behind it.
std::string_view outer_module(std::string_view module) {
    while (module.ends_with(kInner)) module.remove_suffix(kInner.size());
    return module;
}

/// The layer of experts that a module names: 3 of "model.layers.3.mlp.experts"; −1: it names no experts.
int layer_of_experts(const std::string& module) {
    const std::string_view name = outer_module(module);
    if (!name.ends_with("experts")) return -1;
    const size_t end = name.find_last_of("0123456789");
    if (end == std::string_view::npos) return -1;
    const size_t before = name.find_last_not_of("0123456789", end), begin = before + 1;
    int layer = -1;
    std::from_chars(name.data() + begin, name.data() + end + 1, layer);
    return layer;
}

bool is_matrix(const StoredTensor* tensor) { return tensor && tensor->shape.size() == 2; }

}  // namespace

/// The parameter is known by its shape: files name its module alone.
Adapter::NamedModule* Adapter::experts_module(const ExpertParameter& of, const Linear& w) {
    for (NamedModule& module : modules_) {
        const Module& own = module.second;
        if (layer_of_experts(module.first) == of.layer && !own.embedding && is_matrix(own.a) &&
            is_matrix(own.b) && own.a->shape[1] == w.in && own.b->shape[0] == of.outputs)
            return &module;
    }
    return nullptr;
}

Status Adapter::read_experts(NamedModule& module, const ExpertParameter& of, const Linear& w, int64_t rank) {
    auto& [name, own] = module;
    const int64_t columns = rank * of.count;
    TRY(own.expert_a, values(*own.a, {columns, w.in}, name + ".lora_A"));
    TRY(const float* stored, values(*own.b, {of.outputs, columns}, name + ".lora_B"));
    std::vector<float> by_expert(size_t(of.outputs * columns));
    for (int64_t e = 0; e < of.count; ++e)
        for (int64_t o = 0; o < of.outputs; ++o)
            for (int64_t r = 0; r < rank; ++r)
                by_expert[size_t((e * of.outputs + o) * rank + r)] = stored[o * columns + r * of.count + e];
    values_->back() = std::move(by_expert);  // in place of what was stored
    own.expert_b = values_->back().data();
    return success();
}

Status Adapter::attach_expert(const ExpertParameter& of, Linear& w) {
    NamedModule* const found = experts_module(of, w);
    if (!found) return success();
    Module& own = found->second;
    const std::string name = std::string(outer_module(found->first)) + "." + of.name;
    const int64_t rows = own.a->shape[0], rank = rows / of.count, said = config_.rank_of(name);
    if (rank * of.count != rows || rank != said)
        return does_not_fit(found->first, "has " + std::to_string(rows) + " rows where " +
                                              std::to_string(of.count) + " experts of rank " +
                                              std::to_string(said) + " are called for");
    if (!own.expert_a) TRY_STATUS(read_experts(*found, of, w, rank));
    const LowRank added{.in = w.in,
                        .out = w.out,
                        .rank = rank,
                        .a = own.expert_a + of.expert * rank * w.in,
                        .b = own.expert_b + (of.expert * of.outputs + of.first) * rank};
    own.number.reset();  // each expert has its own
    add(own, added, name, w);
    w.adapter = &added_[*own.number];
    return success();
}

Status adapt_expert(WeightStore& store, ExpertPlace at, const ExpertsSpec& of, ExpertWeights& expert) {
    const auto attach = [&](Linear& w, const char* name, int64_t first, int64_t outputs) {
        return w ? store.attach_expert({name, at.layer, at.expert, of.count, first, outputs}, w) : success();
    };
    constexpr const char* kReads = "gate_up_proj";
    const int64_t gate = expert.gate && !of.alternating ? of.width : 0;
    TRY_STATUS(attach(expert.gate, kReads, 0, gate + expert.in.out));
    TRY_STATUS(attach(expert.in, kReads, gate, gate + expert.in.out));
    return attach(expert.out, "down_proj", 0, expert.out.out);
}

}  // namespace headlight
