// Makes rows of the table of commands: general ones, and families that set a word, a switch or a number.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "session/commands/command.h"
#include "session/commands/word_parsers.h"

namespace headlight {

/// The texts of a row. `usage`: as typed, the name and its arguments: "tie A,B", "theme", "open [PATH]";
/// arguments have a capital, a | or a bracket.
struct CommandText {
    std::string usage, title, help, keys = "";
};

using CommandWhen = decltype(Command::when);
using CommandRun = decltype(Command::run);

/// A row that uses its words.
Command row(const CommandText& text, CommandRun run, CommandWhen when = nullptr);
/// A row without words that always succeeds.
Command row(const CommandText& text, std::function<void(CommandContext&)> act, CommandWhen when = nullptr);

/// Adds other names, which the palette finds.
Command also_called(const std::string& synonyms, Command row);
std::vector<Command> in_group(const std::string& group, std::vector<Command> rows);
std::vector<Command> joined(std::initializer_list<std::vector<Command>> parts);

/// Locates a command's value: a field of the preferences or of a view's state.
template <class T>
auto preference(T Preferences::*field) {
    return [field](Session& s) -> T& { return s.preferences.*field; };
}
template <class State, class T>
auto of_state(T State::*field) {
    return [field](Session& s) -> T& { return s.of<State>().*field; };
}
template <class Place>
using ValueAt = std::remove_reference_t<std::invoke_result_t<Place, Session&>>;

/// Sets a value to one of several by word; without a word, to the next.
template <class Place>
Command choice_row(const CommandText& text, std::vector<std::pair<std::string, ValueAt<Place>>> values,
                   Place place, CommandWhen when = nullptr) {
    std::vector<std::string> words;
    for (const auto& choice : values) words.push_back(choice.first);
    const auto choose = [values = std::move(values), place](CommandContext& c, const std::string& words) {
        auto& now = place(c.session);
        for (size_t i = 0; i < values.size(); ++i) {
            const bool chosen = words.empty() ? values[i].second == now : values[i].first == words;
            if (!chosen) continue;
            now = values[words.empty() ? (i + 1) % values.size() : i].second;
            return success();
        }
        now = values[0].second;
        return success();
    };
    Command out = row(text, choose, std::move(when));
    out.words = optional_words(words);
    return out;
}

/// The same for on or off.
template <class Place>
Command switch_row(const CommandText& text, Place place, CommandWhen when = nullptr) {
    return choice_row(text, {{"on", true}, {"off", false}}, place, std::move(when));
}

/// Parses the number of the command `name`, or fails with its range.
Result<double> number_within(const std::string& name, const std::string& words, double low, double high,
                             bool whole);

template <class Place>
Command number_row(const CommandText& text, double low, double high, Place place) {
    using T = ValueAt<Place>;
    Command out = row(text, [=](CommandContext& c, const std::string& words) -> Status {
        TRY(const double number, number_within(text.usage, words, low, high, std::is_integral_v<T>));
        place(c.session) = static_cast<T>(number);
        return success();
    });
    out.words = "NUMBER";
    return out;
}

}  // namespace headlight
