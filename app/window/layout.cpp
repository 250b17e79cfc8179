// Lays out the parts of the window.
#include "window/layout.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "panels/adapter_bar.h"
#include "panels/generation_bar.h"
#include "panels/head_list.h"
#include "panels/intervention_bar.h"
#include "panels/lesson/lesson.h"
#include "panels/panels.h"
#include "panels/present.h"
#include "parts/controls.h"
#include "parts/generation.h"
#include "parts/interventions.h"
#include "views/page.h"
#include "views/views.h"
#include "window/header.h"
#include "window/questions.h"

namespace headlight {

namespace {

constexpr float kHandleHigh = 24, kBar = 40, kBarLow = 32;
constexpr float kQuestions = 40, kQuestionsLow = 32, kHeaderLow = 32;
constexpr float kLowWindow = 800, kNarrowWindow = 1180;
/// Minimum sizes; below them a part is left out: the head list, the sentence bar's second line and the status
/// bar, the view.
constexpr float kMinCenter = 420, kMinHigh = 320, kMinView = 180;
constexpr float kOneLine = 52;  // height of the sentence bar with one line
/// Size of the panels as a share of the window, with bounds.
constexpr float kLeftShare = 0.2f, kRightShare = 0.21f, kMinLeft = 272, kMinRight = 288, kMaxPanel = 400;

/// Slides the inspector over the center in narrow windows; it takes the mouse before what lies below. Ends in
/// the lower of two channels of the draw list; the caller merges them.
void draw_over(Scene& s, Rect panel, bool open, const std::function<void()>& draw_panel) {
    Ui& ui = s.ui;
    ui.list->ChannelsSplit(2);
    ui.list->ChannelsSetCurrent(1);
    const Rect handle{open ? panel.x - kHandleWide : panel.right() - kHandleRoom, panel.y + gap::tight,
                      kHandleWide, kHandleHigh};
    const Hit h = ui.control("inspector", handle);
    ui.fill(handle, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(handle, ui.colors->l2, 1, size::corner);
    const float x = handle.middle_x(), y = handle.middle_y(), to = open ? 1.0f : -1.0f;
    ui.polyline(std::array<ImVec2, 3>{{{x - to * 2.5f, y - 5}, {x + to * 2.5f, y}, {x - to * 2.5f, y + 5}}},
                ui.colors->t1, 1.5f);
    ui.tooltip("inspector", h, open ? "Hide the inspector (Ctrl+I)" : "Show the inspector (Ctrl+I)");
    if (h.clicked) s.of<LayoutState>().inspector_over = !open;
    if (open) {
        draw_panel();
        ui.hit("inspector/panel", panel);
    }
    ui.list->ChannelsSetCurrent(0);
}

/// Draws the view in its part of the window, or the reason why it is missing.
void draw_center(Scene& s, Rect center, const View& view) {
    if (draw_lesson_cover(s, center)) return;
    s.ui.clip(center);
    if (center.w >= kMinView && center.h >= view.least_high)
        view.draw(s, center);
    else
        caption_lines(
            s.ui, inset(center, gap::large, gap::small),
            "Too little room for this view: enlarge the window, or choose a smaller text size (Ctrl+K).");
    s.ui.unclip();
}

/// Places the parts of a window.
struct Places {
    bool narrow = false, alone = false,
         closed = false;  // alone: the view without panels; closed: no inspector
    bool lesson = false;  // its panels take the place of the others
    bool listed = false, inspector = false;
    float status = 0, guide = 0, header = 0;  // how high they are
    float left = 0;                           // of the center where its panels are open
    Rect top, questions, list, middle, panel;
};

Places places_in(Scene& s, Rect w, const View* view) {
    Places p;
    p.lesson = open_lesson_of(s.session) != nullptr;
    p.narrow = w.w < kNarrowWindow;
    p.alone = !p.lesson && view && view->fills_window() && (s.sentence() || view->of_model);
    p.closed = !p.lesson && view && view->panels == View::Panels::no_inspector && s.sentence();
    p.listed = w.w >= kMinLeft + kMinCenter;
    if (p.lesson && p.narrow && w.w >= kMinRight + kMinCenter)
        p.narrow = p.listed = false;  // the view needs the list's room; the task's panel offers the tasks
    p.inspector = !p.alone && !p.closed && (!p.narrow || s.of<LayoutState>().inspector_over);
    const bool low = w.h < kLowWindow, lowest = w.h < kMinHigh;
    const float top = lowest ? kOneLine : low ? size::top_bar_low : size::top_bar;
    p.status = lowest && shown_notice(s).empty() ? 0 : low ? size::row_low : size::status_bar;
    p.guide = p.alone || lowest || p.lesson ? 0 : guide_height(s);
    const float questions = lowest || !view ? 0 : low ? kQuestionsLow : kQuestions, under = top + questions;
    p.header = low ? kHeaderLow : size::view_header;
    p.left = p.listed ? std::clamp(w.w * kLeftShare, kMinLeft, kMaxPanel) : 0;
    const float left = p.alone ? 0 : p.left, right = std::clamp(w.w * kRightShare, kMinRight, kMaxPanel),
                high = w.h - under - (p.status + p.guide);
    p.top = {0, 0, w.w, top};
    p.questions = {0, top, w.w, questions};
    p.list = {0, under, left, high};
    p.middle = {left, under, w.w - left - (p.inspector && !p.narrow ? right : 0), high};
    p.panel = {w.w - right, under, right, high};
    return p;
}

/// While what takes its place is computed.
void fade_old(Scene& s, const char* part, Rect r) {
    if (s.dim == 0) return;
    s.ui.name(std::string("dimmed/") + part, r);
    s.ui.fill(r, faded(s.ui.colors->bg1, s.dim));
}

void draw_only_view(Scene& s, const Places& p, const View& view) {
    Rect middle = p.middle;
    if (view.answers != ViewGroup::nothing) draw_header(s, take_top(middle, p.header, 1), view, p.left);
    s.of<LayoutState>().center = {middle.w, middle.h};
    s.ui.name("center", middle);
    draw_center(s, middle, view);
    fade_old(s, "center", middle);
}

void draw_list(Scene& s, Rect list) {
    s.ui.clip(list);
    if (open_lesson_of(s.session))
        draw_lesson_list(s, list);
    else
        draw_head_list(s, list);
    s.ui.unclip();
    fade_old(s, "heads", list);
    s.ui.hairline(list.right(), list.y, list.right(), list.bottom());
}

/// `listed`: a list stands at the left.
void draw_panel(Scene& s, Rect panel, const View* view, bool listed) {
    s.ui.fill(panel, s.ui.colors->bg1);
    s.ui.hairline(panel.x, panel.y, panel.x, panel.bottom());
    if (open_lesson_of(s.session)) return draw_lesson_task(s, panel, !listed);
    const auto inspect = s.sentence() ? view->beside.inspect : nullptr;
    if (!inspect || !inspect(s, panel)) draw_inspector(s, panel);
    fade_old(s, "inspector", panel);
}

/// In a low window one line holds both bars and the chips of what is changed; returns its height.
float draw_bars(Scene& s, Rect row, bool paints) {
    if (!s.sentence() || !s.sentence()->trace->can_run()) return 0;
    Rect rest = inset(row, gap::large, 0);
    const float whole = rest.w;
    draw_generation_controls(s, rest);
    if (paints) draw_change_controls(s, rest);
    const bool changes = draw_changes(s, rest, paints) > 0;
    if (!changes && rest.w == whole) return 0;
    s.ui.hairline(row.x, row.bottom(), row.right(), row.bottom());
    return row.h;
}

/// The intervention bar above a center that the brush paints, and the chips; returns their height.
float draw_change_lines(Scene& s, Rect row, bool paints) {
    if (!s.sentence()) return 0;
    const float bar = paints ? draw_change_bar(s, row) : 0;
    row.y += bar;
    return bar + (s.sentence()->trace->can_run() ? draw_changes(s, row, paints) : 0);
}

/// The view between its header and the generation bar, under the chips of interventions.
void draw_middle(Scene& s, const Places& p, const View* view) {
    const Rect middle = p.middle, header{middle.x, middle.y, middle.w, p.header};
    const bool low = p.header < size::view_header, lists = view && view->of_target,
               paints = view && view->paints;
    const bool has_strength =
        view && view->has_strength && view->has_strength(s, middle.bottom() - header.bottom());
    const float adapter =
        has_strength ? 0 : draw_adapter_bar(s, {middle.x, header.bottom(), middle.w, low ? kBarLow : kBar});
    const float below = header.bottom() + adapter;
    const float chips = adapter + (low ? draw_bars(s, {middle.x, below, middle.w, kBarLow}, paints)
                                       : draw_change_lines(s, {middle.x, below, middle.w, kBar}, paints));
    const float generation = s.sentence() && (lists || !low) ? generation_bar_height(s, !lists) : 0;
    const Rect center{middle.x, header.bottom() + chips, middle.w,
                      middle.bottom() - header.bottom() - chips - generation};
    s.of<LayoutState>().center = {center.w, center.h};
    s.ui.name("center", center);
    if (view) draw_header(s, header, *view, p.left);
    if (s.sentence())
        draw_center(s, center, *view);
    else if (!view && s.opening)
        draw_first_opening(s, center);
    else if (s.answer && (s.answer->sentence || !s.answer->model_error.empty()))
        draw_start_sentences(s, center);
    fade_old(s, "center", center);
    if (generation > 0) draw_generation_bar(s, {middle.x, center.bottom(), middle.w, generation}, !lists);
}

/// Draws the view of a slide, if it is revealed.
void draw_presented(Scene& s, std::optional<Rect> area, const View& view) {
    if (!area) return;
    s.of<LayoutState>().center = {area->w, area->h};
    s.ui.name("center", *area);
    s.ui.without_toolbars = !view.fills_window();  // those of Learn are what it shows
    draw_center(s, *area, view);
    s.ui.without_toolbars = false;
}

/// Takes the caret from a field that is not drawn: back into the sentence, if that is.
void leave_hidden_field(Scene& s) {
    const bool sentence = s.ui.widgets.count("sentence") > 0;
    if (s.fields.other.focused && !s.ui.widgets.count("other")) s.fields.focus(s.fields.sentence);
    if (s.fields.sentence.focused && !sentence) s.fields.leave();
}

}  // namespace

void draw_parts(Scene& s, Rect w) {
    const View* view = s.model() ? &shown_view(s.session, *s.model()) : nullptr;
    const bool shown = view && s.sentence();
    if (shown && s.session.presenting) return draw_presented(s, draw_presentation(s, w, *view), *view);
    if (shown && s.session.arranging) return draw_presented(s, draw_slides(s, w, *view), *view);
    const Places p = places_in(s, w, view);
    s.of<InspectorState>() = {p.inspector, p.narrow && !p.closed && !p.alone && !p.inspector};
    draw_sentence_bar(s, p.top);
    if (p.questions.h > 0) draw_questions(s, p.questions);
    if (p.alone) {
        draw_only_view(s, p, *view);
    } else {
        if (p.listed) draw_list(s, p.list);
        const bool over = p.narrow && !p.closed && view;
        if (over) draw_over(s, p.panel, p.inspector, [&] { draw_panel(s, p.panel, view, p.listed); });
        const bool only = p.lesson && view && view->fills_window() && (s.sentence() || view->of_model);
        if (only)
            draw_only_view(s, p, *view);
        else
            draw_middle(s, p, view);
        if (over)
            s.ui.list->ChannelsMerge();
        else if (!p.closed)
            draw_panel(s, p.panel, view, p.listed);
        if (p.guide > 0) draw_guide(s, {0, w.h - (p.status + p.guide), w.w, p.guide});
    }
    leave_hidden_field(s);
    if (p.status > 0) draw_status_bar(s, {0, w.h - p.status, w.w, p.status});
}

}  // namespace headlight
