#include "session/commands/command.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "session/lesson.h"

namespace headlight {

namespace {

std::string trimmed(const std::string& text) {
    const size_t from = text.find_first_not_of(" \t\n"), to = text.find_last_not_of(" \t\n");
    return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

/// Removes one pair of double quotes around the words.
std::string unquoted(const std::string& words) {
    const bool quoted = words.size() >= 2 && words.front() == '"' && words.find('"', 1) == words.size() - 1;
    return quoted ? words.substr(1, words.size() - 2) : words;
}

bool begins_with(const std::string& text, const std::string& name) {
    return !name.empty() && text.compare(0, name.size(), name) == 0 &&
           (text.size() == name.size() || text[name.size()] == ' ');
}

/// Removes the brackets of optional words.
std::string bare(const std::string& words) {
    return words.empty() || words[0] != '[' ? words : words.substr(1, words.size() - 2);
}

Error wants(const Command& command) {
    return Error{"The command " + in_quotes(command.name) + " takes " + bare(command.words) +
                 "; headlight --commands lists them all."};
}

/// Spaces up to a column, counted in characters.
std::string padded(const std::string& text, size_t column) {
    const size_t length = count_code_points(text);
    return text + std::string(length < column ? column - length : 1, ' ');
}

/// "Shift+↓" after "Shift+↑" → "↓".
std::string without_repeated_modifier(const std::string& keys, const std::string& before) {
    const size_t plus = before.find('+');
    const std::string modifier = plus == std::string::npos ? "" : before.substr(0, plus + 1);
    return !modifier.empty() && keys.compare(0, modifier.size(), modifier) == 0 ? keys.substr(modifier.size())
                                                                                : keys;
}

}  // namespace

const char* Command::missing(const CommandContext& context) const {
    if (const char* locked = locked_by_lesson(context.session, name)) return locked;
    return when ? when(context) : nullptr;
}

std::vector<std::string> Command::choices() const {
    std::vector<std::string> out(1);
    for (const char c : bare(words)) {
        if (c == '|')
            out.emplace_back();
        else
            out.back() += c;
    }
    std::erase_if(out, [](const std::string& word) {
        return word.empty() ||
               std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c); });
    });
    return out;
}

std::string optional_words(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "[" : "|") + word;
    return out + "]";
}

Result<CommandLine> parse_command(std::span<const Command> table, const std::string& text) {
    const std::string line = trimmed(text), lowered = lower_case(line);
    CommandLine found;
    size_t length = 0;
    for (const Command& row : table)
        for (const std::string& name : {row.name, lower_case(row.alias)})
            if (name.size() > length && begins_with(lowered, name)) {
                found.command = &row;
                length = name.size();
            }
    if (!found.command)
        return Error{"There is no command " + in_quotes(line) + "; headlight --commands lists them all."};
    found.words = unquoted(trimmed(line.substr(length)));
    if (found.words.empty() && found.command->needs_words()) return wants(*found.command);
    if (!found.words.empty() && !found.command->takes_words())
        return Error{"The command " + in_quotes(found.command->name) + " takes no arguments; remove " +
                     in_quotes(found.words) + "."};
    return found;
}

Result<std::vector<CommandLine>> parse_commands(std::span<const Command> table, const std::string& text) {
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (const char c : text) {
        quoted ^= c == '"';
        if (c == ';' && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    std::vector<CommandLine> out;
    for (const std::string& part : parts) {
        if (trimmed(part).empty()) continue;
        TRY(CommandLine line, parse_command(table, part));
        out.push_back(std::move(line));
    }
    return out;
}

const Command& command_named(std::span<const Command> table, const std::string& name) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == name; });
    HEADLIGHT_CHECK(row != table.end());
    return *row;
}

Status carry_out(const CommandLine& line, CommandContext& context) {
    if (const char* reason = line.command->missing(context))
        return Error{*reason ? reason : "This is not available now: " + line.command->name + "."};
    const auto choices = line.command->choices();
    const bool closed =
        !choices.empty() &&
        std::count(line.command->words.begin(), line.command->words.end(), '|') + 1 == std::ssize(choices);
    const bool known = std::find(choices.begin(), choices.end(), lower_case(line.words)) != choices.end();
    if (closed && !line.words.empty() && !known)
        return Error{in_quotes(line.command->name) + " takes " + bare(line.command->words) + ", not " +
                     in_quotes(line.words) + "."};
    return line.command->run(context, known ? lower_case(line.words) : line.words);
}

const Command* command_of_key(std::span<const Command> table, const KeyChord& pressed,
                              const CommandContext& context) {
    const Command* refused = nullptr;
    for (const Command& row : table) {
        const auto chords = chords_of(row.keys);
        if (std::find(chords.begin(), chords.end(), pressed) == chords.end()) continue;
        const char* reason = row.missing(context);
        if (!reason) return &row;
        if (*reason && !refused) refused = &row;
    }
    return refused;
}

std::vector<HelpGroup> key_help(std::span<const Command> table) {
    std::vector<HelpGroup> out;
    for (const char* title : kGroups) {
        HelpGroup group{title, {}};
        auto& lines = group.lines;
        for (const Command& row : table) {
            if (row.keys.empty() || row.group != title) continue;
            if (!lines.empty() && lines.back().second == row.help)
                lines.back().first += " " + without_repeated_modifier(row.keys, lines.back().first);
            else
                lines.emplace_back(row.keys, row.help);
        }
        if (!lines.empty()) out.push_back(std::move(group));
    }
    return out;
}

std::string list_commands(std::span<const Command> table) {
    std::string out;
    for (const Command& row : table)
        out += padded(row.name + (row.words.empty() ? "" : " " + shortened(row.words, 40)), 48) +
               padded(row.keys, 22) + row.help + "\n";
    return out;
}

}  // namespace headlight
