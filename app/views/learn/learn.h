// Learn: a list of stations next to the page of the shown one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/numbers.h"
#include "learn/station.h"
#include "parts/blocks.h"
#include "parts/scene.h"
#include "session/viewport.h"
#include "views/learn/follow.h"
#include "views/learn/guessing.h"

namespace headlight {

struct View;
struct ViewPage;

struct LearnState {
    std::string station = learn::stations().front().key;
    std::vector<std::string> set;  // "positions width=8": what differs from the defaults
    Viewport seen;                 // of the page
    float list_scroll = 0;
    std::string drawn;    // the station of the last frame; another one starts at its top
    std::string focus;    // the control last scrolled to
    std::string playing;  // the control that Play advances
    std::string going;    // the control being dragged or played, as one step of undo
    double next_step = 0;
    FollowView follow;
    std::map<std::string, Guess> guesses;  // by question_name()
    std::string asks;                      // the second question that was asked, by its name

    void visit(FieldVisitor& visitor);
    const learn::Station& shown() const { return *learn::find_station(station); }
    /// Returns the choices at a station, as control_words() spells them.
    std::vector<std::string> words(const learn::Station& of) const;
    void keep(const learn::Station& of, const std::vector<std::string>& words);
};

View learn_view();
std::vector<Command> learn_commands();
/// Whether the shown station is about a model of its own, whose predictions the open model's are not.
bool shows_another_model(const Session& session);
/// Types the shown station's own sentence if there is none, so that Learn never opens empty.
void type_sample(CommandContext& context);
/// Replaces the image of a station that shows one.
bool learn_takes_picture(Session& session, const std::string& path);

void draw_station_list(Scene& scene, Rect area);
/// Leaves Learn and opens the card of things to try.
void send_tries(const Scene& scene);
/// Draws controls and experiments in rows from y down; returns their bottom. `page`: null until known.
float draw_station_controls(Scene& scene, Rect area, float y, const learn::Station& station,
                            const learn::Page* page);
/// Draws a question with its cards and link; returns the bottom. `covered`: no number is shown yet.
float draw_question(Scene& scene, float x, float y, float width, const std::string& station,
                    const learn::Page& page, int number);
/// Draws what covers the page until its question is answered; returns the bottom.
float draw_cover(Scene& scene, float x, float y, float width, const learn::PageQuestion& question);
/// Offers a page's second question, if it has one that is not asked; returns the bottom.
float draw_second_offer(Scene& scene, float x, float y, float width, const std::string& station,
                        const learn::Page& page);
/// Draws Back and Next; returns the bottom.
float draw_foot(Scene& scene, float x, float y, float width);
/// Counts the guesses of all stations; returns the bottom.
float draw_guesses(Scene& scene, float x, float y, float width);
/// Sets a grid's numbers after one of them was typed.
void set_cell(const Scene& scene, const learn::Page& page, const learn::TypedCell& cell);

}  // namespace headlight
