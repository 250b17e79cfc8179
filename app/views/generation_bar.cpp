// The generation bar: how the model chooses its tokens, one step after another, and what else stood to
// choice.

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/generation.h"

namespace headlight {

namespace {

constexpr double kStepSeconds = 0.6;

/// When the last step that went on by itself was; −1: none yet.
struct PlayState {
    double step_at = -1;
};

int shown_step(const Scene& s) { return s.sentence()->step; }
int last_step(const Scene& s) { return s.sentence()->written->steps(); }

/// A choice among numbers, which a command sets; one that is none of them is offered too.
template <class T>
void choose_number(const Scene& s, float& x, float y, const char* label, const char* path,
                   const char* command, std::vector<T> values, T value,
                   const std::function<std::string(T)>& text) {
    auto now = std::find(values.begin(), values.end(), value);
    if (now == values.end()) now = values.insert(values.end(), value);
    const auto current = narrow<int>(now - values.begin());
    std::vector<std::string> items;
    for (const T v : values) items.push_back(text(v));
    if (const int c = s.ui.choice(x, y, label, path, items, current); c >= 0)
        s.send(command, decimals(values[c], 4));
}

std::string as_count(int v) { return v == 0 ? "all" : std::to_string(v); }
std::string as_decimal(float v) { return decimals(v, v == std::floor(v * 10) / 10 ? 1 : 2); }

constexpr const char* kMethods[] = {"greedy", "beams", "sampling"};  // as the command spells them

/// The methods: greedy, beam search, sampling.
void choose_decoding(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    const SamplingParams& d = s.session.document.generation.decoding;
    const int method = d.temperature > 0 ? 2 : d.beams > 1 ? 1 : 0;
    if (const int c =
            ui.choice(x, y, "Decoding", "generation/method", {"greedy", "beam search", "sampling"}, method);
        c >= 0 && c != method)
        s.send("decoding", kMethods[c]);
    if (d.temperature > 0) {
        choose_number<float>(s, x, y, "Temperature", "generation/temperature", "sampling temperature",
                             {0.3f, 0.5f, 0.8f, 1.0f, 1.3f, 2.0f}, d.temperature, as_decimal);
        choose_number<int>(s, x, y, "Top k", "generation/top_k", "top k", {0, 5, 10, 40, 100}, d.top_k,
                           as_count);
        choose_number<float>(s, x, y, "Top p", "generation/top_p", "top p", {1.0f, 0.95f, 0.9f, 0.8f, 0.5f},
                             d.top_p, as_decimal);
        const std::string seed = "Seed " + std::to_string(d.seed);
        const Rect again{x, y - 14, ui.text.width(kBody, seed) + 24, 28};
        if (ui.button("generation/seed", again, seed)) s.send("seed", std::to_string(d.seed + 1));
        x = again.right() + 16;
    } else if (d.beams > 1) {
        choose_number<int>(s, x, y, "Beams", "generation/beams", "beams", {2, 3, 4, 5, 6, 8}, d.beams,
                           as_count);
        choose_number<float>(s, x, y, "Length penalty", "generation/length_penalty", "length penalty",
                             {0.0f, 0.6f, 1.0f, 1.5f, 2.0f}, d.length_penalty, as_decimal);
    }
    if (s.model()->config.can.continue_text)
        choose_number<int>(s, x, y, "Tokens", "generation/length", "length", {8, 16, 24, 48, 96, 192},
                           s.session.document.generation.length, as_count);
}

/// Lets the step go on by itself until the end.
void play(const Scene& s) {
    const GenerationState& g = s.session.document.generation;
    double& step_at = s.of<PlayState>().step_at;
    if (!g.playing) step_at = -1;
    if (!g.playing) return;
    if (shown_step(s) >= last_step(s) && g.step < 0) return s.send("play");  // which ends it
    const double now = ImGui::GetTime();
    if (step_at < 0) step_at = now;
    const double rest = kStepSeconds - (now - step_at);
    if (rest <= 0) {
        s.send("step", "+1");
        step_at = now;
    }
    s.ui.wake_after = float(std::max(0.01, rest > 0 ? rest : kStepSeconds));
}

constexpr const char* kInsert = "Insert into text";

float insert_width(Ui& ui) { return ui.text.width(kBody, kInsert) + 24; }

void draw_play(Scene& s, float right, float y) {
    Ui& ui = s.ui;
    const Rect r{right - 72, y - 16, 72, 32};
    if (ui.button("generation/play", r, s.session.document.generation.playing ? "Pause" : "Play"))
        s.send("play");
    if (!s.model()->config.can.continue_text) return;
    const float w = insert_width(ui);
    if (ui.button("generation/keep", {r.x - 8 - w, r.y, w, r.h}, kInsert)) s.send("insert generated");
}

void draw_ticks(Scene& s, Rect track) {
    Ui& ui = s.ui;
    const WrittenText& w = *s.sentence()->written;
    const int n = last_step(s), now = shown_step(s);
    const float apart = n ? track.w / float(n) : track.w;
    float free_from = track.x - 60;
    const auto x_of = [&](int i) { return track.x + apart * float(i); };
    const auto label = [&](int i) {
        return i < isize(w.labels) ? shorten_middle(w.labels[i], 14) : std::string("…");
    };
    const float wide = ui.text.width(kCaptionMono, label(now)), from = x_of(now) - wide / 2 - 8,
                to = from + wide + 16;
    for (int i = 0; i <= n; ++i) {
        const float x = x_of(i), half = ui.text.width(kCaptionMono, label(i)) / 2;
        if (apart >= 4)
            ui.fill({x, track.middle_y() - 4, ui.line(), 8}, i <= now ? ui.colors->accent : ui.colors->l2);
        if (i != now && (x - half < free_from || (x + half > from && x - half < to))) continue;
        ui.text.draw_centered(x, track.middle_y() + 24, kCaptionMono,
                              i == now  ? ui.colors->accent_text
                              : i < now ? ui.colors->t2
                                        : ui.colors->t3,
                              label(i));
        free_from = x + half + 10;
    }
}

void draw_slider(Scene& s, Rect track) {
    Ui& ui = s.ui;
    const int n = last_step(s), now = shown_step(s);
    const Rect area{track.x - 10, track.y - 14, track.w + 20, 28};
    const Hit h = ui.control("generation/slider", area);
    if (h.pressed && n > 0) {
        const auto step = std::lround((h.mouse.x - track.x) / track.w * float(n));
        s.send("step", std::to_string(std::clamp<long>(step, 0, n)));
    }
    if (const int by = ui.take_step("generation/slider"))
        s.send("step", std::to_string(std::clamp(now + by, 0, n)));
    const float at = track.x + (n ? track.w * float(now) / float(n) : 0);
    ui.fill({track.x, track.middle_y() - 1, track.w, 2}, ui.colors->l2);
    ui.fill({track.x, track.middle_y() - 1, at - track.x, 2}, ui.colors->accent);
    draw_ticks(s, track);
    ui.fill({at - 5, track.middle_y() - 10, 10, 20}, h.hovered ? ui.colors->hover : ui.colors->accent,
            size::corner);
}

/// The alternatives where the shown pass ends; a click takes one.
void draw_others(Scene& s, Rect row) {
    Ui& ui = s.ui;
    const auto choices = choices_at(s, shown_step(s));
    float x = row.x + ui.text.draw(row.x, row.middle_y(), kCaption, ui.colors->t3, "Alternatives") + 12;
    for (size_t i = 0; i < choices.size(); ++i) {
        const std::string label = prediction_label(*s.model(), choices[i].id),
                          share = percent(choices[i].probability);
        const float w = ui.text.width(kCaptionMono, label + share) + 30;
        if (x + w > row.right()) break;
        const Rect r{x, row.middle_y() - 13, w, 26};
        const std::string path = "generation/choice/" + std::to_string(i);
        const Hit h = ui.control(path, r);
        const bool on = is_written(s, shown_step(s), choices[i].id);
        ui.fill(r, h.hovered ? ui.colors->bg3 : on ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
        ui.frame(r, on ? ui.colors->accent : ui.colors->l2, 1, size::corner);
        const float text = ui.text.draw(x + 10, r.middle_y(), kCaptionMono,
                                        on ? ui.colors->accent_text : ui.colors->t1, label);
        ui.text.draw(x + text + 18, r.middle_y(), kCaptionMono, ui.colors->t3, share);
        ui.tooltip(path, h, "Continue from “" + label + "”");
        if (h.clicked) go_on_from(s, shown_step(s), choices[i].id);
        x += w + 6;
    }
}

}  // namespace

bool offers_generation(const Scene& s) {
    if (!s.sentence() || !s.model()->has_logits() || !s.model()->tokenizer ||
        !s.sentence()->trace->has_weights())
        return false;
    return s.model()->config.can.continue_text || s.model()->config.can.write_target;
}

std::vector<Prediction> choices_at(const Scene& s, int step) {
    const auto& tokens = s.sentence()->written->generation.tokens;
    if (step < isize(tokens)) return tokens[step].alternatives;
    std::vector<Prediction> out;  // behind the last written token
    if (!s.sentence()->predictions.empty())
        for (const NextToken& t : s.sentence()->predictions[0].tokens) out.push_back({t.id, t.probability});
    return out;
}

bool is_written(const Scene& s, int step, int id) {
    const auto& tokens = s.sentence()->written->generation.tokens;
    return step < isize(tokens) && tokens[step].id == id;
}

void go_on_from(const Scene& s, int step, int id) {
    s.send("force", std::to_string(step) + "," + std::to_string(id));
}

float generation_bar_height(const Scene& s, bool shows_others) {
    if (!offers_generation(s) || !s.sentence()->written ||
        (!s.session.document.generation.bar && shows_others))
        return 0;
    return shows_others ? 150 : 112;
}

void draw_generation_bar(Scene& s, Rect area, bool shows_others) {
    Ui& ui = s.ui;
    play(s);
    ui.fill(area, ui.colors->bg0);
    ui.hairline(area.x, area.y, area.right(), area.y);
    const bool decoder = s.model()->config.can.continue_text;
    const float pad = 24, y = area.y + 28, buttons = 96 + (decoder ? insert_width(ui) + 8 : 0);
    const std::string step = "Step " + std::to_string(shown_step(s)) + " of " + std::to_string(last_step(s));
    ui.text.draw(area.x + pad, y, kBody, ui.colors->t1, step);
    ui.name("generation/step", {area.x + pad, y - 10, ui.text.width(kBody, step), 20});
    draw_slider(s, {area.x + 152, y - 1, area.w - 152 - pad - buttons - 16, 2});
    draw_play(s, area.right() - pad, y);
    const float below = area.y + 88;
    if (!s.sentence()->second.empty())
        ui.text.draw(
            area.x + pad, below, kCaption, ui.colors->t2,
            ui.text.fitted(kCaption,
                           "You typed this target (teacher forcing): each probability is the model’s. "
                           "Choose another token to let the model continue.",
                           area.w - 2 * pad));
    else
        choose_decoding(s, area.x + pad, below);
    if (!s.session.document.generation.forced.empty()) {
        const std::string many = std::to_string(s.session.document.generation.forced.size()) +
                                 (s.session.document.generation.forced.size() == 1 ? " token" : " tokens") +
                                 " forced";
        const float w = ui.text.width(kCaption, "Release");
        ui.text.draw_right(area.right() - pad - w - 12, below, kCaption, ui.colors->t3, many);
        if (ui.link("generation/release", area.right() - pad, below, "Release")) s.send("unforce");
    }
    if (shows_others) draw_others(s, {area.x + pad, area.y + 112, area.w - 2 * pad, 28});
}

}  // namespace headlight
