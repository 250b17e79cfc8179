// Draws the nodes of a thread, and the words around a step's picture.
#include "parts/thread.h"

#include <algorithm>
#include <cmath>

#include "figure/figure.h"
#include "paint/matrix.h"
#include "parts/blocks.h"
#include "parts/controls.h"

namespace headlight::learn {

namespace {

constexpr float kNodePitch = 56, kLeastPitch = 26, kGlossPitch = 44, kNodeRadius = 11, kNodeTop = 36,
                kNodeFoot = 52, kNodeStrip = 136, kRule = 22, kWorkedLine = 28, kBelowPitch = 28;

void draw_look(Ui& ui, Rect r, const Thread::Node& node, bool reached) {
    if (node.strip.size() == 0) return;
    const ImU32 ink = reached ? ui.colors->accent : ui.colors->t3;
    if (node.look == Thread::Look::balance) {
        const std::vector<Thread::Strip> one{{.sign = "", .values = node.strip}};
        return draw_cells(ui, r, node.strip.transpose(), reach_of(one));
    }
    const ImU32 track = ui.colors->bg2;
    if (node.look == Thread::Look::bar) {
        ui.fill(r, track);
        return ui.fill({r.x, r.y, r.w * std::clamp(node.strip[0], 0.0f, 1.0f), r.h}, ink);
    }
    const float step = r.w / float(node.strip.size());
    Index most = 0;
    node.strip.maxCoeff(&most);
    for (Index i = 0; i < node.strip.size(); ++i) {
        const Rect well{r.x + step * float(i), r.y, std::max(step - 1, 1.0f), r.h};
        const float high = std::max(ui.line(), r.h * std::clamp(node.strip[i], 0.0f, 1.0f));
        ui.fill(well, track);
        ui.fill({well.x, r.bottom() - high, well.w, high}, i == most ? ui.colors->accent : ui.colors->t3);
    }
}

struct NodeLine {
    Rect area;
    float y;
    int number, first;
    bool brief, glosses;
};

void draw_node(ThreadPen& pen, const Thread& thread, const NodeLine& line) {
    Ui& ui = pen.ui;
    const Thread::Node& node = thread.node(line.number);
    const bool on = line.number == pen.shown, done = line.number < pen.shown;
    const float x = line.area.x, right = x + line.area.w - 20;
    const Rect box{x + 28, line.y - 22, right - x - 20, line.glosses ? 48.0f : 24.0f};
    const Rect row = line.glosses ? box : band({box.x, line.y - 12, box.w, 24}, 24);
    const std::string path = pen.path + "/node/" + std::to_string(line.number);
    const Hit hit = ui.hit(path, {x, row.y, right - x + 8, row.h});
    if (on || hit.hovered) ui.fill(row, on ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
    if (hit.clicked) pen.go = line.number;
    const ImVec2 center{x + 12, line.y};
    const ImU32 edge = on || done ? ui.colors->accent : ui.colors->l2;
    ui.disc(center, on ? kNodeRadius + 1 : kNodeRadius, on ? ui.colors->accent : ui.colors->bg1);
    if (!on) ui.ring(center, kNodeRadius, edge, 2);
    ui.text.draw_centered(center.x, line.y, kCaptionMono,
                          on     ? ui.colors->on_accent
                          : done ? ui.colors->accent_text
                                 : ui.colors->t3,
                          std::to_string(line.number - line.first + 1));
    const float name_y = line.glosses ? line.y - 8 : line.y;
    const ImU32 ink = on ? ui.colors->accent_text : done ? ui.colors->t1 : ui.colors->t2;
    write(ui, {x + 36, name_y - 10, line.brief ? right - x - 30 : 156, 20}, kBody, ink, node.name);
    if (line.glosses)
        write(ui, {x + 36, line.y + 2, right - x - 40, 20}, kCaption, on ? ui.colors->t1 : ui.colors->t3,
              node.gloss);
    if (line.brief) return;
    draw_look(ui, {x + 196, name_y - 6, kNodeStrip, 14}, node, on || done);
    ui.text.draw_right(right, name_y + 1, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
                       node.measure);
}

/// Draws the line of text above the picture: which step, its title, and the door.
void draw_step_line(ThreadPen& pen, Rect line, const Thread& thread) {
    Ui& ui = pen.ui;
    const Thread::Node& node = thread.node(pen.shown);
    const bool story = in_story(thread, pen.shown);
    const int count = story ? isize(thread.stops) : isize(thread.steps),
              number = story ? pen.shown - isize(thread.steps) : pen.shown;
    if (!pen.door.empty() && !ui.on_page()) {
        const float wide = ui.text.width(kCaption, pen.door) + 56;
        const Rect door = band(take_right(line, wide, gap::medium), size::chip);
        const std::string path = pen.path + "/door";
        const Hit hit = ui.control(path, door);
        ui.fill(door, hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
        ui.frame(door, ui.colors->l2, 1, size::corner);
        write(ui, inset(door, gap::medium, 0), kCaption, ui.colors->t1, pen.door);
        write(ui, inset(door, gap::medium, 0), kCaption, ui.colors->t2, "→", Flush::right);
        ui.tooltip(path, hit, "Opens the station that explains this step (Enter).");
        if (hit.clicked) pen.opens_door = true;
    }
    const std::string of = std::to_string(number) + " of " + std::to_string(count);
    if (count > 1) take_left(line, write(ui, line, kCaptionMono, ui.colors->t3, of), gap::medium);
    write(ui, line, kBody, ui.colors->t2, node.title);
}

float worked_height(const Thread::Node& node) {
    if (node.worked.empty() && node.below.empty()) return 0;
    return kRule + (node.worked_title.empty() ? 0 : 24) + kBelowPitch * float(node.below.size()) +
           (node.worked.empty() ? 0 : kWorkedLine);
}

/// Draws the arithmetic: strips, then the computation and, in amber, its result.
float draw_worked(ThreadPen& pen, Rect area, const Thread::Node& node) {
    if (worked_height(node) == 0) return area.y;
    Ui& ui = pen.ui;
    ui.hairline(area.x, area.y + 8, area.right(), area.y + 8);
    float y = area.y + kRule;
    if (!node.worked_title.empty()) {
        write(ui, {area.x, y, area.w, 20}, kCaption, ui.colors->t3, node.worked_title);
        y += 24;
    }
    if (!node.below.empty())
        y = draw_strips_of(pen, {area.x, y, area.w, kBelowPitch * float(node.below.size())}, node.below, "");
    if (node.worked.empty()) return y;
    const std::string result = "=  " + node.worked.back();
    const float room = area.w - ui.text.width(kBodyMono, result) - gap::large;
    const Font font = ui.text.width(kBodyMono, node.worked.front()) <= room ? kBodyMono : kCaptionMono;
    float high = ui.text.draw_wrapped(area.x, y + 4, room, font, ui.colors->t1, node.worked.front());
    high = std::max(high, 20.0f);
    const float wide = std::min(ui.text.width(font, node.worked.front()), room);
    ui.text.draw(area.x + wide + gap::large, y + high - 6, font, ui.colors->accent_text, result);
    return y + high + 8;
}

float draw_next(ThreadPen& pen, Rect area, const Thread& thread) {
    const bool story = in_story(thread, pen.shown);
    const int last = story ? thread.count() : isize(thread.steps);
    if (pen.shown >= last) return area.y;
    Ui& ui = pen.ui;
    ui.hairline(area.x, area.y + 8, area.right(), area.y + 8);
    Rect line{area.x, area.y + kRule - 2, area.w, 20};
    take_left(line, write(ui, line, kCaption, ui.colors->t3, "Next step"), gap::large);
    const Thread::Node& next = thread.node(pen.shown + 1);
    const int number = pen.shown + 1 - (story ? isize(thread.steps) : 0);
    write(ui, line, kCaption, ui.colors->t2,
          std::to_string(number) + "  " + next.name + (next.gloss.empty() ? "" : ": " + next.gloss));
    return line.bottom() + 4;
}

constexpr float kStoryHigh = 108, kButtonGap = 12;

/// Draws what follows the last step: the story, and what it finds.
float draw_story_offer(ThreadPen& pen, Rect area, const Thread& thread) {
    Ui& ui = pen.ui;
    ui.hairline(area.x, area.y + 8, area.right(), area.y + 8);
    float y = area.y + kRule;
    write(ui, {area.x, y, area.w, 28}, kTitle, ui.colors->t1, thread.question);
    y += 32;
    y += ui.text.draw_wrapped(area.x, y, area.w, kBody, ui.colors->t2, thread.promise) + gap::medium;
    const std::string again = "Start again", follow = thread.told ? "Follow the story" : "Why not";
    const float follow_wide = ui.text.width(kBody, follow) + 32,
                again_wide = ui.text.width(kBody, again) + 32;
    Rect line{area.x, y, area.w, size::button};
    if (ui.button(pen.path + "/story", take_left(line, follow_wide, kButtonGap), follow, Ui::Look::primary))
        pen.go = isize(thread.steps) + 1;
    if (ui.button(pen.path + "/again", take_left(line, again_wide), again)) pen.go = 1;
    return ui.on_page() ? y : line.bottom() + 4;
}

/// Draws what ends the story: the way back, and the sample where there was none.
float draw_story_end(ThreadPen& pen, Rect area, const Thread& thread) {
    Ui& ui = pen.ui;
    if (ui.on_page()) return area.y;
    Rect line{area.x, area.y + gap::large, area.w, size::button};
    const std::string sample = "Open the sample", back = "Back to the twelve steps", next = "Next station ›";
    if (thread.told &&
        ui.button(pen.path + "/onward", take_left(line, ui.text.width(kBody, next) + 32, kButtonGap), next,
                  Ui::Look::primary))
        pen.onward = true;
    if (!thread.told &&
        ui.button(pen.path + "/sample", take_left(line, ui.text.width(kBody, sample) + 32, kButtonGap),
                  sample, Ui::Look::primary))
        pen.sample = true;
    if (ui.button(pen.path + "/again", take_left(line, ui.text.width(kBody, back) + 32), back)) pen.go = 1;
    return line.bottom() + 4;
}

float draw_end(ThreadPen& pen, Rect area, const Thread& thread) {
    if (pen.shown == isize(thread.steps)) return draw_story_offer(pen, area, thread);
    if (pen.shown == thread.count()) return draw_story_end(pen, area, thread);
    return draw_next(pen, area, thread);
}

float end_height(ThreadPen& pen, const Thread& thread) {
    return pen.shown == isize(thread.steps) ? kStoryHigh + kRule : 48;
}

/// Draws the picture into the room that its words leave.
float draw_picture(ThreadPen& pen, Rect area, const Thread& thread, const Thread::Node& node) {
    float y = area.y;
    if (!node.strips.empty()) y = draw_strips_of(pen, area, node.strips, node.heading);
    if (!node.bands.empty()) y = draw_bands(pen, {area.x, y, area.w, area.bottom() - y}, thread, node);
    if (!node.columns.empty()) {
        const float bars = node.bars.empty() ? 0 : 40 + 28 * float(node.bars.size());
        y = draw_upright(pen, {area.x, y, area.w, area.bottom() - y - bars}, node);
    }
    if (!node.bars.empty()) y = draw_bar_list(pen, {area.x, y, area.w, area.bottom() - y}, node);
    return y;
}

}  // namespace

float reach_of(const std::vector<Thread::Strip>& strips) {
    float out = 1e-6f;
    for (const Thread::Strip& strip : strips) {
        if (strip.values.size() == 0) continue;
        const float largest = strip.values.cwiseAbs().maxCoeff(),
                    usual = strip.values.norm() / std::sqrt(float(strip.values.size()));
        out = std::max(out, std::min(largest, 4 * usual));
    }
    return out;
}

void draw_cells(Ui& ui, Rect r, const Matrix& values, float reach) {
    draw_matrix(ui, r, {signed_places_of(values, reach), signed_colormap(ui.colors->dark), true});
}

void draw_nodes(ThreadPen& pen, Rect area, const Thread& thread) {
    Ui& ui = pen.ui;
    const bool story = in_story(thread, pen.shown);
    const int first = story ? isize(thread.steps) + 1 : 1,
              last = story ? thread.count() : isize(thread.steps), count = last - first + 1;
    const bool brief = area.w < 380;
    write(ui, {area.x, area.y + 8, area.w - 20, 20}, kCaption, ui.colors->t3,
          story ? "The story" : "The thread");
    if (!brief)
        write(ui, {area.x, area.y + 8, area.w - 20, 20}, kCaption, ui.colors->t3,
              story ? "" : "numbers, length", Flush::right);
    const float pitch =
        std::clamp((area.h - kNodeTop - kNodeFoot) / float(std::max(count - 1, 1)), kLeastPitch, kNodePitch);
    const bool glosses = !brief && pitch >= kGlossPitch;
    const float top = area.y + kNodeTop + 24;
    const auto y = [&](int number) { return top + pitch * float(number - first); };
    ui.stroke({area.x + 12, y(first)}, {area.x + 12, y(last)}, ui.colors->l2, 2);
    ui.stroke({area.x + 12, y(first)}, {area.x + 12, y(std::min(pen.shown, last))}, ui.colors->accent, 2);
    for (int number = first; number <= last; ++number)
        draw_node(pen, thread, {area, y(number), number, first, brief, glosses});
}

float draw_stage(ThreadPen& pen, Rect area, const Thread& thread) {
    Ui& ui = pen.ui;
    const Thread::Node& node = thread.node(pen.shown);
    Rect rest = area;
    take_top(rest, gap::medium);
    draw_step_line(pen, take_top(rest, size::button, gap::medium), thread);
    take_top(rest, ui.text.draw_wrapped(rest.x, rest.y, rest.w, kTitle, ui.colors->t1, node.sentence),
             gap::large);
    const float after = worked_height(node) + end_height(pen, thread);
    const Rect picture{rest.x, rest.y, rest.w, std::max(rest.h - after - gap::wide, 120.0f)};
    float y = draw_picture(pen, picture, thread, node) + gap::small;
    y = draw_worked(pen, {rest.x, y, rest.w, 0}, node);
    if (pen.blend < 1)
        ui.fill({rest.x - 8, rest.y - 4, rest.w + 16, y - rest.y + 8}, faded(ui.colors->bg1, 1 - pen.blend));
    return draw_end(pen, {rest.x, y, rest.w, 0}, thread);
}

float draw_thread(BlockPen& from, ImVec2 at, float width, const Thread& thread) {
    constexpr float kHigh = 700, kNodes = 380, kLeastStage = 420;
    ThreadPen pen{from.ui, thread.shown, "", 1, from.path};
    const bool beside = width >= kNodes + kLeastStage;
    Rect rest{at.x, at.y, width, kHigh};
    if (beside) draw_nodes(pen, take_left(rest, kNodes, gap::wide), thread);
    const float end = draw_stage(pen, rest, thread);
    return std::max(end, beside ? at.y + kHigh - 16 : end) - at.y;
}

}  // namespace headlight::learn
