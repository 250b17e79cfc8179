// Computes and labels predictions: the next token, masked ones, the class of an image.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct Prediction {
    int id;
    float probability;
};

/// p = softmax(logits); log_sum_exp: log p = logit − log_sum_exp.
Vector probabilities(const Vector& logits);
float log_sum_exp(const Vector& logits);

/// Returns the indices of the `count` largest values, descending; the lower of equal ones first.
std::vector<int> ranked_ids(const Vector& values, int count);

/// Computes the logits at a position of the output sequence.
Vector logits_at(const Trace& trace, int position, ThreadPool& pool);
/// [intervention, vocab]: computes the logits at a position of a run under other interventions, with its
/// mask, all of them together.
Result<Matrix> logits_under(const Trace& run, const std::vector<Intervention>& changed, int position,
                            ThreadPool& pool, const CancelFlag* cancel);
Vector probabilities_at(const Trace& trace, int position, ThreadPool& pool);

/// Returns where a model predicts: a decoder after its last token, an encoder at every mask token, a vision
/// model at its class token. Empty for models without a head.
std::vector<int> predicting_positions(const Trace& trace);

/// Returns the `count` most probable tokens (or classes) at a position of the output, most probable first.
std::vector<Prediction> predictions(const Trace& trace, int position, int count, ThreadPool& pool);

/// Labels a token for users: its text, "⟨E4⟩" for part of a character, "↵" for a line break.
std::string token_label(const Tokenizer& tokenizer, int id);

/// Labels a sequence's tokens, parts of a character as "天 1/3"; by ids ("#17") without a tokenizer.
std::vector<std::string> token_labels(const Model& model, const Sequence& sequence, int stack);

std::vector<std::string> token_labels(const Trace& trace, int stack);

/// Labels a prediction: a token, or a class.
std::string prediction_label(const Model& model, int id);
/// Labels it for a list, where a leading space would not show: "␣own".
std::string listed_label(const Model& model, int id);
/// Labels a token of a stack's own vocabulary for a list: a translator may have two vocabularies.
std::string listed_label(const Model& model, int id, int stack);

}  // namespace headlight
