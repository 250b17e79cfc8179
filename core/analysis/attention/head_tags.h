// Names what a head does, from measurements on random tokens and on the text.
#pragma once

#include <array>
#include <memory>
#include <span>
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

enum class HeadTagKind { previous, induction, duplicate, first, self, punctuation, name_mover };

struct HeadTagRow {
    HeadTagKind kind;
    const char* glyph;
    const char* word;
    const char* sentence;  // what such a head does
    const char* measure;   // what the value is
    float threshold;       // the least value that earns the tag
};
std::span<const HeadTagRow> head_tag_rows();

struct HeadTag {
    const HeadTagRow* row = nullptr;
    float value = 0;
};

/// Returns a head's tags, in the order of the table. `random`: its statistics on random tokens; `text`: on
/// the text; each null where it is not known yet.
std::vector<HeadTag> head_tags(const std::array<float, kStatistics>* random,
                               const std::array<float, kStatistics>& text, const TextTraits* traits);

}  // namespace headlight
