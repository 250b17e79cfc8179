// Declares the options of the verb attribute and the functions that print its results.
#pragma once

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "analysis/attribution/influence_map.h"
#include "cli/options.h"
#include "cli/prompts.h"

namespace headlight {

/// Differs from jacobian without a metric: it takes the default one, so its result is never a table.
inline constexpr const char* kGradient = "gradient";

struct AttributeOptions {
    InputOptions input;
    std::set<std::string> given;  // options, "steps" for --steps
    std::string metric, method = "leave-out", baseline = "mean", steps = "auto", output, gradients,
                        over = "metric", parts = "tokens";
    std::string clean, corrupted;  // texts of attribution patching
    int probes = 0, tokens = 40;
    bool json = false;
    PromptOptions prompts;
    /// Of integrated gradients, as InfluenceRequest::steps.
    int points() const { return steps == "auto" ? kAsNeeded : std::atoi(steps.c_str()); }
    bool over_written() const { return over == "written"; }
    bool over_outputs() const { return over == "outputs"; }
    /// Returns whether the result is the table of all outputs and tokens.
    bool wants_jacobian() const {
        return method == "jacobian" && metric.empty() && gradients.empty() && !over_written();
    }
};

inline constexpr std::string_view kPrompt = "text:";
inline constexpr const char* kAttributedParts[] = {"tokens", "words", "sentences", "paragraphs"};

const InfluenceMethodRow& method_of(const AttributeOptions& options);
TextPart part_of(const AttributeOptions& options);

/// Writes or prints the scores; `written`: the number of explained tokens at the output's end.
Status say_influence(const AttributeOptions& options, const Trace& trace, const Influence& found,
                     int written);
/// Writes or prints scores [outputs, tokens], a row for every output of the last stack.
Status say_outputs(const AttributeOptions& options, const InfluenceRuns& runs, const Metric& metric,
                   ThreadPool& pool);
/// Writes or prints the norms of the Jacobian, [outputs, tokens].
Status say_jacobian(const AttributeOptions& options, const Trace& trace, ThreadPool& pool);

}  // namespace headlight
