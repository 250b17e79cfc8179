// Stores the choices made in Learn, and defines its commands.
#include <algorithm>
#include <filesystem>

#include "learn/controls.h"
#include "session/commands/try_out.h"
#include "views/learn/learn.h"
#include "views/viewport_commands.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kKey = "learn";

int place_of(const std::string& station) {
    const learn::Station* found = learn::find_station(station);
    return found ? narrow<int>(found - learn::stations().data()) : 0;
}

/// Null while Learn is shown.
const char* when_shown(const CommandContext& c) {
    if (!c.model() || behind_sheet(c)) return "";
    return std::string_view(shown_view(c.session, *c.model()).key) == kKey ? nullptr : "";
}

std::vector<std::string> words_of_station(const Session& session, const std::string& station) {
    return session.of<LearnState>().words(*learn::find_station(station));
}

void put_words(Session& session, const std::string& station, const std::vector<std::string>& words) {
    session.of<LearnState>().keep(*learn::find_station(station), words);
}

/// Opens Learn at the station, so that a choice or its undo is seen.
void show_station(Session& session, const std::string& station) {
    session.of<LearnState>().station = station;
    open_view(session, kKey);
}

constexpr ViewWords kStationWords{words_of_station, put_words, show_station};

/// Sets the shown station's choices as a step of undo.
void choose(Session& session, std::vector<std::string> words) {
    const std::string station = session.of<LearnState>().station;
    const ViewEdit edit{&kStationWords, station, words_of_station(session, station), std::move(words)};
    put_words(session, station, edit.after);
    show_station(session, station);
    session.document.history.note(edit, session.document.same_step);
}

/// Restores the station's defaults and undoes the active experiment, as one step of undo.
void reset(CommandContext& c) {
    const HistoryGroup one_step(c.session.document.history);
    undo_trial(c);
    choose(c.session, {});
}

Status set_words(Session& session, const std::string& assignment) {
    const LearnState& state = session.of<LearnState>();
    const learn::Station& station = state.shown();
    std::any chosen = learn::state_of(station, state.words(station));
    TRY_STATUS(learn::set_control(station, chosen, assignment));
    choose(session, learn::control_words(station, chosen));
    return success();
}

Command moves_station(const char* name, const char* title, const char* keys, int by) {
    const auto move = [by](CommandContext& c) {
        LearnState& state = c.session.of<LearnState>();
        const int last = narrow<int>(std::ssize(learn::stations())) - 1;
        state.station = learn::stations()[std::clamp(place_of(state.station) + by, 0, last)].key;
        state.asks.clear();
    };
    return row({name, title, "in Learn: previous or next station", keys}, move, when_shown);
}

}  // namespace

void LearnState::visit(FieldVisitor& v) {
    v.text("learn_station", station);
    v.list("learn_set", set, 1000);
    std::vector<std::string> keys;
    for (const learn::Station& one : learn::stations()) keys.emplace_back(one.key);
    int place = place_of(station);
    v.choose(nullptr, place, {kKey, "Learn: station", "open a station of Learn, or the next one", keys});
    station = keys[place];
}

std::vector<std::string> LearnState::words(const learn::Station& of) const {
    const std::string head = std::string(of.key) + " ";
    std::vector<std::string> out;
    for (const auto& one : set)
        if (one.starts_with(head)) out.push_back(one.substr(head.size()));
    return out;
}

void LearnState::keep(const learn::Station& of, const std::vector<std::string>& words) {
    const std::string head = std::string(of.key) + " ";
    std::erase_if(set, [&](const std::string& one) { return one.starts_with(head); });
    for (const auto& word : words) set.push_back(head + word);
}

bool learn_takes_picture(Session& session, const std::string& path) {
    std::error_code no_folder;  // the working folder is gone: keep the path as given
    const std::filesystem::path whole = std::filesystem::absolute(path, no_folder);
    return bool(set_words(session, "picture=" + (no_folder ? path : whole.string())));
}

bool shows_another_model(const Session& session) { return session.of<LearnState>().station == "formation"; }

void type_sample(CommandContext& c) {
    const std::string& sample = learn::station_text(c.session.of<LearnState>().station).sample;
    if (c.sentence() || !c.session.document.text.empty() || !c.model() || c.model()->config.can.read_image)
        return;
    c.host.set_text(TextName::sentence, sample);
}

std::vector<Command> learn_commands() {
    const auto model = [](const CommandContext& c) { return c.model() ? nullptr : "No model is open yet."; };
    const char* scrolled = "in Learn: scroll the page";
    return joined(
        {{row(
              {"learn set KEY=VALUE", "Learn: set",
               "set a control of the shown station, for example width=8"},
              [](CommandContext& c, const std::string& words) { return set_words(c.session, words); }, model),
          row({"learn reset", "Learn: reset the station", "restore the station's defaults"}, reset, model),
          moves_station("previous station", "Previous station", "↑", -1),
          moves_station("next station", "Next station", "↓", 1),
          pages({"learn up", "Learn: page up", scrolled, "PgUp"}, 0, -1, when_shown),
          pages({"learn down", "Learn: page down", scrolled, "PgDn"}, 0, 1, when_shown)},
         follow_commands(),
         path_commands()});
}

}  // namespace headlight
