#include "views/learn/guessing.h"

#include <algorithm>

#include "learn/page_request.h"
#include "session/commands/command_rows.h"
#include "views/learn/learn.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Returns the page of the shown station; null while another is shown.
const learn::Page* shown_page(const CommandContext& c) {
    if (!c.model() || behind_sheet(c)) return nullptr;
    if (std::string_view(shown_view(c.session, *c.model()).key) != "learn") return nullptr;
    const auto* found = c.answer->found<PageRequest>();
    const bool of_this = found && found->asked.station == c.session.of<LearnState>().station;
    return of_this ? found->answer.page.get() : nullptr;
}

int open_here(const CommandContext& c) {
    const learn::Page* page = shown_page(c);
    return page ? open_question(c.session, c.session.of<LearnState>().station, *page) : -1;
}

void put_guess(std::vector<std::string>& guesses, const std::string& name, const std::string& word) {
    std::erase_if(guesses, [&](const std::string& one) { return one.starts_with(name + " "); });
    guesses.push_back(name + " " + word);
}

/// Answers the open question by a card, or by none.
void guess(CommandContext& c, int card) {
    const int number = open_here(c);
    LearnState& state = c.session.of<LearnState>();
    const learn::PageQuestion& question = shown_page(c)->questions[number];
    const std::string name = question_name(state.station, number);
    state.guesses[name] = {asked_as(question), card};
    put_guess(c.session.preferences.guesses, name,
              card < 0                 ? "shown"
              : card == question.right ? "right"
                                       : "wrong");
}

Command guesses_card(int card) {
    const std::string number = std::to_string(card + 1);
    const auto offered = [card](const CommandContext& c) {
        const int open = open_here(c);
        return open >= 0 && card < isize(shown_page(c)->questions[open].cards) ? nullptr : "";
    };
    return row(
        {"learn guess " + number, "Learn: guess card " + number, "in Learn: answer the open question",
         number},
        [card](CommandContext& c) { guess(c, card); }, offered);
}

/// Covers the page again, or asks its second question.
Status ask(CommandContext& c, const std::string& words) {
    LearnState& state = c.session.of<LearnState>();
    const std::string name = question_name(state.station, words == "2" ? 1 : 0);
    std::erase_if(c.session.preferences.guesses,
                  [&](const std::string& one) { return one.starts_with(name + " "); });
    state.guesses.erase(name);
    if (words == "2") state.asks = name;
    return success();
}

Status tick(CommandContext& c, const std::string& station) {
    if (!learn::find_station(station)) return Error{"There is no station " + station + " in Learn."};
    auto& learned = c.session.preferences.learned;
    if (std::find(learned.begin(), learned.end(), station) == learned.end()) learned.push_back(station);
    return success();
}

void start_over(CommandContext& c) {
    c.session.preferences.learned.clear();
    c.session.preferences.guesses.clear();
    LearnState& state = c.session.of<LearnState>();
    state.guesses.clear();
    state.asks.clear();
    state.station = learn::stations().front().key;
}

const char* has_page(const CommandContext& c) { return shown_page(c) ? nullptr : ""; }

}  // namespace

std::string question_name(const std::string& station, int number) {
    return number == 0 ? station : station + "/" + std::to_string(number + 1);
}

std::string asked_as(const learn::PageQuestion& question) {
    std::string out = question.text + "\n" + std::to_string(question.right);
    for (const learn::GuessCard& card : question.cards) out += "\n" + card.label + " " + card.place;
    return out;
}

Asked asked(const Session& session, const std::string& station, const learn::Page& page, int number) {
    if (number >= isize(page.questions) || !page.questions[number].asks()) return Asked::not_asked;
    const std::string name = question_name(station, number);
    const auto& guesses = session.preferences.guesses;
    if (std::any_of(guesses.begin(), guesses.end(),
                    [&](const std::string& one) { return one.starts_with(name + " "); }))
        return Asked::answered;
    const bool covers = number == 0 && session.preferences.guess_first;
    return covers || session.of<LearnState>().asks == name ? Asked::covered : Asked::not_asked;
}

int open_question(const Session& session, const std::string& station, const learn::Page& page) {
    for (int i = 0; i < isize(page.questions); ++i)
        if (asked(session, station, page, i) == Asked::covered) return i;
    return -1;
}

const Guess* guess_at(const LearnState& state, const std::string& name, const learn::PageQuestion& question) {
    const auto found = state.guesses.find(name);
    return found != state.guesses.end() && found->second.question == asked_as(question) ? &found->second
                                                                                        : nullptr;
}

GuessCount counted_guesses(const std::vector<std::string>& guesses) {
    GuessCount out;
    for (const std::string& one : guesses) {
        out.right += one.ends_with(" right");
        out.all += one.ends_with(" right") || one.ends_with(" wrong");
    }
    return out;
}

std::vector<Command> guess_commands() {
    return {guesses_card(0), guesses_card(1), guesses_card(2), guesses_card(3),
            row(
                {"learn show", "Learn: show without a guess", "uncover the page without a guess"},
                [](CommandContext& c) { guess(c, -1); },
                [](const CommandContext& c) { return open_here(c) >= 0 ? nullptr : ""; })};
}

std::vector<Command> path_commands() {
    return {
        row({"learn ask [1|2]", "Learn: ask again", "ask a station's question again, or its second one"}, ask,
            has_page),
        row({"learn done STATION", "Learn: tick a station", "tick a station of Learn as read"}, tick),
        row({"learn start over", "Learn: start over", "forget all ticks and guesses of Learn"}, start_over),
        switch_row(
            {"learn guessing", "Learn: guess first", "whether pages of Learn stay covered until a guess"},
            preference(&Preferences::guess_first))};
}

}  // namespace headlight
