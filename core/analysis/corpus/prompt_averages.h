// Ablation, attribution and patching averaged over prompts, with 95 % intervals (Student's t over the
// prompts).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/attribution/influence.h"
#include "analysis/corpus/prompts.h"
#include "analysis/patching/patch_map.h"
#include "io/numbers.h"

namespace headlight {

/// Selects what is measured in each prompt: the effect of ablating each head; that and the effect of each
/// head's path straight to the answer, in logits; a score for each part of the text; a map of patching.
enum class PromptMeasure { ablation, heads, words, patch };

struct PromptRequest {
    PromptMeasure of = PromptMeasure::ablation;
    InfluenceRequest words = {};  // method, baseline, steps and parts
    PatchRequest patch = {};      // what
    bool operator==(const PromptRequest&) const = default;
};

/// Names what a mean is of: a head, a part of a text (its stack and first token), or a cell of a map of
/// patching.
struct PromptCell {
    int block = -1, head = -1, stack = -1, position = -1;
    bool operator==(const PromptCell&) const = default;
};

struct MeasuredPrompt {
    FilledPrompt prompt;
    std::string metric;               // resolved, as parse_metric reads it
    double value = 0;                 // of the metric; of a pair in the clean run
    std::vector<float> values;        // of each cell by the first quantity, then by the next
    std::vector<std::string> labels;  // of cells that are tokens
};

struct LeftOutPrompt {
    FilledPrompt prompt;
    std::string why;
};

struct PromptAverages {
    PromptRequest asked;
    std::vector<std::string> quantities;  // "effect"
    std::vector<PromptCell> cells;
    std::vector<MeasuredPrompt> measured;
    std::vector<LeftOutPrompt> left;
    int count = 0;  // prompts in all

    bool whole() const { return count > 0 && isize(measured) + isize(left) == count; }
    std::vector<double> values(int quantity, int cell) const;
    MeanInterval of(int quantity, int cell) const { return mean_interval(values(quantity, cell)); }
    MeanInterval value() const;
    /// The token of a cell where all prompts agree, else the name in braces that it fills, else two of them.
    std::string token(int cell) const;
};

/// Makes the request of a text.
using ReadPrompt = std::function<Result<ForwardRequest>(const std::string& text)>;

/// Measures prompt by prompt, calling `seen` (or null) after each. One that cannot be measured, or has
/// another number of parts than most where cells are parts of a text, is left out with the reason. Fails if
/// none is left, or `cancel` was set.
Result<PromptAverages> average_prompts(const std::shared_ptr<const Model>& model,
                                       const std::vector<FilledPrompt>& prompts, const PromptRequest& request,
                                       const ReadPrompt& read, ThreadPool& pool,
                                       const CancelFlag* cancel = nullptr,
                                       const std::function<void(const PromptAverages&)>& seen = nullptr);

/// The averages over a file of prompts (read_prompts) or, where it names none, over a template.
struct PromptsRequest {
    using Answer = struct PromptsFound;
    std::string file;
    PromptTemplate from;
    PromptRequest measure;
    int at_most = 20;
    bool operator==(const PromptsRequest&) const = default;
};
struct PromptsFound {
    std::shared_ptr<const PromptAverages> averages;  // null: nothing yet
    std::string metric;                              // of all prompts, with names in braces, or ""
    double available = 0;                            // prompts that they were drawn from
    std::string refusal;                             // why there are none
};
/// Reads and measures without interventions, calling `seen` (or null) after each prompt.
Result<PromptsFound> find_averages(const std::shared_ptr<const Model>& model, const PromptsRequest& request,
                                   ThreadPool& pool, const CancelFlag* cancel,
                                   const std::function<void(const PromptsFound&)>& seen = nullptr);
Result<PromptsFound> answer_prompts(const Trace& trace, const PromptsRequest& request, ThreadPool& pool,
                                    const CancelFlag* cancel);

/// "4 of 20 prompts are left out; the first, “…”: why"; "" of none.
std::string left_out_text(const PromptAverages& averages);

/// One table: a row for each cell, with mean, low and high end of the interval, prompts, and, if wanted, the
/// value in each prompt.
NumberTable average_numbers(const PromptAverages& averages, const ModelConfig& config, bool each);
/// The same as rows with the names that the verbs use: layer,head or position,token.
std::string averages_csv(const PromptAverages& averages, const ModelConfig& config, bool each);
/// All of it, with the prompts that are left out; `metric`: of all prompts, with names in braces, or "".
nlohmann::ordered_json averages_json(const PromptAverages& averages, const ModelConfig& config,
                                     const std::string& metric, bool each);

}  // namespace headlight
