// Draws Follow a word: title, player, nodes and stage.
#include "views/learn/follow.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/controls.h"
#include "learn/follow/follow.h"
#include "parts/controls.h"
#include "parts/thread.h"
#include "session/commands/command_rows.h"
#include "views/learn/learn.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPlayerRow = 60, kPlay = 92, kArrowButton = 32, kBeforeSegments = 24, kNodesFrom = 1000,
                kBriefFrom = 620, kBlendSeconds = 0.4f;
constexpr double kStepSeconds = 5, kStopSeconds = 12;
constexpr const char* kStation = "follow";

const learn::Station& follow_station() { return *learn::find_station(kStation); }

/// Says how long Play shows a step.
double seconds_of(int step) { return step > learn::kFollowSteps ? kStopSeconds : kStepSeconds; }

/// Goes to a step by a blend.
void send_step(Scene& s, int number) {
    s.of<LearnState>().follow.blends = true;
    s.send("follow step", std::to_string(number));
}

void write_key(Ui& ui, Rect& line, const std::string& key) {
    const float wide = std::max(ui.text.width(kCaptionMono, key) + 10, 20.0f);
    const Rect r = band(take_right(line, wide, gap::close), 20);
    ui.fill(r, ui.colors->bg2, size::corner);
    ui.frame(r, ui.colors->l2, 1, size::corner);
    write(ui, r, kCaptionMono, ui.colors->t2, key, Flush::center);
}

/// Draws the keys at the right end, and removes their room from the line.
void draw_keys(Ui& ui, Rect& line) {
    take_right(line, write(ui, line, kCaption, ui.colors->t3, "one step", Flush::right), gap::small);
    write_key(ui, line, "→");
    write_key(ui, line, "←");
    take_right(line, gap::medium);
    take_right(line, write(ui, line, kCaption, ui.colors->t3, "play", Flush::right), gap::small);
    write_key(ui, line, "Space");
    take_right(line, gap::medium);
}

void draw_follow_title(Scene& s, Rect row, const learn::Thread& thread) {
    constexpr float kKeysFrom = 900;
    Ui& ui = s.ui;
    ui.hairline(row.x, row.bottom(), row.right(), row.bottom());
    Rect line = inset(row, size::center_pad, 0);
    if (row.w >= kKeysFrom) draw_keys(ui, line);
    take_left(line, write(ui, line, kTitle, ui.colors->t1, learn::station_text(kStation).title), gap::wide);
    const bool story = s.of<LearnState>().follow.drawn > learn::kFollowSteps;
    const std::string link = story ? "The twelve steps" : thread.question;
    const float wide = ui.text.width(kCaption, link) + gap::large;
    if (line.w > wide + 120) {
        const Rect at = take_right(line, wide, gap::medium);
        if (ui.link("learn/follow/question", at.right(), at.middle_y(), link))
            send_step(s, story ? 1 : learn::kFollowSteps + 1);
    }
    const std::string word = "“" + thread.word + "”";
    const float taken = write(ui, line, kBody, ui.colors->accent_text, word);
    take_left(line, taken, gap::tight);
    if (ui.text.width(kBody, thread.way) <= line.w) write(ui, line, kBody, ui.colors->t2, thread.way);
}

/// Draws a step's button in the player: its name, or its number where not all names fit.
void draw_segment(Scene& s, Rect r, const learn::Thread& thread, int number, int first, bool fits) {
    Ui& ui = s.ui;
    const learn::Thread::Node& node = thread.node(number);
    const int shown = s.of<LearnState>().follow.drawn;
    const bool on = number == shown, done = number < shown;
    const std::string path = "learn/follow/step/" + std::to_string(number);
    const Hit hit = ui.control(path, r);
    ui.fill(r, on ? ui.colors->accent_fill : hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, on ? ui.colors->accent : done ? ui.colors->l2 : ui.colors->l1, 1, size::corner);
    const ImU32 ink = on ? ui.colors->accent_text : done ? ui.colors->t1 : ui.colors->t3;
    write(ui, r, kCaption, ink, fits ? node.name : std::to_string(number - first + 1), Flush::center);
    if (done) ui.fill({r.x + 4, r.bottom() - 2, r.w - 8, 2}, ui.colors->accent);
    if (!fits || !node.gloss.empty())
        ui.tooltip(path, hit, node.name + (node.gloss.empty() ? "" : ": " + node.gloss));
    if (hit.clicked) send_step(s, number);
}

void draw_player(Scene& s, Rect row, const learn::Thread& thread, int shown) {
    Ui& ui = s.ui;
    const LearnState& state = s.of<LearnState>();
    ui.hairline(row.x, row.bottom(), row.right(), row.bottom());
    Rect line = band(inset(row, size::center_pad, 0), size::button);
    const Rect play = take_left(line, kPlay, gap::small);
    if (ui.button("learn/play", play, state.playing.empty() ? "Play" : "Pause", Ui::Look::primary))
        s.send("follow play");
    ui.tooltip("learn/play", ui.over(play), "Plays the steps in order (Space).");
    if (ui.button("learn/follow/back", take_left(line, kArrowButton, gap::tight), "‹")) s.send("follow back");
    if (ui.button("learn/follow/next", take_left(line, kArrowButton, kBeforeSegments), "›"))
        s.send("follow next");
    const bool story = learn::in_story(thread, shown);
    const int first = story ? learn::kFollowSteps + 1 : 1,
              last = story ? thread.count() : learn::kFollowSteps;
    const float step = (line.w + gap::tight) / float(last - first + 1);
    std::vector<std::string> names;
    for (int number = first; number <= last; ++number) names.push_back(thread.node(number).name);
    const bool fits = widest_of(ui, kCaption, names) + 2 <= step - gap::tight;
    for (int number = first; number <= last; ++number)
        draw_segment(s, {line.x + step * float(number - first), line.y, step - gap::tight, line.h}, thread,
                     number, first, fits);
}

/// Goes on to the next step when its time has come.
void play_on(Scene& s, int shown, int last) {
    LearnState& state = s.of<LearnState>();
    if (state.playing.empty()) return;
    const double now = ImGui::GetTime();
    if (state.next_step == 0) state.next_step = now + seconds_of(shown);
    if (now >= state.next_step) {
        if (shown < last) send_step(s, shown + 1);
        if (shown + 1 >= last) state.playing.clear();
        state.next_step = now + seconds_of(shown + 1);
    }
    s.ui.wake_after = float(std::max(0.02, state.next_step - now));
}

/// Returns the share of the shown step's picture that has appeared, 0 … 1.
float blended(Scene& s, int shown) {
    FollowView& view = s.of<LearnState>().follow;
    const double now = ImGui::GetTime();
    if (view.drawn == 0) s.leave_text();  // its keys play
    if (view.drawn != shown) {
        const bool blends =
            view.drawn > 0 && std::exchange(view.blends, false) && s.session.preferences.motion;
        view.since = blends ? now : now - double(kBlendSeconds);
        view.drawn = shown;
        s.of<LearnState>().seen.y = 0;
        s.of<LearnState>().next_step = 0;  // each step has its whole time
    }
    const float part = std::clamp(float(now - view.since) / kBlendSeconds, 0.0f, 1.0f);
    if (part < 1) s.ui.wake_after = 0.016f;
    return part;
}

void answer_thread(Scene& s, const learn::ThreadPen& pen) {
    if (pen.go > 0) send_step(s, pen.go);
    if (pen.opens_door) s.send("follow door");
    if (pen.onward) s.send("next station");
    if (pen.sample) s.send("text", learn::station_text(kStation).sample);
    if (pen.pointed) s.point_at(pen.pointed);
    if (!pen.pressed) return;
    s.lock(pen.pressed == s.session.selection.locked ? std::nullopt : pen.pressed);
    s.leave_text();
}

const char* when_followed(const CommandContext& c) {
    if (!c.model() || behind_sheet(c) || c.session.alone()) return "";
    const bool shown = std::string_view(shown_view(c.session, *c.model()).key) == "learn";
    return shown && c.session.of<LearnState>().station == kStation ? nullptr : "";
}

const learn::Thread* shown_thread(const CommandContext& c) {
    const auto* found = c.answer ? c.answer->found<PageRequest>() : nullptr;
    return found && found->asked.station == kStation ? thread_of(found->answer.page.get()) : nullptr;
}

/// Sets the step without a step of undo, like scrolling; stays within the steps, or within the story.
void go_to(CommandContext& c, int step) {
    LearnState& state = c.session.of<LearnState>();
    std::any chosen = learn::state_of(follow_station(), state.words(follow_station()));
    std::any_cast<learn::FollowState&>(chosen).step = step;
    state.keep(follow_station(), learn::control_words(follow_station(), chosen));
    state.station = kStation;
    open_view(c.session, "learn");
}

/// The steps, or the stops, of which one is shown: first and last number.
std::pair<int, int> range_of(const CommandContext& c) {
    const learn::Thread* thread = shown_thread(c);
    const int steps = learn::kFollowSteps, all = thread ? thread->count() : steps + learn::kStoryStops;
    return chosen_step(c.session) > steps ? std::pair{steps + 1, all} : std::pair{1, steps};
}

Status go_to_number(CommandContext& c, const std::string& words) {
    TRY(const double step,
        number_within("follow step", words, 1, learn::kFollowSteps + learn::kStoryStops, true));
    go_to(c, static_cast<int>(step));
    return success();
}

Command moves_by(const char* name, const char* title, const char* help, const char* keys, int by) {
    return row(
        {name, title, help, keys},
        [by](CommandContext& c) {
            const auto [first, last] = range_of(c);
            c.session.of<LearnState>().follow.blends = true;
            go_to(c, std::clamp(chosen_step(c.session) + by, first, last));
        },
        when_followed);
}

void play_or_pause(CommandContext& c) {
    LearnState& state = c.session.of<LearnState>();
    if (!state.playing.empty()) return state.playing.clear();
    const auto [first, last] = range_of(c);
    if (chosen_step(c.session) >= last) go_to(c, first);
    state.playing = "step";
    state.next_step = 0;  // from the next frame on
    c.host.leave_texts();
}

Status open_door(CommandContext& c, const std::string&) {
    const learn::Thread* thread = shown_thread(c);
    if (!thread) return success();
    LearnState& state = c.session.of<LearnState>();
    const int step = std::min(chosen_step(c.session), thread->count());
    state.follow.door = thread->node(step).door;
    state.station = state.follow.door;
    return success();
}

}  // namespace

const learn::Thread* thread_of(const learn::Page* page) {
    return page && !page->blocks.empty() ? std::get_if<learn::Thread>(&page->blocks.front()) : nullptr;
}

learn::Page page_at_step(learn::Page page, int step) {
    if (auto* thread = page.blocks.empty() ? nullptr : std::get_if<learn::Thread>(&page.blocks.front()))
        thread->shown = std::clamp(step, 1, thread->count());
    return page;
}

int chosen_step(const Session& session) {
    const auto words = session.of<LearnState>().words(follow_station());
    return std::any_cast<learn::FollowState>(learn::state_of(follow_station(), words)).step;
}

void draw_follow(Scene& s, Rect area, const learn::Thread& thread, bool titled) {
    Ui& ui = s.ui;
    LearnState& state = s.of<LearnState>();
    const int shown = std::clamp(chosen_step(s.session), 1, thread.count());
    learn::ThreadPen pen{ui, shown};
    pen.door = learn::station_text(thread.node(shown).door).title;
    pen.blend = blended(s, shown);
    Rect rest = area;
    if (titled) draw_follow_title(s, take_top(rest, size::title_bar, 1), thread);
    draw_player(s, take_top(rest, kPlayerRow, 1), thread, shown);
    play_on(s, shown, learn::in_story(thread, shown) ? thread.count() : learn::kFollowSteps);
    if (area.w >= kBriefFrom) {
        const float wide = area.w >= kNodesFrom ? learn::kNodesWide : learn::kNodesBrief;
        Rect nodes = take_left(rest, wide + size::center_pad);
        ui.hairline(nodes.right(), nodes.y, nodes.right(), nodes.bottom());
        take_left(nodes, size::center_pad);
        learn::draw_nodes(pen, nodes, thread);
    }
    const auto& learned = s.session.preferences.learned;
    const bool ticked = std::find(learned.begin(), learned.end(), kStation) != learned.end();
    if (shown >= learn::kFollowSteps && !ticked) s.send("learn done", kStation);
    ui.scroll_area(rest);
    Rect stage = inset(rest, size::center_pad, 0);
    stage.y -= state.seen.y;
    const float bottom = learn::draw_stage(pen, stage, thread) + gap::medium;
    ui.end_scroll_area();
    scrolled(ui, rest, bottom - stage.y, state.seen);
    answer_thread(s, pen);
}

float draw_story_card(Scene& s, float x, float y, float width) {
    Ui& ui = s.ui;
    const auto* found = s.found<PageRequest>();
    const learn::Thread* thread = thread_of(found ? found->answer.page.get() : nullptr);
    if (!thread) return y;
    const std::string words =
        thread->told
            ? "Four stops: look back one word, find the match, copy what followed, then hide it and see."
            : "No word was copied here.";
    const float inside = width - 2 * gap::medium,
                high = 44 + ui.text.wrapped_height(inside, kCaption, words) + gap::medium;
    caption(ui, {x, y, width, size::line}, "First story");
    const Rect card{x, y + size::line + gap::small, width, high};
    const std::string path = "learn/follow/card";
    const Hit hit = ui.control(path, card);
    ui.fill(card, hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::popup_corner);
    ui.frame(card, ui.colors->l2, 1, size::popup_corner);
    write(ui, {card.x + gap::medium, card.y + gap::medium, inside, 20}, kBody, ui.colors->t1,
          thread->question);
    ui.text.draw_wrapped(card.x + gap::medium, card.y + 40, inside, kCaption, ui.colors->t2, words);
    if (hit.clicked) send_step(s, learn::kFollowSteps + 1);
    return card.bottom() + gap::small;
}

std::vector<Command> follow_commands() {
    const char *step = "in Follow a word: previous or next step",
               *end = "in Follow a word: first or last step";
    const auto returns = [](const CommandContext& c) {
        if (!c.model() || behind_sheet(c) || c.session.alone() || c.session.sheet) return "";
        const LearnState& state = c.session.of<LearnState>();
        const bool learns = std::string_view(shown_view(c.session, *c.model()).key) == "learn";
        return learns && !state.follow.door.empty() && state.station == state.follow.door ? nullptr : "";
    };
    const auto opens = [](const CommandContext& c) { return c.host.typing() ? "" : when_followed(c); };
    return {
        row({"follow step NUMBER", "Follow a word: step",
             "show a step of Follow a word; 13 to 16: the story"},
            go_to_number,
            [](const CommandContext& c) { return c.model() ? nullptr : "No model is open yet."; }),
        row({"follow play", "Follow a word: play", "in Follow a word: play, or pause", "Space"},
            play_or_pause, when_followed),
        moves_by("follow back", "Follow a word: previous step", step, "←", -1),
        moves_by("follow next", "Follow a word: next step", step, "→", 1),
        moves_by("follow first", "Follow a word: first step", end, "Home", -100),
        moves_by("follow last", "Follow a word: last step", end, "End", 100),
        row({"follow door", "Follow a word: explain this step",
             "in Follow a word: open the station that explains the step", "Enter"},
            open_door, opens),
        row(
            {"follow return", "Back to Follow a word", "go back to the step that opened this station", "Esc"},
            [](CommandContext& c) { c.session.of<LearnState>().station = kStation; }, returns)};
}

}  // namespace headlight
