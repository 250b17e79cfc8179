// A translator whose decoder may read only some of the source, and how probable the reference translation is
// to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// What cross-attention may read: everything, the keys within a window that moves along with the target, the
/// last position (all that a sequence-to-sequence model without attention has), or one that is named.
enum class CrossReach { all, window, last, one };

struct CrossLimit {
    CrossReach reach = CrossReach::all;
    int half_width =
        2;  // window: query t sees keys t − half_width … t + half_width, at the end the last ones
    int position = 0;  // one: of the source
    bool operator==(const CrossLimit&) const = default;
};

/// The limit as changes, spelled as --change reads them, for a source of so many tokens: "mask:*>0-5@cross".
/// Every query keeps at least one key.
std::vector<std::string> cross_changes(const CrossLimit& limit, int source);

/// A source in a model with encoder and decoder, its decoder with nothing but the start token, under the
/// limit.
Result<ForwardRequest> limited_request(const Model& model, const Sequence& source, const CrossLimit& limit);

/// A reference translation as tokens.
struct ReferenceTokens {
    std::vector<int> ids;                // with the end token where the model has one
    std::vector<std::string> labels;     // as people read them
    std::vector<float> probabilities;    // of each, where those before it were read
    std::shared_ptr<const Trace> trace;  // which read them
    /// exp of the mean log p: what each token has on average.
    float mean_probability() const;
};

/// The tokens of a translation, with the end token where the model has one.
Result<std::vector<int>> translation_ids(const Model& model, const std::string& target);

/// Reads `ids` (with the end token where there is one) as the target and says how probable each was.
Result<ReferenceTokens> read_reference(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                       const std::vector<int>& ids, ThreadPool& pool,
                                       const CancelFlag* cancel, const Trace* past = nullptr);

/// A sentence and its translation; sixty of our own templates that the built-in translator was not trained
/// on, from three to seventeen words, in ascending groups of ten.
struct TranslationPair {
    std::string source, target;
    int words() const;  // of the source
};
const std::vector<TranslationPair>& held_out_pairs();

/// The mean over held-out sentences of like length.
struct LengthPoint {
    float words = 0, probability = 0, error = 0;  // error: standard error of the mean
};
/// For each limit the mean probability of a reference token (geometric over a sentence, arithmetic over a
/// group of ten), by length.
Result<std::vector<std::vector<LengthPoint>>> reference_by_length(const std::shared_ptr<const Model>& model,
                                                                  std::span<const CrossLimit> limits,
                                                                  ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight
