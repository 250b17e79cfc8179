// Measures the probability of a reference translation if the decoder reads only part of the source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Says what cross-attention may read: everything, keys within a window that moves along with the target, the
/// last position (all that a sequence-to-sequence model without attention has), or a named one.
enum class CrossReach { all, window, last, one };

struct CrossLimit {
    CrossReach reach = CrossReach::all;
    int half_width =
        2;  // window: query t attends to keys t − half_width … t + half_width, at the end the last ones
    int position = 0;  // one: of the source
    bool operator==(const CrossLimit&) const = default;
};

/// Expresses the limit as changes, as --change reads them, for a source of this many tokens:
/// "mask:*>0-5@cross". Every query keeps at least one key.
std::vector<std::string> cross_changes(const CrossLimit& limit, int source);

/// Requests a source in an encoder–decoder, with only the start token in the decoder, under the limit.
Result<ForwardRequest> limited_request(const Model& model, const Sequence& source, const CrossLimit& limit);

struct ReferenceTokens {
    std::vector<int> ids;                // with the end token, if the model has one
    std::vector<std::string> labels;     // as shown to users
    std::vector<float> probabilities;    // of each token, given those before it
    std::shared_ptr<const Trace> trace;  // the pass that read them
    /// exp(mean log p): the geometric mean probability of a token.
    float mean_probability() const;
};

/// Tokenizes a translation, with the end token if the model has one.
Result<std::vector<int>> translation_ids(const Model& model, const std::string& target);

/// Reads `ids` (with the end token, if there is one) as the target and returns how probable each was.
Result<ReferenceTokens> read_reference(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                       const std::vector<int>& ids, ThreadPool& pool,
                                       const CancelFlag* cancel, const Trace* past = nullptr);

/// Holds a sentence and its translation; sixty templates of our own that the built-in translator was not
/// trained on, from three to seventeen words, in ascending groups of ten.
struct TranslationPair {
    std::string source, target;
    int words() const;  // of the source
};
const std::vector<TranslationPair>& held_out_pairs();

/// Averages over held-out sentences of similar length.
struct LengthPoint {
    float words = 0, probability = 0, error = 0;  // error: standard error of the mean
};
/// Returns the mean probability of a reference token (geometric over a sentence, else arithmetic), by length.
Result<std::vector<std::vector<LengthPoint>>> reference_by_length(const std::shared_ptr<const Model>& model,
                                                                  std::span<const CrossLimit> limits,
                                                                  ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight
