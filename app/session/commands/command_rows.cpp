#include "session/commands/command_rows.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/quoted.h"

namespace headlight {

namespace {

/// The position after the name in "tie A,B"; the end if there are no words.
size_t begin_of_words(const std::string& usage) {
    for (size_t at = 0; at < usage.size();) {
        const size_t end = std::min(usage.find(' ', at), usage.size());
        for (size_t i = at; i < end; ++i)
            if (usage[i] == '|' || usage[i] == '[' || std::isupper(static_cast<unsigned char>(usage[i])))
                return at;
        at = end + 1;
    }
    return usage.size() + 1;
}

}  // namespace

Command row(const CommandText& text, CommandRun run, CommandWhen when) {
    const size_t words = begin_of_words(text.usage);
    return {.name = text.usage.substr(0, words - 1),
            .words = words < text.usage.size() ? text.usage.substr(words) : "",
            .title = text.title,
            .keys = text.keys,
            .help = text.help,
            .when = std::move(when),
            .run = std::move(run)};
}

Command row(const CommandText& text, std::function<void(CommandContext&)> act, CommandWhen when) {
    const auto run = [act = std::move(act)](CommandContext& c, const std::string&) {
        act(c);
        return success();
    };
    return row(text, CommandRun(run), std::move(when));
}

Command also_called(const std::string& synonyms, Command row) {
    row.synonyms = synonyms;
    return row;
}

std::vector<Command> in_group(const std::string& group, std::vector<Command> rows) {
    for (Command& row : rows) row.group = group;
    return rows;
}

std::vector<Command> joined(std::initializer_list<std::vector<Command>> parts) {
    std::vector<Command> out;
    for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
    return out;
}

Result<double> number_within(const std::string& name, const std::string& words, double low, double high,
                             bool whole) {
    const auto number = decimal_of(words);
    if (number && *number >= low && *number <= high && (!whole || whole_of(words))) return *number;
    char range[80];
    std::snprintf(range, sizeof range, "a number from %g to %g", low, high);
    return Error{in_quotes(name) + " takes " + range + ", not " + in_quotes(words) + "."};
}

}  // namespace headlight
