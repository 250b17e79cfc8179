// Runs the reverse pass of a trace, reruns it from other embeddings, and writes its gradients.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "model/backward/backward.h"
#include "trace/trace.h"

namespace headlight {

/// Runs backward() through a trace's activations, under its masks and changes. Fails without weights.
Result<Gradients> backward(const Trace& trace, std::span<const GradientSeed> seeds, ThreadPool& pool,
                           const CancelFlag* cancel = nullptr, GradientObserver* observer = nullptr);
Result<std::vector<EmbeddingGradients>> embedding_gradients(const Trace& trace,
                                                            std::span<const GradientSeed> seeds,
                                                            ThreadPool& pool,
                                                            const CancelFlag* cancel = nullptr,
                                                            GradientObserver* observer = nullptr);

/// [n, d_model] of each stack: the input of layer 0; mean_embeddings_of: of mean token embeddings.
std::vector<Matrix> embeddings_of(const Trace& trace);
std::vector<Matrix> mean_embeddings_of(const Trace& trace, ThreadPool& pool);

/// Reruns the trace with other embeddings in place of its tokens', under the same masks and changes.
Result<std::shared_ptr<const Trace>> run_embeddings(const Trace& trace, std::span<const Matrix> embeddings,
                                                    ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Writes the gradients of the seeds' sum by every activation that a trace file names, under the same names
/// (blocks.0.attn.hook_q, hook_attn_scores, hook_pattern, …; resid_pre, resid_mid and resid_post of each
/// layer), as safetensors. Holds scores and patterns until they are written: memory grows with n².
Status write_gradients(const std::filesystem::path& path, const Trace& trace,
                       std::span<const GradientSeed> seeds, ThreadPool& pool);

}  // namespace headlight
