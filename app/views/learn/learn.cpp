#include "views/learn/learn.h"

#include <algorithm>
#include <utility>

#include "learn/numbers.h"
#include "learn/page_request.h"
#include "model/heads.h"
#include "parts/controls.h"
#include "parts/fold.h"
#include "session/examples.h"
#include "session/lesson.h"
#include "views/learn/learn_page.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kTitleRow = size::title_bar, kNarrow = 800;

/// Returns the controls that need another page: all but the display control.
std::vector<std::string> asked_words(const LearnState& state) {
    std::vector<std::string> out = state.words(state.shown());
    const std::string display_control = state.shown().display_control;
    if (!display_control.empty())
        std::erase_if(out, [&](const std::string& word) { return word.starts_with(display_control + "="); });
    return out;
}

/// Whether the cell was locked by the first start, and not by the user.
bool locked_by_start(const Session& session) {
    const Example& story = examples().front();
    const Selection& s = session.selection;
    return !s.head_chosen && !s.hovered.cell && s.locked == story.cell && session.document.text == story.text;
}

PageRequest page_request(const Session& session) {
    const LearnState& state = session.of<LearnState>();
    const Selection& s = session.selection;
    const auto focused = locked_by_start(session) ? std::nullopt : s.focused();
    return {.station = state.station,
            .words = asked_words(state),
            .text = session.document.text,
            .block = s.block,
            .head = s.head,
            .head_chosen = s.head_chosen,
            .query = focused ? focused->first : -1};
}

/// Replaces the list by a choice of stations in a narrow window.
void draw_choice(Scene& s, Rect area, const learn::Station& station) {
    Toolbar bar = title_toolbar(s, area, "learn/back", "Learn");
    std::vector<std::string> titles;
    for (const learn::Station& one : learn::stations()) titles.push_back(learn::station_text(one.key).title);
    const auto shown = headlight::narrow<int>(&station - learn::stations().data());
    const int chosen = bar.choice("", "learn/stations", titles, shown);
    if (chosen >= 0) s.send("learn", learn::stations()[chosen].key);
    if (bar.link("learn/tries", "Try")) send_tries(s);
    s.ui.tooltip("learn/tries", s.ui.over(bar.last()), "Shows things to try, below the views.");
}

/// "head 1.2 · found by this station"; the page's note if it shows no head of its own.
std::string title_note(const Scene& s, const StationPage& page) {
    const bool names = page.has_head && s.model() && s.model()->config.has_head(page.head);
    if (!names) return page.page ? page.page->note : "";
    return "head " + head_name(s.model()->config, page.head) +
           (page.head_found ? " · found by this station" : " · selected");
}

void draw_title(Scene& s, Rect area, const learn::Station& station, const StationPage* page) {
    Ui& ui = s.ui;
    const Rect row = take_top(area, kTitleRow);
    ui.hairline(row.x, row.bottom(), row.right(), row.bottom());
    Rect line = inset(row, size::center_pad, 0);
    take_left(line, write(ui, line, kTitle, ui.colors->t1, learn::station_text(station.key).title),
              gap::wide);
    constexpr float kLeastNote = 80;
    if (!page || line.w <= kLeastNote) return;
    const std::string note = title_note(s, *page);
    const float wide = write(ui, line, kCaption, ui.colors->t3, note, Flush::right);
    if (page->page && page->page->note != note)
        ui.tooltip("learn/note", ui.over({line.right() - wide, line.y, wide, line.h}), page->page->note);
}

/// Explains why there is no page, and offers the model that the station needs.
float draw_missing(Scene& s, float x, float y, float width, const learn::Station& station,
                   const std::string& why) {
    Ui& ui = s.ui;
    y += ui.text.draw_wrapped(x, y, std::min(width, 640.0f), kBody, ui.colors->t1, why) + 16;
    const bool another = *station.opens && s.model()->name != station.opens;
    const std::string label = std::string("Open ") + station.opens;
    if (another && ui.button("learn/open", {x, y, ui.text.width(kBody, label) + 32, size::button}, label))
        s.send("open", station.opens);
    return y + size::button;
}

/// Locks a cell; unlocks it if it is locked.
void press_cell(const Scene& s, std::pair<int, int> cell) {
    s.lock(cell == s.session.selection.locked ? std::nullopt : std::optional(cell));
    s.leave_text();
}

/// Draws the first question and its finding above a page; returns the bottom.
float draw_first_question(Scene& s, float x, float y, float width, const std::string& station,
                          const learn::Page& page) {
    const learn::PageQuestion& question = page.questions.front();
    if (!s.ui.on_page() && asked(s.session, station, page, 0) == Asked::answered)
        y = draw_question(s, x, y, width, station, page, 0) + gap::wide;
    const float high = learn::draw_finding(s.ui, {x, y}, width, question);
    return y + (high > 0 ? high + gap::wide : 0);
}

/// Draws the second question below a page once it is asked, and its finding once it is answered.
float draw_second_question(Scene& s, float x, float y, float width, const std::string& station,
                           const learn::Page& page) {
    if (isize(page.questions) < 2) return y;
    const Asked stands = asked(s.session, station, page, 1);
    if (stands == Asked::not_asked) return draw_second_offer(s, x, y, width, station, page);
    y = draw_question(s, x, y + gap::section, width, station, page, 1) + gap::wide;
    return stands == Asked::covered ? y : y + learn::draw_finding(s.ui, {x, y}, width, page.questions[1]);
}

/// Draws a page's blocks: those that make its point, and the others below a fold that names how many there
/// are; returns the bottom.
float draw_page_blocks(Scene& s, learn::BlockPen& pen, Rect area, const learn::Page& page) {
    Ui& ui = s.ui;
    const std::span<const learn::Block> all = page.blocks;
    const int count = isize(all), main = page.main > 0 ? std::min(page.main, count) : count;
    float y = learn::draw_blocks(pen, all.first(ui.on_page() ? count : main), area.x, area.y, area.w);
    if (main == count || ui.on_page()) return y;
    y += gap::section;
    ui.hairline(area.x, y, area.right(), y);
    Rect line{area.x, y + gap::medium, area.w, size::chip};
    const std::string rest = std::to_string(count - main);
    const bool open = turn_fold(s, line, "learn/details", Begins::closed);
    write(ui, line, kBody, ui.colors->t1,
          "In detail, with formulas" + (open ? std::string() : ": " + rest + " more pictures and tables"));
    y = line.bottom();
    return open ? learn::draw_blocks(pen, all.subspan(main), area.x, y + gap::medium, area.w, main) : y;
}

/// Ends a page with its symbols in words, for those who do not know to hover over them.
float draw_glossary(Scene& s, float x, float y, float width, const std::vector<learn::Symbol>& symbols) {
    if (symbols.empty()) return y;
    Ui& ui = s.ui;
    y += gap::section;
    ui.hairline(x, y, x + width, y);
    y += gap::medium;
    caption(ui, {x, y, width, size::line}, "The symbols of this page, in words");
    y += size::line + gap::small;
    return y + learn::draw_symbols(ui, {x, y}, std::min(width, 760.0f), symbols);
}

/// Ticks a station whose page was seen and whose question was answered.
void tick_station(const Scene& s, const std::string& station) {
    const auto& learned = s.session.preferences.learned;
    if (std::find(learned.begin(), learned.end(), station) == learned.end()) s.send("learn done", station);
}

/// Says what the station is about; returns the bottom.
float draw_words_of(Scene& s, float x, float y, float width, const learn::Station& station) {
    constexpr float kWidest = 900;
    return y + s.ui.text.draw_wrapped(x, y, std::min(width, kWidest), kBody, s.ui.colors->t1,
                                      learn::station_text(station.key).text);
}

/// Returns the page's bottom.
float draw_answer(Scene& s, Rect area, float y, const Found<PageRequest>& found) {
    Ui& ui = s.ui;
    const learn::Station& station = *learn::find_station(found.asked.station);
    const float x = area.x + size::center_pad, width = area.w - 2 * size::center_pad;
    if (!found.answer.page) return draw_missing(s, x, y, width, station, found.answer.missing);
    const learn::Page& page = *found.answer.page;
    const bool covered = !ui.on_page() && asked(s.session, found.asked.station, page, 0) == Asked::covered;
    if (!ui.on_page()) y = draw_words_of(s, x, y, width, station) + gap::wide;
    if (covered) {
        y = draw_question(s, x, y, width, found.asked.station, page, 0) + gap::section;
        return draw_cover(s, x, y, width, page.questions[0]);
    }
    if (!ui.on_page()) tick_station(s, found.asked.station);
    if (!page.questions.empty()) y = draw_first_question(s, x, y, width, found.asked.station, page);
    learn::BlockPen pen{ui, colormap(s.session.preferences.colormap, ui.colors->dark)};
    pen.symbols = page.symbols;
    if (!ui.on_page()) pen.focused = s.session.selection.focused();
    float end = draw_page_blocks(s, pen, {x, y, width, 0}, page);
    if (!ui.on_page()) {
        end = draw_second_question(s, x, end, width, found.asked.station, page);
        end = draw_glossary(s, x, end, width, page.symbols);
    }
    if (pen.typed) set_cell(s, page, *pen.typed);
    if (pen.pointed) s.point_at(pen.pointed);
    if (pen.pressed) press_cell(s, *pen.pressed);
    return end;
}

/// Scrolls to a control that Tab reached.
void show_focus(Scene& s, Rect area, LearnState& state) {
    const std::string& focus = s.ui.focus();
    if (focus == state.focus) return;
    state.focus = focus;
    const auto place = s.ui.widgets.find(focus);
    if (!focus.starts_with("learn/block") || place == s.ui.widgets.end()) return;
    const float top = place->second.y - area.y + state.seen.y;
    state.seen.y = scrolled_to(state.seen.y, top - 40, top + place->second.h + 40, area.h);
    s.ui.wake_after = 0.01f;
}

/// Takes the bottom of an area for Back and Next if it has room for them; no height: the page ends with them.
Rect station_foot(Rect& area) {
    constexpr float kFoot = 56, kLeastHigh = 560;
    return inset(take_bottom(area, area.h >= kLeastHigh ? kFoot : 0), size::center_pad, 0);
}

void draw_page(Scene& s, Rect area, const Found<PageRequest>* found, const learn::Station& station,
               bool narrow) {
    Ui& ui = s.ui;
    LearnState& state = s.of<LearnState>();
    const bool stays = !narrow && area.h > 480;  // controls do not scroll with the page
    const learn::Page* page = found ? found->answer.page.get() : nullptr;
    const bool covered = page && asked(s.session, found->asked.station, *page, 0) == Asked::covered;
    const Rect foot = station_foot(area);
    float top = area.y;
    if (stays && !covered) top = draw_station_controls(s, area, top, station, page);
    const Rect below{area.x, top, area.w, area.bottom() - top};
    ui.scroll_area(below);
    const float begin = below.y - state.seen.y;
    float y = begin + 16;
    if (!stays && !covered) y = draw_station_controls(s, area, y - 8, station, page) + 16;
    if (found) y = draw_answer(s, area, y, *found);
    if (foot.h == 0) y = draw_foot(s, foot.x, y + gap::section, foot.w);
    ui.end_scroll_area();
    scrolled(ui, below, y + 24 - begin, state.seen);
    if (foot.h > 0) draw_foot(s, foot.x, foot.y, foot.w);
    show_focus(s, below, state);
}

std::vector<Question> ask_learn(const Scene& s) { return {page_request(s.session)}; }

/// Draws a page that is a thread, with Back and Next at its foot.
void draw_thread(Scene& s, Rect area, const learn::Station& station, const learn::Thread& thread,
                 bool narrow) {
    if (narrow) draw_choice(s, take_top(area, kTitleRow), station);
    const Rect foot = station_foot(area);
    draw_follow(s, area, thread, !narrow);
    if (foot.h > 0) draw_foot(s, foot.x, foot.y, foot.w);
}

void draw_learn(Scene& s, Rect area) {
    LearnState& state = s.of<LearnState>();
    const auto* found = s.found<PageRequest>();
    if (s.ui.on_page()) {
        if (found) draw_answer(s, area, area.y, *found);
        return;
    }
    const learn::Station& station = found ? *learn::find_station(found->asked.station) : state.shown();
    if (s.ui.typing()) s.fields.leave();  // one caret at a time
    if (std::exchange(state.drawn, station.key) != station.key) {
        state.seen.y = 0;
        state.playing.clear();
        state.follow.drawn = 0;
    }
    const bool narrow = area.w < kNarrow || open_lesson_of(s.session);  // a lesson has its own list
    const float left = narrow ? 0 : std::clamp(area.w * 0.2f, 272.0f, 400.0f);
    if (!narrow) {
        draw_station_list(s, {area.x, area.y, left, area.h});
        s.ui.hairline(area.x + left, area.y, area.x + left, area.bottom());
    }
    const Rect right{area.x + left, area.y, area.w - left, area.h};
    if (const learn::Thread* thread = thread_of(found ? found->answer.page.get() : nullptr))
        return draw_thread(s, right, station, *thread, narrow);
    if (narrow)
        draw_choice(s, right, station);
    else
        draw_title(s, right, station, found ? &found->answer : nullptr);
    draw_page(s, {right.x, right.y + kTitleRow, right.w, right.h - kTitleRow}, found, station, narrow);
}

std::optional<Result<Drawing>> learn_figure(const ViewPage& page, ThreadPool& pool) {
    const PageRequest request = page_request(page.session);
    const auto* found = page.answer->found<PageRequest>();
    const auto shown = found && found->asked.station == request.station
                           ? Result<StationPage>(found->answer)
                           : answer(Runs{*page.answer->sentence->trace}, request, pool);
    if (!shown) return shown.error();
    if (!shown->page) return Error{shown->missing};
    const auto drawn =
        std::make_shared<const learn::Page>(page_at_step(*shown->page, chosen_step(page.session)));
    return learn::draw_learn_page(drawn, learn::station_text(request.station), page.style);
}

std::vector<NumberTable> learn_numbers(const Scene& s) {
    const auto* found = s.found<PageRequest>();
    return found && found->answer.page ? learn::page_numbers(*found->answer.page)
                                       : std::vector<NumberTable>();
}

}  // namespace

View learn_view() {
    return {.key = "learn",
            .name = "Learn",
            .synonyms = "course, tutorial, stations",
            .letter = 'E',
            .draw = draw_learn,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_learn,
            .page_w = 1280,
            .panels = View::Panels::none,
            .figure = learn_figure,
            .numbers = learn_numbers,
            .visit = visit_state<LearnState>,
            .seen = seen_of<LearnState>,
            .commands = learn_commands,
            .begin = type_sample,
            .of_another_model = shows_another_model};
}

}  // namespace headlight
