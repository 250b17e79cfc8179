// Draws the steps of the circuit to walk through, and one path in a line.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "views/explain/explain.h"

namespace headlight {

namespace {

constexpr float kStepNumber = 24, kStepIndent = 34, kStepButton = 72;
constexpr double kStepSeconds = 8;

/// "[2] Find", accented while it is shown; a click shows it, or all again.
void draw_step_name(Scene& s, Rect line, int i) {
    Ui& ui = s.ui;
    auto& state = s.of<ExplainState>();
    const std::string& name = state.told.steps[size_t(i)].name;
    const bool on = state.step == i;
    const Rect whole{line.x, line.y, std::min(line.w, kStepIndent + ui.text.width(kBody, name) + gap::small),
                     line.h};
    const Hit hit = ui.on_page() ? Hit{} : ui.control("explain/step/" + std::to_string(i + 1), whole);
    const Rect box = band(take_left(line, kStepNumber, kStepIndent - kStepNumber), kStepNumber);
    ui.fill(box, on ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
    ui.frame(box, on ? ui.colors->accent : hit.hovered ? ui.colors->hover : ui.colors->l2, 1, size::corner);
    const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t1;
    write(ui, box, kBodyMono, ink, std::to_string(i + 1), Flush::center);
    write(ui, line, kBody, ink, name);
    ui.explain("explain/step", whole);
    if (!hit.clicked) return;
    state.step = on ? ExplainState::kAllSteps : i;
    state.plays = false;
    s.leave_text();
}

/// "Back", "Forward" and "Play" from the left; returns what is left of the line.
Rect draw_step_buttons(Scene& s, Rect line) {
    Ui& ui = s.ui;
    auto& state = s.of<ExplainState>();
    const auto button = [&](const char* path, const char* label, const char* command) {
        if (ui.button(path, take_left(line, kStepButton, gap::small), label)) s.send(command);
    };
    button("explain/back", "Back", "explain previous");
    button("explain/next", "Forward", "explain next");
    button("explain/play", state.plays ? "Pause" : "Play", "explain play");
    return line;
}

void draw_steps_beside(Scene& s, Rect& rest, bool controls) {
    constexpr float kName = 30, kLeastText = 36;
    Ui& ui = s.ui;
    const auto& state = s.of<ExplainState>();
    const int count = isize(state.told.steps);
    float high = kLeastText;
    const float wide = nth_column(rest, 0, count, gap::wide).w - kStepIndent;
    for (const ExplanationStep& step : state.told.steps)
        high = std::max(high, ui.text.wrapped_height(wide, kCaption, step.text));
    Rect area = take_bottom(rest, kName + high + (controls ? size::button + gap::medium : 0), gap::medium);
    ui.hairline(area.x, area.y - gap::close, area.right(), area.y - gap::close);
    if (controls) {
        const Rect hint = draw_step_buttons(s, take_bottom(area, size::button, gap::medium));
        write(ui, hint, kCaption, ui.colors->t3, "← → walk through the steps.");
    }
    for (int i = 0; i < count; ++i) {
        Rect column = nth_column(area, i, count, gap::wide);
        draw_step_name(s, take_top(column, kName), i);
        const bool dim = shown_step(s) && state.step != i;
        ui.text.draw_wrapped(column.x + kStepIndent, column.y, column.w - kStepIndent, kCaption,
                             dim ? ui.colors->t3 : ui.colors->t2, state.told.steps[size_t(i)].text);
    }
}

void draw_step_alone(Scene& s, Rect& rest, bool controls) {
    constexpr float kName = 26, kGap = 4;
    Ui& ui = s.ui;
    const auto& state = s.of<ExplainState>();
    const int shown = std::clamp(state.step, 0, isize(state.told.steps) - 1);
    const std::string& text = state.told.steps[size_t(shown)].text;
    const float high = ui.text.wrapped_height(rest.w, kCaption, text);
    Rect area = take_bottom(rest, kName + kGap + high, gap::tight);
    Rect line = take_top(area, kName, kGap);
    if (controls) draw_step_buttons(s, take_right(line, 3 * (kStepButton + gap::small), gap::small));
    draw_step_name(s, line, shown);
    ui.text.draw_wrapped(area.x, area.y, area.w, kCaption, ui.colors->t2, text);
}

}  // namespace

void draw_explain_steps(Scene& s, Rect& rest) {
    constexpr float kRoomy = 640, kHighEnough = 520;
    if (s.of<ExplainState>().told.steps.empty()) return;
    const bool controls = !s.ui.on_page() && !s.ui.without_toolbars;
    if (rest.w >= kRoomy && rest.h >= kHighEnough)
        draw_steps_beside(s, rest, controls);
    else
        draw_step_alone(s, rest, controls);
}

void draw_path_strip(Scene& s, Rect line, const Explanation& of) {
    constexpr float kArrow = 26, kCount = 84;
    Ui& ui = s.ui;
    auto& state = s.of<ExplainState>();
    const PathEdge* edge = shown_edge(s, of);
    if (!edge) return;
    const int count = isize(of.edges), at = int(edge - of.edges.data());
    const auto arrow = [&](const char* path, const char* label, int by) {
        const Rect r = band(take_left(line, kArrow, gap::tight), size::chip);
        if (ui.button(path, r, label)) state.held = of.edges[size_t((at + by + count) % count)];
    };
    arrow("explain/path/previous", "‹", -1);
    arrow("explain/path/next", "›", 1);
    write(ui, take_left(line, kCount, gap::small), kCaptionMono, ui.colors->t3,
          std::to_string(at + 1) + " of " + std::to_string(count));
    const std::string name = edge_name(s, of, *edge);
    take_left(line, write(ui, line, kBodyMono, ui.colors->t1, name), gap::medium);
    take_left(line,
              write(ui, line, kBodyMono, edge->effect >= 0 ? ui.colors->plus : ui.colors->minus,
                    signed_number(edge->effect, 2)),
              gap::small);
    const std::string split = std::isnan(edge->by_keys)
                                  ? "logits"
                                  : "logits: by keys " + signed_number(edge->by_keys, 2) + ", queries " +
                                        signed_number(edge->by_queries, 2) + ", values " +
                                        signed_number(edge->by_values, 2);
    write(ui, line, kCaption, ui.colors->t2, first_that_fits(ui, kCaption, {split, "logits"}, line.w));
    ui.name("explain/strip", line);
}

void play_steps(Scene& s) {
    auto& state = s.of<ExplainState>();
    if (!state.plays || s.ui.on_page()) return;
    const double now = ImGui::GetTime();
    if (now >= state.next_step) {
        state.next_step = now + kStepSeconds;
        if (++state.step >= isize(state.told.steps)) {
            state.step = ExplainState::kAllSteps;
            state.plays = false;
            return;
        }
    }
    s.ui.wake_after = float(std::max(0.01, state.next_step - now));
}

}  // namespace headlight
