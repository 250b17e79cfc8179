// What the model says: the next token, the masked ones, the class of a picture.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct Prediction {
    int id;
    float probability;
};

/// Softmax of one row of logits, and the logarithm of what it divides by: log p = logit − log_sum_exp.
Vector probabilities(const Vector& logits);
float log_sum_exp(const Vector& logits);

/// The `count` indices with the largest values, largest first; of equal ones the lower index.
std::vector<int> ranked_ids(const Vector& values, int count);

/// Of the tokens at a position of the output sequence.
Vector logits_at(const Trace& trace, int position, ThreadPool& pool);
Vector probabilities_at(const Trace& trace, int position, ThreadPool& pool);

/// Where a model predicts: a decoder after its last token, an encoder at every mask token, a vision model at
/// its class token. Empty for models without a head.
std::vector<int> predicting_positions(const Trace& trace);

/// The `count` most probable tokens (or classes) at a position of the output sequence, most probable first.
std::vector<Prediction> predictions(const Trace& trace, int position, int count, ThreadPool& pool);

/// How a token is shown to a person: its text, "⟨E4⟩" for part of a character, "↵" for a line break.
std::string token_label(const Tokenizer& tokenizer, int id);

/// The labels of a sequence's tokens, parts of a character as "天 1/3"; ids alone ("#17") without a
/// tokenizer. `stack` says whose sequence it is.
std::vector<std::string> token_labels(const Model& model, const Sequence& sequence, int stack);

/// Those of one stack of a trace.
std::vector<std::string> token_labels(const Trace& trace, int stack);

/// The label of something predicted: a token, or the name of a class.
std::string prediction_label(const Model& model, int id);
/// The same in a list of tokens, where no text around it shows a blank in front: "␣own".
std::string listed_label(const Model& model, int id);
/// The same of a token of a stack's own vocabulary: a translator's source has another than its target.
std::string listed_label(const Model& model, int id, int stack);

}  // namespace headlight
