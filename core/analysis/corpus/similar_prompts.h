// Makes a template of prompts from one sentence: other words in the places of those that repeat.
#pragma once

#include "analysis/corpus/prompts.h"
#include "analysis/prediction/metric.h"

namespace headlight {

/// Turns into names in braces: the metric's tokens where the text has them, the last word if it repeats, and
/// capitalized words that repeat. Each may stand for the words nearest to it by the cosine of their
/// embeddings, of the same case, each a single token. `metric`: resolved. Fails where a model reads other
/// than one text, the metric is not of the next token, or no word repeats.
Result<PromptTemplate> similar_prompts(const Trace& trace, const Metric& metric, ThreadPool& pool);

}  // namespace headlight
