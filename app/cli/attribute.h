// What the verb attribute is asked for, and how it says what it found.
#pragma once

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "analysis/attribution/influence_map.h"
#include "cli/options.h"

namespace headlight {

/// As jacobian, but of the default metric where none is given: never a table.
inline constexpr const char* kGradient = "gradient";

struct AttributeOptions {
    InputOptions input;
    std::set<std::string> given;  // options, "steps" for --steps
    std::string metric, method = "leave-out", baseline = "mean", steps = "auto", output, gradients,
                        over = "metric", parts = "tokens";
    std::string clean, corrupted;  // texts of attribution patching
    int probes = 0, tokens = 40;
    bool json = false;
    /// Of integrated gradients, as InfluenceRequest::steps.
    int points() const { return steps == "auto" ? kAsNeeded : std::atoi(steps.c_str()); }
    bool over_written() const { return over == "written"; }
    bool over_outputs() const { return over == "outputs"; }
    /// How every output answers to every token, whatever is said.
    bool wants_jacobian() const {
        return method == "jacobian" && metric.empty() && gradients.empty() && !over_written();
    }
};

inline constexpr std::string_view kPrompt = "text:";
inline constexpr const char* kAttributedParts[] = {"tokens", "words", "sentences", "paragraphs"};

const InfluenceMethodRow& method_of(const AttributeOptions& options);
TextPart part_of(const AttributeOptions& options);

/// Writes or prints the scores; `written`: how many tokens at the output's end were explained.
Status say_influence(const AttributeOptions& options, const Trace& trace, const Influence& found,
                     int written);
/// [outputs, tokens]: by the method, a row for every output of the last stack.
Status say_outputs(const AttributeOptions& options, const InfluenceRuns& runs, const Metric& metric,
                   ThreadPool& pool);
/// The same of every output's answer to every token.
Status say_jacobian(const AttributeOptions& options, const Trace& trace, ThreadPool& pool);

}  // namespace headlight
