// Computes and writes gradients of a trace.
#include "trace/trace_gradients.h"

#include <string>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "io/safetensors.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

/// Returns the rules of each layer of each stack under which the trace ran.
std::vector<std::vector<LayerRules>> rules_of(const Trace& trace) {
    std::vector<std::vector<LayerRules>> out;
    for (const auto& stack : trace.activations.stacks) {
        out.emplace_back();
        for (const auto& layer : stack->layers) out.back().push_back(layer->rules());
    }
    return out;
}

}  // namespace

namespace {

Status check_weights(const Trace& trace) {
    if (trace.has_weights()) return success();
    return Error{"A trace holds no weights, so there are no gradients of it; open the model."};
}

}  // namespace

Result<Gradients> backward(const Trace& trace, std::span<const GradientSeed> seeds, ThreadPool& pool,
                           const CancelFlag* cancel, GradientObserver* observer) {
    TRY_STATUS(check_weights(trace));
    auto out = backward(*trace.model, trace.request.inputs, trace.activations, seeds, pool, cancel, observer);
    TRY_STATUS(trace.model->store->check_unchanged());
    return out;
}

Result<std::vector<EmbeddingGradients>> embedding_gradients(const Trace& trace,
                                                            std::span<const GradientSeed> seeds,
                                                            ThreadPool& pool, const CancelFlag* cancel,
                                                            GradientObserver* observer) {
    TRY_STATUS(check_weights(trace));
    auto out = embedding_gradients(*trace.model, trace.request.inputs, trace.activations, seeds, pool, cancel,
                                   observer);
    TRY_STATUS(trace.model->store->check_unchanged());
    return out;
}

std::vector<Matrix> embeddings_of(const Trace& trace) {
    std::vector<Matrix> out;
    for (const auto& stack : trace.activations.stacks) {
        // without patched rows: the rules patch them again
        out.push_back(stack->embeddings().all());
    }
    return out;
}

std::vector<Matrix> mean_embeddings_of(const Trace& trace, ThreadPool& pool) {
    return mean_embeddings(*trace.model, trace.request.inputs, rules_of(trace), pool);
}

Result<std::shared_ptr<const Trace>> run_embeddings(const Trace& trace, std::span<const Matrix> embeddings,
                                                    ThreadPool& pool, const CancelFlag* cancel) {
    TRY(const CheckedSequences inputs, check_sequences(*trace.model, trace.request.inputs));
    const auto rules = rules_of(trace);
    const PassRequest request{inputs, rules, {}, nullptr, embeddings};
    TRY(auto activations, forward(*trace.model, {&request, 1}, pool, cancel));
    return std::make_shared<const Trace>(Trace{trace.model, trace.request, std::move(activations.front())});
}

namespace {

/// Keeps the gradients [heads · queries, keys] of each block, by the pattern and by the scores.
class KeptMaps : public GradientObserver {
public:
    explicit KeptMaps(const Trace& trace) : trace_(trace) {
        int64_t floats = 0;
        const ModelConfig& c = trace.config();
        const auto rows = [&](int block) { return Index{c.heads(block)} * trace.query_count(block); };
        for (int block = 0; block < c.blocks(); ++block) floats += 2 * rows(block) * trace.key_count(block);
        check_fits(floats * static_cast<int64_t>(sizeof(float)));
        for (int block = 0; block < c.blocks(); ++block)
            for (auto* maps : {&weights, &scores})
                maps->push_back(Matrix::Zero(rows(block), trace.key_count(block)));
    }
    void begin(int) override {}
    void see(int block, const GradientTile& tile) override {
        const PatternTile& at = tile.pattern;
        const Index row = Index{at.head} * trace_.query_count(block) + at.first;
        const auto put = [&](Matrix& map, const ConstMatrixRef& from) {
            map.block(row, at.first_key, from.rows(), from.cols()) = from;
        };
        put(weights[block], tile.by_weights);
        put(scores[block], tile.by_scores);
    }
    std::vector<Matrix> weights, scores;

private:
    const Trace& trace_;
};

using Sink = std::function<void(const void*, size_t)>;

TensorToWrite tensor_of(const std::string& name, std::vector<int64_t> shape, const Matrix& values) {
    return {name, "F32", std::move(shape), [&values](const Sink& sink) {
                sink(values.data(), static_cast<size_t>(values.size()) * sizeof(float));
            }};
}

/// Lists a block's tensors, under the names of a trace file.
void list_block(const Trace& trace, int block, const AttentionGradients& g, const KeptMaps& maps,
                std::vector<TensorToWrite>& out) {
    const std::string in = tensors_at(trace.config(), block);
    const int64_t d_head = trace.config().d_head(block), d_value = trace.config().d_value(block),
                  heads = trace.config().heads(block);
    const auto by_head = [&](const char* name, const Matrix& m, int64_t width) {
        out.push_back(tensor_of(in + name, {m.rows(), m.cols() / width, width}, m));
    };
    by_head("hook_q", g.q, d_head);
    const bool scored = trace.rule(block).is_softmax();  // else k has rates too
    if (scored) by_head("hook_k", g.k, d_head);
    by_head("hook_v", g.v, d_value);
    by_head("hook_z", g.z, d_value);
    const std::vector<int64_t> cells{heads, trace.query_count(block), trace.key_count(block)};
    if (scored) out.push_back(tensor_of(in + "hook_attn_scores", cells, maps.scores[block]));
    out.push_back(tensor_of(in + "hook_pattern", cells, maps.weights[block]));
}

std::vector<TensorToWrite> list_gradients(const Trace& trace, const Gradients& g, const KeptMaps& maps) {
    std::vector<TensorToWrite> out;
    for (int s = 0; s < isize(g.stacks); ++s) {
        const StackGradients& stack = g.stacks[s];
        for (int l = 0; l < isize(stack.layers); ++l) {
            const std::string at = trace.config().stacks[s].name + "." + std::to_string(l) + ".";
            const auto rows = [&](const char* name, const Matrix& m) {
                out.push_back(tensor_of(at + name, {m.rows(), m.cols()}, m));
            };
            const LayerGradients& layer = stack.layers[l];
            const auto blocks = trace.config().blocks_of(s, l);
            rows("hook_resid_pre", layer.resid_pre);
            list_block(trace, blocks.front(), layer.self, maps, out);
            if (layer.resid_cross.size()) rows("hook_resid_cross", layer.resid_cross);
            if (blocks.size() > 1) list_block(trace, blocks.back(), layer.second, maps, out);
            rows("hook_resid_mid", layer.resid_mid);
            rows("hook_resid_post", stack.resid[l + 1]);
        }
    }
    return out;
}

}  // namespace

Status write_gradients(const std::filesystem::path& path, const Trace& trace,
                       std::span<const GradientSeed> seeds, ThreadPool& pool) {
    KeptMaps maps(trace);
    TRY(const Gradients gradients, backward(trace, seeds, pool, nullptr, &maps));
    return write_safetensors(path, list_gradients(trace, gradients, maps),
                             {{"format", "headlight-gradients"},
                              {"version", "1"},
                              {"model", trace.model->name},
                              {"mask", trace.request.intervention.mask.name()}},
                             [&] { return trace.model->store->check_unchanged(); });
}

}  // namespace headlight
