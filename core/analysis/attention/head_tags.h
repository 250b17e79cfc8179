// Names what a head does, from measurements on random tokens and on the text.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "analysis/attention/head_stats.h"
#include "model/heads.h"
#include "trace/trace.h"

namespace headlight {

/// Holds statistics of all heads on `length` random tokens, repeated once (Olsson et al. 2022). They depend
/// on the model alone. Empty for models that read no ids.
struct RandomStatistics {
    int length = 0;
    PerHead<std::array<float, kStatistics>> heads;
};

struct RandomStatisticsRequest {
    using Answer = RandomStatistics;
    bool operator==(const RandomStatisticsRequest&) const = default;
};

Result<RandomStatistics> random_statistics(const std::shared_ptr<const Model>& model, ThreadPool& pool,
                                           const CancelFlag* cancel);
Result<RandomStatistics> answer_random_statistics(const Trace& trace, const RandomStatisticsRequest& request,
                                                  ThreadPool& pool, const CancelFlag* cancel);

/// Holds what a head does in one text, measured on its last 64 queries, to bound the cost.
struct TextTraits {
    float punctuation = 0;  // mean weight on punctuation
    /// Weight from the row that predicts to copies of its answer; 0 unless the answer is among the five
    /// tokens that the head's output promotes most (the copy score of Wang et al. 2022).
    float answer = 0;
    /// The largest weight beyond the first token, the previous one and the query itself; query −1: none.
    float strongest = 0;
    int query = -1, key = -1;
};
Result<PerHead<TextTraits>> text_traits(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel);

/// Holds what a head's tags are measured from; null: not known yet.
struct HeadMeasures {
    const std::array<float, kStatistics>* random = nullptr;  // on random tokens
    const std::array<float, kStatistics>* text = nullptr;
    const TextTraits* traits = nullptr;
};

/// Defines a row of the table of tags.
struct HeadTagRow {
    const char* glyph;
    const char* word;
    const char* sentence;                      // what such a head does
    const char* measure;                       // what the value is
    float threshold;                           // the least value that earns the tag
    float (*value)(const HeadMeasures& head);  // NaN: not known
};

struct HeadTag {
    const HeadTagRow* row = nullptr;
    float value = 0;
};

/// Returns a head's tags, in the order of the table.
std::vector<HeadTag> head_tags(const HeadMeasures& head);

}  // namespace headlight
