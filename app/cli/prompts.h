// Averages what a verb measures over the prompts of a file.
#pragma once

#include <set>
#include <string>

#include "analysis/corpus/prompt_averages.h"
#include "cli/options.h"

namespace headlight {

struct PromptOptions {
    const char* name = "prompts";  // of the option: --prompts, of patch --pairs
    std::string file = {};
    int at_most = 50;
    uint32_t seed = 0;
    bool each = false;
    bool given() const { return !file.empty(); }
};

/// Adds --prompts (or --pairs), --at-most, --each and, unless the verb has one, --seed.
void add_prompt_options(CLI::App& app, PromptOptions& options);

/// Refuses options that --prompts does not use, `others` among them; without it, those that only it uses.
Status check_prompts(const PromptOptions& options, const std::set<std::string>& given,
                     std::vector<std::string> others);

/// How a verb writes.
struct AveragesOutput {
    std::string file;  // "": standard output
    bool json = false;
};

/// Reads the file, measures and writes; says on standard error which prompts are left out.
Status write_averages(const PromptOptions& options, const InputOptions& input, const std::string& metric,
                      const PromptRequest& request, const AveragesOutput& output);

}  // namespace headlight
