#include "panels/generation_bar.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

constexpr double kStepSeconds = 0.6;

/// Time of the last automatic step; −1: none yet.
struct PlayState {
    double step_at = -1;
};

int shown_step(const Scene& s) { return s.sentence()->step; }
int last_step(const Scene& s) { return s.sentence()->written->steps(); }

/// Draws a choice of numbers set by a command; includes the current value.
template <class T>
void choose_number(const Scene& s, Toolbar& bar, const char* label, const char* path, const char* command,
                   std::vector<T> values, T value, const std::function<std::string(T)>& text) {
    auto now = std::find(values.begin(), values.end(), value);
    if (now == values.end()) now = values.insert(values.end(), value);
    const auto current = narrow<int>(now - values.begin());
    std::vector<std::string> items;
    for (const T v : values) items.push_back(text(v));
    if (const int c = bar.choice(label, path, items, current); c >= 0)
        s.send(command, decimals(values[c], 4));
}

std::string as_count(int v) { return v == 0 ? "all" : std::to_string(v); }
std::string as_decimal(float v) { return decimals(v, v == std::floor(v * 10) / 10 ? 1 : 2); }

constexpr const char* kMethods[] = {"greedy", "beams", "sampling"};  // the command's words

const std::vector<std::string> kMethodNames{"greedy", "beam search", "sampling"};

/// Greedy, beam search, sampling.
void choose_method(Scene& s, Toolbar& bar, const char* label) {
    const SamplingParams& d = s.session.document.generation.decoding;
    const int method = d.temperature > 0 ? 2 : d.beams > 1 ? 1 : 0;
    if (const int c = bar.choice(label, "generation/method", kMethodNames, method); c >= 0 && c != method)
        s.send("decoding", kMethods[c]);
}

/// Draws the method and its numbers.
void choose_decoding(Scene& s, Rect line) {
    Toolbar bar(s.ui, line);
    const SamplingParams& d = s.session.document.generation.decoding;
    choose_method(s, bar, "Decoding");
    if (d.temperature > 0) {
        choose_number<float>(s, bar, "Temperature", "generation/temperature", "sampling temperature",
                             {0.3f, 0.5f, 0.8f, 1.0f, 1.3f, 2.0f}, d.temperature, as_decimal);
        choose_number<int>(s, bar, "Top k", "generation/top_k", "top k", {0, 5, 10, 40, 100}, d.top_k,
                           as_count);
        choose_number<float>(s, bar, "Top p", "generation/top_p", "top p", {1.0f, 0.95f, 0.9f, 0.8f, 0.5f},
                             d.top_p, as_decimal);
        const std::string seed = "Seed " + std::to_string(d.seed);
        if (bar.press("generation/seed", seed).clicked) s.send("seed", std::to_string(d.seed + 1));
    } else if (d.beams > 1) {
        choose_number<int>(s, bar, "Beams", "generation/beams", "beams", {2, 3, 4, 5, 6, 8}, d.beams,
                           as_count);
        choose_number<float>(s, bar, "Length penalty", "generation/length_penalty", "length penalty",
                             {0.0f, 0.6f, 1.0f, 1.5f, 2.0f}, d.length_penalty, as_decimal);
    }
    if (s.model()->config.can.continue_text)
        choose_number<int>(s, bar, "Tokens", "generation/length", "length", {8, 16, 24, 48, 96, 192},
                           s.session.document.generation.length, as_count);
}

/// Advances the step automatically to the end.
void play(const Scene& s) {
    const GenerationState& g = s.session.document.generation;
    double& step_at = s.of<PlayState>().step_at;
    if (!g.playing) step_at = -1;
    if (!g.playing) return;
    if (shown_step(s) >= last_step(s) && g.step < 0) return s.send("play");  // ends playing
    const double now = ImGui::GetTime();
    if (step_at < 0) step_at = now;
    const double rest = kStepSeconds - (now - step_at);
    if (rest <= 0) {
        s.send("step", "+1");
        step_at = now;
    }
    s.ui.wake_after = float(std::max(0.01, rest > 0 ? rest : kStepSeconds));
}

/// Draws "Insert into text" and "Play" at the end of the line.
void draw_play(Scene& s, Rect& line) {
    constexpr float kPlay = 72;
    Ui& ui = s.ui;
    if (ui.button("generation/play", take_right(line, kPlay, gap::small),
                  s.session.document.generation.playing ? "Pause" : "Play"))
        s.send("play");
    if (!s.model()->config.can.continue_text) return;
    const char* keep = s.sentence()->chat ? "Keep the answer" : "Insert into text";
    const Rect insert = take_right(line, ui.text.width(kBody, keep) + gap::wide, gap::small);
    if (ui.button("generation/keep", insert, keep)) s.send("insert generated");
}

/// Draws one tick per step, and tokens below if they fit; always the current one.
void draw_ticks(Scene& s, Rect track) {
    constexpr float kTick = 8, kUnder = 24, kApart = 10;
    Ui& ui = s.ui;
    const WrittenText& w = *s.sentence()->written;
    const int n = last_step(s), now = shown_step(s);
    const float apart = n ? track.w / float(n) : track.w;
    float free_from = track.x - 60;
    const auto x_of = [&](int i) { return track.x + apart * float(i); };
    const auto label = [&](int i) {
        return i < isize(w.labels) ? shorten_middle(w.labels[i], 14) : std::string("…");
    };
    const float wide = ui.text.width(kCaptionMono, label(now)), from = x_of(now) - wide / 2 - gap::small,
                to = from + wide + 2 * gap::small;
    for (int i = 0; i <= n; ++i) {
        const float x = x_of(i), half = ui.text.width(kCaptionMono, label(i)) / 2;
        if (apart >= 4)
            ui.fill(band({x, track.y, ui.line(), track.h}, kTick),
                    i <= now ? ui.colors->accent : ui.colors->l2);
        if (i != now && (x - half < free_from || (x + half > from && x - half < to))) continue;
        ui.text.draw_centered(x, track.middle_y() + kUnder, kCaptionMono,
                              i == now  ? ui.colors->accent_text
                              : i < now ? ui.colors->t2
                                        : ui.colors->t3,
                              label(i));
        free_from = x + half + kApart;
    }
}

void draw_slider(Scene& s, Rect track) {
    constexpr float kGrip = 10;
    Ui& ui = s.ui;
    const int n = last_step(s), now = shown_step(s);
    const Hit h = ui.control("generation/slider", band(inset(track, -kGrip, 0), size::row));
    if (h.pressed && n > 0) {
        const auto step = std::lround((h.mouse.x - track.x) / track.w * float(n));
        s.send("step", std::to_string(std::clamp<long>(step, 0, n)));
    }
    if (const int by = ui.take_step("generation/slider"))
        s.send("step", std::to_string(std::clamp(now + by, 0, n)));
    const float at = track.x + (n ? track.w * float(now) / float(n) : 0);
    ui.fill(band(track, 2), ui.colors->l2);
    ui.fill(band({track.x, track.y, at - track.x, track.h}, 2), ui.colors->accent);
    draw_ticks(s, track);
    ui.fill(band({at - kGrip / 2, track.y, kGrip, track.h}, 2 * kGrip),
            h.hovered ? ui.colors->hover : ui.colors->accent, size::corner);
}

/// Draws the alternatives at the end of the shown pass; a click selects one.
void draw_others(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const auto choices = alternatives_at(s, shown_step(s));
    const char* title = "Alternatives";
    caption(ui, take_left(line, ui.text.width(kCaption, title), gap::medium), title);
    for (size_t i = 0; i < choices.size(); ++i) {
        const std::string label = prediction_label(*s.model(), choices[i].id);
        const Chip chip{label, 0, 0, 0, percent(choices[i].probability)};
        const float w = chip_width(ui, chip);
        if (w > line.w) break;
        const std::string path = "generation/choice/" + std::to_string(i);
        const Hit h = press_chip(ui, path, take_left(line, w, gap::close), chip,
                                 is_generated(s, shown_step(s), choices[i].id));
        ui.tooltip(path, h, "Continue from “" + label + "”");
        if (h.clicked) continue_from(s, shown_step(s), choices[i].id);
    }
}

/// Explains which part of the target is not the model's choice, and offers to release it.
void draw_forced(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const int count = isize(s.session.document.generation.forced);
    if (count == 0) return;
    const char* release = "Release";
    const Rect link = take_right(line, ui.text.width(kCaption, release), gap::medium);
    caption(ui, line, counted_tokens(count) + " forced", Flush::right);
    if (ui.link("generation/release", link.right(), link.middle_y(), release)) s.send("unforce");
}

constexpr float kTop = 12, kStepLine = 32, kLabels = 32, kDecodingLine = 24, kOthersLine = 26;
}  // namespace

float generation_bar_height(const Scene& s, bool shows_others) {
    if (!can_generate(s) || !s.sentence()->written || (!s.session.document.generation.bar && shows_others))
        return 0;
    const float without = kTop + kStepLine + kLabels + kDecodingLine;
    return without + (shows_others ? kOthersLine + 2 * kTop : kTop);
}

void draw_generation_bar(Scene& s, Rect area, bool shows_others) {
    constexpr float kStep = 128;
    Ui& ui = s.ui;
    play(s);
    ui.fill(area, ui.colors->bg0);
    ui.hairline(area.x, area.y, area.right(), area.y);
    Rect rest = inset(area, size::center_pad, kTop);
    Rect line = take_top(rest, kStepLine, kLabels);
    const std::string step = "Step " + std::to_string(shown_step(s)) + " of " + std::to_string(last_step(s));
    const Rect label = take_left(line, kStep);
    write(ui, label, kBody, ui.colors->t1, step);
    ui.name("generation/step", band({label.x, label.y, ui.text.width(kBody, step), label.h}, size::line));
    if (s.session.document.generation.bar && press_cross(ui, "generation/close", line))
        s.send("generate", "off");
    draw_play(s, line);
    take_right(line, 0, gap::large);
    draw_slider(s, line);
    const Rect below = take_top(rest, kDecodingLine, kTop);
    if (!s.sentence()->second.empty())
        write(
            ui, below, kCaption, ui.colors->t2,
            "You typed this target (teacher forcing): each probability is the model’s. Choose another token "
            "to let the model continue.");
    else
        choose_decoding(s, below);
    draw_forced(s, below);
    if (shows_others) draw_others(s, take_top(rest, kOthersLine));
}

void draw_generation_controls(Scene& s, Rect& line) {
    constexpr float kStep = 60;
    if (!can_generate(s) || !s.sentence()->written || !s.session.document.generation.bar) return;
    play(s);
    Ui& ui = s.ui;
    if (press_cross(ui, "generation/close", line)) s.send("generate", "off");
    if (ui.button("generation/next", band(take_right(line, size::chip, gap::tight), size::row_low), "›"))
        s.send("step", "+1");
    const Rect at = take_right(line, kStep, gap::tight);
    write(ui, at, kCaptionMono, ui.colors->t1,
          std::to_string(shown_step(s)) + "/" + std::to_string(last_step(s)), Flush::center);
    ui.name("generation/step", at);
    if (ui.button("generation/previous", band(take_right(line, size::chip, gap::tight), size::row_low), "‹"))
        s.send("step", "-1");
    Toolbar bar(ui, take_right(line, ui.choice_width("", kMethodNames), gap::medium));
    choose_method(s, bar, "");
}

}  // namespace headlight
