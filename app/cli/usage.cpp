#include "cli/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr size_t kLongestWord = 40;  // a longer word is not a misspelling

/// Counts the letters to change, add, remove or swap with their neighbor to turn a into b.
int edits_between(const std::string& a, const std::string& b) {
    std::vector<std::vector<int>> of(a.size() + 1, std::vector<int>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                of[i][j] = static_cast<int>(i + j);
                continue;
            }
            of[i][j] = std::min(
                {of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
        }
    return of[a.size()][b.size()];
}

/// Returns the chosen verb, else the program.
const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : *parsed.front();
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> out;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty())
            for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    return out;
}

std::string unknown_argument(const CLI::App& of, std::vector<std::string> left) {
    const auto option =
        std::find_if(left.begin(), left.end(), [](const std::string& word) { return word.starts_with("-"); });
    if (option == left.end())
        return "Unexpected argument " + in_quotes(shortened(left.front(), 80)) + "; name an option before it";
    const std::string name = option->substr(0, option->find('='));
    const std::string meant = nearest_word(name, option_names(of));
    return "There is no option " + shortened(name, 80) +
           (meant.empty() ? "" : "; did you mean " + meant + "?");
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& among) {
    if (word.size() > kLongestWord) return "";
    std::string out;
    int min = std::max(1, isize(word) / 3) + 1;
    for (const std::string& other : among)
        if (const int edits = edits_between(word, other); edits < min) {
            min = edits;
            out = other;
        }
    return out;
}

std::set<std::string> given_options(const CLI::App& app) {
    std::set<std::string> out;
    for (const CLI::Option* option : app.get_options())
        if (option->count() > 0 && !option->get_lnames().empty()) out.insert(option->get_lnames().front());
    return out;
}

Status refuse_given(const std::set<std::string>& given, const std::vector<std::string>& options,
                    const std::string& goes_with) {
    for (const std::string& name : options)
        if (given.count(name)) return Error{"--" + name + " goes with " + goes_with + "; leave it out."};
    return success();
}

std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& of = innermost(app);
    std::string said = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
        if (const auto left = app.remaining(true); !left.empty()) said = unknown_argument(of, left);
    } else if (dynamic_cast<const CLI::ExcludesError*>(&error)) {
        const size_t at = said.find(" excludes ");
        if (at != std::string::npos)
            said = said.substr(0, at) + " and " + said.substr(at + 10) +
                   " cannot be used together; leave one of them out";
    } else if (dynamic_cast<const CLI::RequiresError*>(&error)) {
        const size_t at = said.find(" requires ");
        if (at != std::string::npos) said = said.substr(0, at) + " goes with " + said.substr(at + 10);
    }
    const std::string verb = &of == &app ? "" : " " + of.get_name();
    return shortened(said, 250) + " (see `headlight" + verb + " --help`)";
}

}  // namespace headlight
