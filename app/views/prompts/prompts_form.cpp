// Draws the form: template, answer, and a list of words for each name in braces.
#include "paint/layout.h"
#include "views/prompts/prompts.h"

namespace headlight {

namespace {

constexpr float kFieldHigh = 32, kNames = 72;

/// Draws a field; sends `command` with what was typed, after `prefix`.
void draw_prompt_field(Scene& s, Rect r, const std::string& path, const std::string& value,
                       const std::string& hint, const char* command, const std::string& prefix = "") {
    Ui& ui = s.ui;
    const Ui::Entry entry = ui.entry(path, r, value);
    if (!entry.open) {
        ui.fill(r, entry.hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
        ui.frame(r, ui.colors->l2, 1, size::corner);
        write(ui, inset(r, gap::small, 0), kCaption, value.empty() ? ui.colors->t3 : ui.colors->t1,
              value.empty() ? hint : value);
    }
    if (entry.typed) s.send(command, prefix + *entry.typed);
}

void draw_labeled(Scene& s, Rect column, const char* label, const std::string& path, const std::string& value,
                  const std::string& hint, const char* command) {
    caption(s.ui, take_top(column, size::line, gap::tight), label);
    draw_prompt_field(s, take_top(column, kFieldHigh), path, value, hint, command);
}

void draw_prompt_lists(Scene& s, Rect& rest, const PromptsState& state) {
    Ui& ui = s.ui;
    const auto names = prompt_names(state.typed());
    if (names.empty()) return;
    caption(ui, take_top(rest, size::line, gap::tight), "Words of each name, separated by commas");
    for (const std::string& name : names) {
        if (rest.h < 3 * kFieldHigh) return;
        Rect line = take_top(rest, kFieldHigh, gap::close);
        write(ui, take_left(line, kNames, gap::small), kCaptionMono, ui.colors->t1, "{" + name + "}");
        draw_prompt_field(s, line, "prompts/fill/" + name, state.words_of(name),
                          "words, or another name to take its words", "prompts fill", name + ": ");
    }
    take_top(rest, 0, gap::small);
}

void draw_prompt_choices(Scene& s, Rect& rest, const PromptsState& state) {
    constexpr float kCount = 56;
    static const char* kWords[] = {"ablated", "direct", "left-out", "patched"};
    Toolbar bar(s.ui, take_top(rest, kFieldHigh, gap::small), Toolbar::Lines::one);
    const int chosen =
        bar.choice("Measure", "prompts/of",
                   {"heads ablated", "heads straight to the answer", "tokens left out", "heads patched"},
                   static_cast<int>(state.of));
    if (chosen >= 0) s.send("prompts of", kWords[chosen]);
    Rect line = take_top(rest, kFieldHigh, gap::medium);
    const std::string before = "Prompts, at most";
    caption(s.ui, take_left(line, s.ui.text.width(kCaption, before), gap::small), before);
    draw_prompt_field(s, take_left(line, kCount), "prompts/count", std::to_string(state.at_most), "",
                      "prompts count");
}

void draw_prompt_buttons(Scene& s, Rect& rest, const PromptsState& state) {
    constexpr float kMeasure = 120, kExample = 110;
    Rect line = take_top(rest, size::button, gap::small);
    const std::string refusal = state.refusal();
    const auto look = refusal.empty() ? Ui::Look::primary : Ui::Look::off;
    if (s.ui.button("prompts/measure", take_left(line, kMeasure, gap::small), "Measure", look))
        s.send("prompts measure");
    if (s.ui.button("prompts/example", take_left(line, kExample), "Example")) s.send("prompts example");
    if (!refusal.empty()) caption_lines(s.ui, rest, refusal);
}

}  // namespace

void draw_prompts_form(Scene& s, Rect area) {
    constexpr float kLabeled = size::line + gap::tight + kFieldHigh;
    const PromptsState& state = s.of<PromptsState>();
    Rect rest = area;
    draw_labeled(s, take_top(rest, kLabeled, gap::medium), "Template: a sentence with names in braces",
                 "prompts/text", state.text, "When {A} and {B} went out, {B} called", "prompts text");
    if (state.of == AveragedValue::patched)
        draw_labeled(s, take_top(rest, kLabeled, gap::medium),
                     "Corrupted: the same number of tokens, another answer", "prompts/corrupted",
                     state.corrupted, "When {A} and {B} went out, {A} called", "prompts corrupted");
    Rect answers = take_top(rest, kLabeled, gap::medium);
    const Rect answer = take_left(answers, (answers.w - gap::medium) / 2, gap::medium);
    draw_labeled(s, answer, "Answer", "prompts/answer", state.answer, "{A}", "prompts answer");
    draw_labeled(s, answers, "Wrong answer, if any", "prompts/wrong", state.wrong, "{B}", "prompts wrong");
    draw_prompt_lists(s, rest, state);
    draw_prompt_choices(s, rest, state);
    draw_prompt_buttons(s, rest, state);
}

}  // namespace headlight
