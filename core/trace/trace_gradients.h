// The reverse pass of a trace, the same run from other embeddings, and the file that keeps its gradients.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "model/backward/backward.h"
#include "trace/trace.h"

namespace headlight {

/// backward() through what a trace left, under its masks and changes. Fails where the trace holds no weights.
Result<Gradients> backward(const Trace& trace, std::span<const GradientSeed> seeds, ThreadPool& pool,
                           const CancelFlag* cancel = nullptr, GradientObserver* observer = nullptr);
/// embedding_gradients() likewise.
Result<std::vector<EmbeddingGradients>> embedding_gradients(const Trace& trace,
                                                            std::span<const GradientSeed> seeds,
                                                            ThreadPool& pool,
                                                            const CancelFlag* cancel = nullptr,
                                                            GradientObserver* observer = nullptr);

/// [n, d_model] of each stack, what entered layer 0; and the same if every token were the mean of the
/// vocabulary (mean_embeddings).
std::vector<Matrix> embeddings_of(const Trace& trace);
std::vector<Matrix> mean_embeddings_of(const Trace& trace, ThreadPool& pool);

/// The trace's run with other embeddings in the place of its tokens', under the same masks and changes.
Result<std::shared_ptr<const Trace>> run_embeddings(const Trace& trace, std::span<const Matrix> embeddings,
                                                    ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Writes the gradients of the seeds' sum by everything that a trace file names, under the same names
/// (blocks.0.attn.hook_q, hook_attn_scores, hook_pattern, …; resid_pre, resid_mid and resid_post of each
/// layer), as safetensors. Scores and patterns are held until they are written: memory grows with n².
Status write_gradients(const std::filesystem::path& path, const Trace& trace,
                       std::span<const GradientSeed> seeds, ThreadPool& pool);

}  // namespace headlight
