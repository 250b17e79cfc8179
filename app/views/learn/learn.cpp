#include "views/learn/learn.h"

#include <algorithm>
#include <utility>

#include "learn/numbers.h"
#include "learn/page_request.h"
#include "parts/controls.h"
#include "session/lesson.h"
#include "views/learn/learn_page.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kTitleRow = size::title_bar, kNarrow = 800;

/// The choices that need another page: not the one that only turns its leaves.
std::vector<std::string> asked_words(const LearnState& state) {
    std::vector<std::string> out = state.words(state.shown());
    const std::string leafs = state.shown().leafs;
    if (!leafs.empty())
        std::erase_if(out, [&](const std::string& word) { return word.starts_with(leafs + "="); });
    return out;
}

PageRequest page_request(const Session& session, std::optional<AttentionHead> first_head) {
    const LearnState& state = session.of<LearnState>();
    const Selection& s = session.selection;
    const auto focused = s.focused();
    const AttentionHead shown{s.block, s.head}, head = s.head_chosen ? shown : first_head.value_or(shown);
    return {.station = state.station,
            .words = asked_words(state),
            .text = session.document.text,
            .block = head.block,
            .head = head.head,
            .head_chosen = s.head_chosen || first_head,
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

void draw_title(Scene& s, Rect area, const learn::Station& station, const learn::Page* page) {
    Ui& ui = s.ui;
    const Rect row = take_top(area, kTitleRow);
    ui.hairline(row.x, row.bottom(), row.right(), row.bottom());
    Rect line = inset(row, size::center_pad, 0);
    take_left(line, write(ui, line, kTitle, ui.colors->t1, learn::station_text(station.key).title),
              gap::wide);
    constexpr float kLeastNote = 80;
    if (page && line.w > kLeastNote) write(ui, line, kCaption, ui.colors->t3, page->note, Flush::right);
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

/// Returns the page's bottom.
float draw_answer(Scene& s, Rect area, float y, const Found<PageRequest>& found) {
    Ui& ui = s.ui;
    const learn::Station& station = *learn::find_station(found.asked.station);
    const float x = area.x + size::center_pad, width = area.w - 2 * size::center_pad;
    if (!found.answer.page) return draw_missing(s, x, y, width, station, found.answer.missing);
    const learn::Page& page = *found.answer.page;
    learn::BlockPen pen{ui, colormap(s.session.preferences.colormap, ui.colors->dark)};
    pen.symbols = page.symbols;
    if (!ui.on_page()) pen.focused = s.session.selection.focused();
    const float end = learn::draw_blocks(pen, page.blocks, x, y, width);
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

void draw_page(Scene& s, Rect area, const Found<PageRequest>* found, const learn::Station& station,
               bool narrow, bool words) {
    Ui& ui = s.ui;
    LearnState& state = s.of<LearnState>();
    const bool stays = !narrow && area.h > 480;  // controls do not scroll with the page
    const learn::Page* page = found ? found->answer.page.get() : nullptr;
    float top = area.y;
    if (stays) top = draw_station_controls(s, area, top, station, page);
    const Rect below{area.x, top, area.w, area.bottom() - top};
    ui.scroll_area(below);
    const float begin = below.y - state.seen.y;
    float y = begin + 16;
    if (words)
        y = draw_station_words(s, area.x + size::center_pad, y, area.w - 2 * size::center_pad, station) + 8;
    if (!stays) y = draw_station_controls(s, area, y - 8, station, page) + 16;
    if (found) y = draw_answer(s, area, y, *found);
    ui.end_scroll_area();
    scrolled(ui, below, y + 24 - begin, state.seen);
    show_focus(s, below, state);
}

/// Keeps the head that the station chose first, so that typing does not change it.
std::vector<Question> ask_learn(const Scene& s) {
    LearnState& state = s.of<LearnState>();
    const std::string of = state.station + '\n' + s.session.document.open.path;
    if (std::exchange(state.first_head_of, of) != of) state.first_head.reset();
    const auto* found = s.found<PageRequest>();
    if (found && found->asked.station == state.station && found->answer.first_head)
        state.first_head = found->answer.first_head;
    const PageRequest without_head =
        page_request(s.session, {});  // its answer chose the head: do not ask again
    return {found && found->asked == without_head ? without_head : page_request(s.session, state.first_head)};
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
        if (thread_of(found ? found->answer.page.get() : nullptr)) s.leave_text();  // its keys play
    }
    const bool narrow = area.w < kNarrow || open_lesson_of(s.session);  // a lesson has its own list
    const float left = narrow ? 0 : std::clamp(area.w * 0.2f, 272.0f, 400.0f);
    bool words = true;  // on the page, because the list has no room for them
    if (!narrow) {
        words = !draw_station_list(s, {area.x, area.y, left, area.h});
        s.ui.hairline(area.x + left, area.y, area.x + left, area.bottom());
    }
    const Rect right{area.x + left, area.y, area.w - left, area.h};
    const learn::Thread* thread = thread_of(found ? found->answer.page.get() : nullptr);
    if (thread && narrow) {
        draw_choice(s, right, station);
        return draw_follow(s, {right.x, right.y + kTitleRow, right.w, right.h - kTitleRow}, *thread, false);
    }
    if (thread) return draw_follow(s, right, *thread, true);
    if (narrow)
        draw_choice(s, right, station);
    else
        draw_title(s, right, station, found ? found->answer.page.get() : nullptr);
    draw_page(s, {right.x, right.y + kTitleRow, right.w, right.h - kTitleRow}, found, station, narrow, words);
}

std::optional<Result<Drawing>> learn_figure(const ViewPage& page, ThreadPool& pool) {
    const PageRequest request = page_request(page.session, page.session.of<LearnState>().first_head);
    const auto* found = page.answer->found<PageRequest>();
    const auto shown = found && found->asked.station == request.station
                           ? Result<StationPage>(found->answer)
                           : answer_page({*page.answer->sentence->trace}, request, pool, nullptr);
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
            .commands = learn_commands};
}

}  // namespace headlight
