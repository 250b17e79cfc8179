// Generates text: a decoder continues, an encoder–decoder writes its target, an encoder fills its masks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/prediction/predict.h"

namespace headlight {

/// Says how to choose next tokens: the most probable; random, if temperature > 0; the best of several
/// hypotheses, if beams > 1 and temperature = 0.
struct SamplingParams {
    float temperature = 0.0f;
    int top_k = 0;  // samples from the k most probable; 0: all
    float top_p =
        1.0f;  // then from the most probable that make up p (nucleus sampling, Holtzman et al. 2020)
    uint64_t seed = 0;
    int beams = 1;
    float length_penalty = 1.0f;  // score of a hypothesis = Σ log p / length^penalty, including its end token
    bool operator==(const SamplingParams&) const = default;
};

/// Bound the beams, the alternatives listed per token, and the tokens generated at once.
constexpr int kMaxBeams = 8, kAlternatives = 9, kMaxWritten = 4096;

struct GenerationRequest {
    SamplingParams sampling;
    int length = 128;         // maximum tokens, including the end token
    std::vector<int> forced;  // first tokens, chosen by the user
    bool operator==(const GenerationRequest&) const = default;
};

/// Holds a generated token, with its probability in the model and its alternatives.
struct GeneratedToken {
    int id;
    float probability;
    std::vector<Prediction> alternatives;  // most probable first; includes the token itself if it is probable
};

struct Generation {
    std::vector<GeneratedToken> tokens;  // with the end token, if `ended`
    bool ended = false;
    float score = 0;                     // Σ log p / length^penalty
    std::shared_ptr<const Trace> trace;  // pass that chose the last token: it has read all tokens before it

    std::vector<int> ids() const;  // without the end token
};

/// Watches a text being written.
class WritingObserver {
public:
    virtual ~WritingObserver() = default;
    /// Returns whether to show what is written so far.
    virtual bool is_due() = 0;
    /// Takes what is written so far; its failure ends the writing.
    virtual Status see(Generation so_far) = 0;
};

/// Continues the request's last sequence until an end token, the requested length or a full context. Each
/// step computes one token and reuses the rest. Beam search finds the hypotheses of Hugging Face transformers
/// (early_stopping = False). Fails for models that generate no text, and if `cancel` was set. `seen` watches
/// each token but those of a beam search, which may still drop them; or null.
Result<Generation> generate(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
                            const GenerationRequest& asked, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr, const Trace* past = nullptr,
                            WritingObserver* seen = nullptr);

/// Returns the ids that a model adds (without the end token), or an encoder's text with its masks filled.
Result<std::vector<int>> generated_ids(const std::shared_ptr<const Model>& model,
                                       const ForwardRequest& request, const GenerationRequest& asked,
                                       ThreadPool& pool);

/// Appends a token to the sequence that a model writes.
void append_token(const Model& model, Sequence& sequence, int id);

/// Draws a token by its probability, among those that `sampling` leaves.
int draw_token(const Vector& logits, const SamplingParams& sampling, double uniform);

/// Explains why a model generates no text, or returns null.
const char* why_cannot_generate(const Model& model);

}  // namespace headlight
