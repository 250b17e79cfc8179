// A model writes: a decoder continues, an encoder–decoder writes its target, an encoder fills its masks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/prediction/predict.h"

namespace headlight {

/// How the next tokens are chosen: the most probable one; drawn, where temperature > 0; the best of several
/// hypotheses, where beams > 1 and nothing is drawn.
struct SamplingParams {
    float temperature = 0.0f;
    int top_k = 0;  // draw among the k most probable; 0: all
    float top_p =
        1.0f;  // … then among the most probable that make up p (nucleus sampling, Holtzman et al. 2020)
    uint64_t seed = 0;
    int beams = 1;
    float length_penalty = 1.0f;  // a hypothesis's score is Σ log p / length^penalty, its end token counted
    bool operator==(const SamplingParams&) const = default;
};

/// The most beams, alternatives of a token, and tokens that are written at once.
constexpr int kMaxBeams = 8, kAlternatives = 9, kMaxWritten = 4096;

struct GenerationRequest {
    SamplingParams sampling;
    int length = 128;         // most tokens, the end token counted
    std::vector<int> forced;  // the first tokens, chosen by a person
    bool operator==(const GenerationRequest&) const = default;
};

/// A token that was written, with its probability in the model and what else stood to choice.
struct GeneratedToken {
    int id;
    float probability;
    std::vector<Prediction>
        alternatives;  // most probable first; the token itself is among them where it is probable
};

struct Generation {
    std::vector<GeneratedToken> tokens;  // with the end token, where `ended`
    bool ended = false;
    float score = 0;  // Σ log p / length^penalty
    std::shared_ptr<const Trace>
        trace;  // the pass that chose the last token: it has read all tokens before it

    std::vector<int> ids() const;  // without the end token
};

/// Writes on behind the request's last sequence until an end token, the wanted length or a full context. Each
/// step computes one token: the rest is reused. Beam search gives the hypotheses of Hugging Face transformers
/// (early_stopping = False). Fails for models that write no text, and when `cancel` was set.
Result<Generation> generate(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
                            const GenerationRequest& asked, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr, const Trace* past = nullptr);

/// The ids that a model adds to its input (without the end token), or an encoder's whole text with its masks
/// filled.
Result<std::vector<int>> generated_ids(const std::shared_ptr<const Model>& model,
                                       const ForwardRequest& request, const GenerationRequest& asked,
                                       ThreadPool& pool);

/// A token behind the sequence that a model writes.
void append_token(const Model& model, Sequence& sequence, int id);

/// One draw from the tokens that decoding leaves, by their probabilities.
int draw_token(const Vector& logits, const SamplingParams& sampling, double uniform);

/// Why a model writes no text, or null.
const char* why_cannot_generate(const Model& model);

}  // namespace headlight
