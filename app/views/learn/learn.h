// Learn: a path of stations beside the page of the one that is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/numbers.h"
#include "learn/station.h"
#include "parts/blocks.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct View;
struct ViewPage;

struct LearnState {
    std::string station = "no-weights";
    std::vector<std::string> set;  // "positions width=8": what differs from the stations' first states
    Viewport seen;                 // of the page
    float list_scroll = 0;
    std::string drawn;    // the station of the last frame: another one is seen from its beginning
    std::string focus;    // the control that was scrolled to last
    std::string playing;  // the control whose numbers are gone through
    std::string going;    // the control that is dragged or played: what it goes on to is one step of undo
    double next_step = 0;
    std::string first_head_of;                // the station and model that began with this head
    std::optional<AttentionHead> first_head;  // none: not known yet

    void visit(FieldVisitor& visitor);
    const learn::Station& shown() const { return *learn::find_station(station); }
    /// What was chosen at a station, as control_words() says it.
    std::vector<std::string> words(const learn::Station& of) const;
    void keep(const learn::Station& of, const std::vector<std::string>& words);
};

View learn_view();
std::vector<Command> learn_commands();
/// At a station that shows a picture: that one in place of its own.
bool learn_takes_picture(Session& session, const std::string& path);

/// The way back, and each station as a row that opens it; with room also its words. Returns whether it had.
bool draw_station_list(Scene& scene, Rect area);
/// Leaves Learn for the card of things to try.
void send_tries(const Scene& scene);
/// The station's text and signs from (x, y) down; returns where they end.
float draw_station_words(Scene& scene, float x, float y, float width, const learn::Station& station);
/// What can be chosen and what can be tried, in rows from y down; returns where they end.
/// `page`: the station's, where it is known.
float draw_station_controls(Scene& scene, Rect area, float y, const learn::Station& station,
                            const learn::Page* page);
/// A number of a Grid was typed: sets the grid's numbers.
void set_cell(const Scene& scene, const learn::Page& page, const learn::TypedCell& cell);

}  // namespace headlight
