// Guesses at a station's questions: which question is open, what was guessed, and what is remembered of it.
#pragma once

#include <string>
#include <vector>

#include "learn/page.h"
#include "session/commands/command.h"

namespace headlight {

struct LearnState;

/// Remembers a guess as long as the window is open, to mark its card.
struct Guess {
    std::string question;  // identity of what was asked (asked_as)
    int card = -1;         // −1: shown without a guess
};

/// Says how a question stands at a station.
enum class Asked { covered, answered, not_asked };

/// Names a station's question in the settings: "qkv", and its second "qkv/2".
std::string question_name(const std::string& station, int number);
/// Returns what tells a question from others of its station: other words, or another answer.
std::string asked_as(const learn::PageQuestion& question);
/// Returns how a question stands: the first is covered until it is answered, a further one once it is asked.
Asked asked(const Session& session, const std::string& station, const learn::Page& page, int number);
/// Returns the number of the question that keys answer; −1: none.
int open_question(const Session& session, const std::string& station, const learn::Page& page);
/// Returns the guess at exactly this question, or null.
const Guess* guess_at(const LearnState& state, const std::string& name, const learn::PageQuestion& question);

/// Counts the guesses of all stations, and the right ones.
struct GuessCount {
    int right = 0, all = 0;
};
GuessCount counted_guesses(const std::vector<std::string>& guesses);

/// Returns the rows that answer, and those of the path; the former come before other rows of their keys.
std::vector<Command> guess_commands();
std::vector<Command> path_commands();

}  // namespace headlight
