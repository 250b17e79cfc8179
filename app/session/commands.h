// The rows that act on the session alone, by what they are about. The window joins them with those of the
// views and its own (window/commands.h).
#pragma once

#include "session/command.h"
#include "session/words.h"

namespace headlight {

std::vector<Command> selection_commands();     // heads, cells
std::vector<Command> display_commands();       // how it is shown
std::vector<Command> intervention_commands();  // masks, changes, undo
std::vector<Command> comparison_commands();
std::vector<Command> generation_commands();
std::vector<Command> document_commands();  // models, texts, files

/// Why something that needs a text's pass cannot be done yet.
const char* needs_sentence(const CommandContext& context);
/// … or one that computes: a trace holds no weights.
const char* needs_weights(const CommandContext& context);

const char* needs_written(const CommandContext& context);

/// Shows a step of what is generated; the last one is "everything".
void show_step(Session& session, const WrittenText& written, int step);

/// Puts a change in force in the place of what it excludes: another way of ablating or freezing the same
/// head, another temperature or score at the same place, the opposite at the same cells. The same one again
/// is taken away, and so is what a temperature of 1 stands in the place of.
void put_change(Document& document, const Change& change);

/// The cell whose numbers are shown: focused, or the last query's heaviest key; none without tokens.
std::optional<std::pair<int, int>> shown_cell(const Session& session, const WorkAnswer* answer);

void undo(Session& session, Host& host);
void redo(Session& session, Host& host);

/// The word of the command "rank" for a way of ranking heads.
std::string rank_word(int rank);

/// What number_row says of words that it does not take.
Error number_refused(const std::string& name, const std::string& words, double low, double high);

/// A row that sets a value to one of several by their words; without a word, to the next of them. `row` has
/// the rest.
template <class T>
Command choice_row(Command row, std::vector<std::pair<std::string, T>> values, T& (*value)(Session&)) {
    std::vector<std::string> words;
    for (const auto& choice : values) words.push_back(choice.first);
    row.words = optional_words(words);
    row.run = [values = std::move(values), value](CommandContext& c, const std::string& words) -> Status {
        T& now = value(c.session);
        for (size_t i = 0; i < values.size(); ++i) {
            const bool chosen = words.empty() ? values[i].second == now : values[i].first == words;
            if (!chosen) continue;
            now = values[words.empty() ? (i + 1) % values.size() : i].second;
            return success();
        }
        now = values[0].second;
        return success();
    };
    return row;
}

/// The same for something that is on or off.
inline Command switch_row(Command row, bool& (*value)(Session&)) {
    return choice_row<bool>(std::move(row), {{"on", true}, {"off", false}}, value);
}

/// A row that sets a number within its range. `row` has the rest.
template <class T>
Command number_row(Command row, T low, T high, T& (*value)(Session&)) {
    row.words = "NUMBER";
    row.run = [name = row.name, low, high, value](CommandContext& c, const std::string& words) -> Status {
        const auto number = decimal_of(words);
        const auto least = double(low), most = double(high);
        const bool whole = !std::is_integral_v<T> || (number && whole_of(words));
        if (!number || !whole || !(*number >= least && *number <= most))
            return number_refused(name, words, least, most);
        value(c.session) = static_cast<T>(*number);
        return success();
    };
    return row;
}

}  // namespace headlight
