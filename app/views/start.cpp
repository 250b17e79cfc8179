// What stands in the center while there is no sentence; and the three hints of the first start.
#include "io/json.h"
#include "paint/layout.h"
#include "views/panels.h"
#include "views/views.h"

namespace headlight {

namespace {

struct Sample {
    std::string text, why;
};

/// Sentences to read, or to translate.
std::vector<Sample> read_samples(bool to_translate) {
    std::vector<Sample> out;
    for (const Json& s : embedded_json("assets/sentences.json"))
        if (s.value("translate", false) == to_translate)
            out.push_back({s["text"].get<std::string>(), s["why"].get<std::string>()});
    return out;
}

const std::vector<Sample>& samples(const Scene& scene) {
    static const std::vector<Sample> to_read = read_samples(false), to_translate = read_samples(true);
    return scene.model() && scene.model()->config.can.write_target ? to_translate : to_read;
}

bool draw_choice(Scene& s, const std::string& path, Rect r, const Sample& sample) {
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    if (h.hovered) ui.frame(r, ui.colors->l2, 1, size::corner);
    ui.text.draw(r.x + 16, r.y + (sample.why.empty() ? r.h / 2 : 17), kBody, ui.colors->t1,
                 ui.text.fitted(kBody, sample.text, r.w - 32));
    if (!sample.why.empty()) ui.text.draw(r.x + 16, r.y + 40, kCaption, ui.colors->t3, sample.why);
    return h.clicked;
}

struct Card {
    const char *title, *text;
};
constexpr Card kCards[] = {
    {"Type anything", "Every view follows each key press."},
    {"Pick a head", "Each small square is one head. Arrow keys move between them."},
    {"Point at a cell", "Its numbers appear on the right. Click locks the cell, Esc unlocks it."}};

/// A card and the line that ties it to what it speaks of.
void draw_card(Ui& ui, int number, Rect r, ImVec2 from, ImVec2 to) {
    ui.stroke(from, to, ui.colors->accent, 2);
    ui.disc(to, 3.5f, ui.colors->accent);
    ui.fill(r, ui.colors->dark ? ui.colors->bg3 : ui.colors->bg2, size::popup_corner);
    ui.frame(r, ui.colors->accent, 1, size::popup_corner);
    const ImVec2 disc{r.x + 26, r.y + 26};
    ui.disc(disc, 12, ui.colors->accent);
    ui.text.draw_centered(disc.x, disc.y, kBody, ui.colors->on_accent, std::to_string(number + 1));
    ui.text.draw(r.x + 50, r.y + 26, kBody, ui.colors->t1, kCards[number].title);
    ui.text.draw_wrapped(r.x + 50, r.y + 40, r.w - 64, kCaption, ui.colors->t2, kCards[number].text);
    ui.name("hint/" + std::to_string(number + 1), r);
    ui.cover(r);
}

/// What to do while a vision model has no picture.
void draw_start_picture(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const float w = std::min(520.0f, area.w - 48), h = 150;
    const Rect r{area.middle_x() - w / 2, area.y + 80, w, h};
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    ui.text.draw_centered(r.middle_x(), r.y + 52, kTitle, ui.colors->t1, "Drop an image here");
    ui.text.draw_centered(r.middle_x(), r.y + 84, kBody, ui.colors->t2,
                          "or type its path above. PNG and JPEG are read.");
    if (!s.answer->text_error.empty())
        ui.text.draw_wrapped(r.x, r.bottom() + 16, w, kBody, ui.colors->warning, s.answer->text_error);
    ui.name("start picture", r);
}

}  // namespace

void draw_start_sentences(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (s.model() && s.model()->config.can.read_image) return draw_start_picture(s, area);
    const float width = std::min(680.0f, area.w - 2 * gap::wide);
    Rect rest{area.x + std::min(192.0f, (area.w - width) / 2), area.y + 54, width, area.h - 54};
    ui.text.draw(rest.x, take_top(rest, 26).y, kBody, ui.colors->t1, "Sentences to start from");
    const auto& offered = samples(s);
    for (size_t i = 0; i < offered.size(); ++i) {
        if (rest.h < 96) return;
        if (draw_choice(s, "sample/" + std::to_string(i), take_top(rest, 56, gap::small), offered[i]))
            s.send("text", offered[i].text);
    }
    take_top(rest, 20);
    const auto& recent = s.session.preferences.recent_texts;
    const float label = ui.text.draw(rest.x, rest.y, kCaption, ui.colors->t3, "Recent");
    if (recent.empty()) ui.text.draw(rest.x + label + 20, rest.y, kCaption, ui.colors->t2, "none yet");
    take_top(rest, gap::large);
    for (size_t i = 0; i < recent.size() && rest.h > 36; ++i)
        if (draw_choice(s, "recent/" + std::to_string(i), take_top(rest, 36, 6), {recent[i], ""}))
            s.send("text", recent[i]);
}

void draw_hints(Scene& s, Rect window) {
    Ui& ui = s.ui;
    if (s.session.preferences.hints_seen || !ui.widgets.count("sentence") || !ui.widgets.count("grid") ||
        !ui.widgets.count("inspector/title") || !s.sentence())
        return;
    const Rect field = ui.widgets["sentence"], grid = ui.widgets["grid"],
               title = ui.widgets["inspector/title"];
    ImDrawList* below = ui.list;
    ui.use_list(ImGui::GetForegroundDrawList());
    const Rect one{field.x + field.w * 0.63f, window.y + 114, 240, 92};
    draw_card(ui, 0, one, {one.x + 70, one.y}, {one.x + 70, field.bottom()});
    const Rect two{16, grid.bottom() + 56, std::min(288.0f, title.x - 32), 94};
    const float tie = std::min(grid.right() - 20, two.right() - 12);
    draw_card(ui, 1, two, {tie, two.y}, {tie, grid.bottom() + 4});
    const Rect three{title.x - 420, window.y + 318, 272, 150};
    draw_card(ui, 2, three, {three.right(), three.y + 24}, {title.x + 14, three.y + 24});
    const Rect button{three.x + 54, three.bottom() - 46, 120, size::button};
    ui.name("hint/done", button);
    ui.fill(button, ui.colors->dark ? ui.colors->accent : ui.colors->accent_text, size::corner);
    ui.text.draw_centered(button.middle_x(), button.middle_y(), kBody, ui.colors->on_accent, "Got it");
    ui.text.draw(button.right() + 12, button.middle_y(), kCaption, ui.colors->t3, "shown once");
    ui.use_list(below);
}

}  // namespace headlight
