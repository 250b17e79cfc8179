// Prompts from a template, and means with intervals over them: one sentence proves little, many like it more.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace headlight {

/// "When {A} and {B} went to the {place}, {B} gave a drink to", with what each name may stand for.
struct PromptTemplate {
    std::string text;
    std::string corrupted;  // of pairs to patch between; empty: none
    std::string metric;     // "{A} - {B}"; empty: the default
    std::map<std::string, std::vector<std::string>> fill;
    bool operator==(const PromptTemplate&) const = default;
};
/// The names in braces of its texts.
std::set<std::string> prompt_names(const PromptTemplate& from);

struct FilledPrompt {
    std::string text, corrupted, metric;
    std::map<std::string, std::string> values;
};

/// From {"text": …, "corrupted": …, "metric": …, "fill": {"A": ["Mary", …], "B": "A"}}: a name instead of a
/// list takes the list of that name. `file` is what messages call it; `metric`: of one that has none. Fails
/// where a name in braces has no list, a list is unused or empty, both give a metric, or sizes are beyond
/// kMaxFill words of kMaxWord bytes.
Result<PromptTemplate> parse_prompt_template(const Json& root, const std::string& file,
                                             const std::string& metric = "");

inline constexpr int kMaxFill = 1000, kMaxWord = 200, kMaxPrompts = 1000;

/// Counts the different prompts of a template; beyond 200,000 combinations an upper bound.
double count_prompts(const PromptTemplate& from);

/// Up to `count` different prompts, drawn with `seed`: in one prompt two names never stand for the same word.
/// All of them, in their order, where there are no more.
std::vector<FilledPrompt> fill_prompts(const PromptTemplate& from, int count, uint32_t seed);

/// The prompts of a file, or some of them.
struct PromptSet {
    std::vector<FilledPrompt> prompts;
    double available = 0;  // that they were drawn from
    std::string metric;    // of all, with names in braces; "": the default, or their own
};
struct PromptDraw {
    std::string metric;  // of prompts without one
    int at_most = 50;
    uint32_t seed = 0;
};
/// Reads a template, or, where the name ends in .jsonl, a prompt a line: a string, or an object with "text"
/// (or "clean"), "corrupted" and "metric".
Result<PromptSet> read_prompts(std::string_view text, const std::string& file, const PromptDraw& draw);
PromptSet draw_prompts(const PromptTemplate& from, int at_most, uint32_t seed);

/// The mean of some values and the half-width of its 95 % interval (Student's t); NaN of fewer than two.
struct MeanInterval {
    double mean = 0, half = 0;
    int count = 0;
};
MeanInterval mean_interval(std::span<const double> values);

/// Student's t such that a share of 97.5 % lies below, for so many degrees of freedom.
double student_t975(int freedom);

}  // namespace headlight
