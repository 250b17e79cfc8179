// What the changes do: the prediction before and after and change by change, and the sweep over all heads.
#include <algorithm>
#include <cmath>

#include "views/changes.h"
#include "views/side_panel.h"
#include "views/views.h"

namespace headlight {

namespace {

/// "80.4 % → 13.9 %   −66.5"
void draw_headline(Scene& s, Rect column, float y, const ProbabilityChange& p) {
    Ui& ui = s.ui;
    constexpr float kLine = 32, kApart = 10;
    write(ui, line_at(column, y, kLine), kTitleMono, ui.colors->t1, p.label);
    Rect line = line_at(column, y + kLine, kLine);
    write(ui, line, kTitleMono, change_ink(ui, p.b - p.a), points_text(p.b - p.a), Flush::right);
    take_left(line, write(ui, line, kTitleMono, ui.colors->t2, percent(p.a)), kApart);
    take_left(line, write(ui, line, kTitle, ui.colors->t3, "→"), kApart);
    write(ui, line, kTitleMono, ui.colors->accent_text, percent(p.b));
}

/// What the prediction's probabilities are after, one after another.
std::vector<std::string> stage_labels(const Scene& s, const Stages& stages) {
    const Intervention& now = s.sentence()->intervention;
    std::vector<std::string> out{stages.first == 0
                                     ? now.mask.is_own() ? "unchanged" : "mask"
                                     : std::to_string(stages.first) +
                                           (stages.first == 1 ? " intervention" : " interventions")};
    for (size_t i = stages.first; i < now.changes.size(); ++i)
        out.push_back("+ " + change_text(s, now.changes[i]));
    return out;
}

/// A label without the words at its beginning that another one has too: "… ball 10".
std::string distinguishing(const std::vector<std::string>& labels, size_t which) {
    const std::string& label = labels[which];
    size_t common = 0;  // up to the beginning of a word
    for (size_t other = 0; other < labels.size(); ++other) {
        if (other == which) continue;
        const auto end =
            std::mismatch(label.begin(), label.end(), labels[other].begin(), labels[other].end());
        const size_t same = end.first - label.begin(), blank = label.find_last_of(' ', same);
        if (blank != std::string::npos && blank < same) common = std::max(common, blank + 1);
    }
    return common == 0 ? label : "… " + label.substr(common);
}

/// The prediction's probability after each change.
void draw_stages(Scene& s, SidePanel& c) {
    const auto* found = s.found<StagesWanted>();
    const auto& changes = s.sentence()->intervention.changes;
    if (!found || found->answer.probability.size() < 2 ||
        found->answer.first + found->answer.probability.size() != changes.size() + 1)
        return;
    const Stages& stages = found->answer;
    const auto labels = stage_labels(s, stages);
    const float room = c.at.w * 0.46f;
    c.rule();
    c.heading(listed_label(*s.model(), stages.token) + " after each intervention");
    c.bars = c.at.w * 0.5f;
    for (size_t i = 0; i < labels.size() && c.y + 14 < c.end(); ++i) {
        const bool fits = c.ui.text.width(kBodyMono, labels[i]) <= room;
        const std::string path = "effects/stage/" + std::to_string(i);
        if (!fits) c.ui.tooltip(path, c.ui.hit(path, {c.at.x, c.y - 12, room, 24}), labels[i]);
        c.bar({"", fits ? labels[i] : distinguishing(labels, i), stages.probability[i],
               percent(stages.probability[i]), i + 1 == labels.size()});
    }
}

}  // namespace

std::vector<Question> ask_about_changes(const Scene& s) {
    if (!s.sentence()->unchanged) return {};
    std::vector<Question> out;
    if (s.session.preferences.rank == kRankByMoved) out.push_back(MovedWanted{});
    if (shows_effects(s) && !s.of<Painting>().begun) out.push_back(StagesWanted{});
    return out;
}

bool shows_effects(const Scene& s) {
    return !s.sentence()->effects.empty() &&
           (s.of<Painting>().brush != Brush::off || !s.session.selection.focused());
}

void draw_effects_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const bool vision = s.model()->config.can.read_image;
    const Rect line = inspector_line(ui, area);
    write(ui, line, kTitle, ui.colors->t1,
          vision                             ? "Class"
          : s.model()->config.can.fill_masks ? "Masked token"
                                             : "Next token");
    write(ui, beside_title(line), kCaption, ui.colors->accent_text, "with interventions", Flush::right);
    const Rect foot = panel_foot(area),
               compare{foot.x, foot.y - gap::small - size::button, foot.w, size::button};
    const bool stages = s.found<StagesWanted>() && area.h > 560;
    SidePanel panel(s, area, foot.y - compare.y);
    panel.skip(4);
    draw_headline(s, panel.at, panel.y, s.sentence()->effects[0]);
    panel.y = area.y + 136;
    panel.rule();
    panel.y = draw_effects(s, panel.at, panel.y, compare.y - (stages ? 190 : 20));
    if (stages) draw_stages(s, panel);
    panel.finish();
    if (ui.button("effects/compare", compare, "Compare before and after")) {
        s.send("compare", "changes");
        s.send("view compare");
    }
}

namespace {

/// "before ▬  after ▬      points"
void draw_effects_head(Ui& ui, Rect line) {
    constexpr float kSwatch = 14, kHigh = 7;
    caption(ui, line, "points", Flush::right);
    for (const auto& [text, color] :
         {std::pair{"before", ui.colors->t3}, std::pair{"after", ui.colors->accent}}) {
        take_left(line, write(ui, line, kCaption, ui.colors->t3, text), gap::close);
        ui.fill(band(take_left(line, kSwatch, gap::medium), kHigh), color);
    }
}

/// A token, its probabilities before and after as two bars, and their difference.
void draw_effect(Ui& ui, Rect line, const ProbabilityChange& p) {
    constexpr float kToken = 80, kPoints = 60, kBars = 12, kBar = 5;
    write(ui, take_left(line, kToken, gap::tight), kBodyMono, ui.colors->t1, p.label);
    write(ui, take_right(line, kPoints, gap::tight), kBodyMono, change_ink(ui, p.b - p.a),
          points_text(p.b - p.a), Flush::right);
    Rect bars = band(line, kBars);
    const auto bar = [&](Rect r, float share, ImU32 color) {
        ui.fill({r.x, r.y, std::max(ui.line(), r.w * share), r.h}, color);
    };
    bar(take_top(bars, kBar), p.a, ui.colors->t3);
    bar(take_bottom(bars, kBar), p.b, ui.colors->accent);
}

}  // namespace

float draw_effects(Scene& s, Rect column, float y, float bottom) {
    constexpr float kStep = 26, kLeast = 60;
    const auto& effects = s.sentence()->effects;
    if (effects.empty() || y + kLeast > bottom) return y;
    draw_effects_head(s.ui, line_at(column, y, kStep));
    for (const ProbabilityChange& p : effects) {
        if (y + kStep + 10 > bottom) break;
        y += kStep;
        draw_effect(s.ui, line_at(column, y, kStep), p);
    }
    return y + gap::wide;
}

bool draw_sweep_state(Scene& s, Rect area) {
    constexpr float kButton = 220, kProgress = 320, kBar = 6;
    Ui& ui = s.ui;
    const Sweep* sweep = s.sweep();
    if (sweep && sweep->ended()) return true;
    if (!s.session.document.sweeping) {
        if (ui.button("sweep/begin", {area.x, area.y, std::min(area.w, kButton), size::button},
                      "Ablate each head in turn"))
            s.send("sweep", "on");
        return false;
    }
    const int done = sweep ? sweep->heads_done() : 0, heads = s.model()->config.head_count();
    area.w = std::min(area.w, kProgress);
    const Rect line = take_top(area, size::row);
    write(ui, line, kCaption, ui.colors->t2,
          "Ablating head " + std::to_string(done) + " of " + std::to_string(heads));
    if (ui.link("sweep/cancel", line.right(), line.middle_y(), "Cancel")) s.send("sweep", "off");
    ui.bar(take_top(area, kBar), float(done) / float(heads), ui.colors->accent);
    return false;
}

}  // namespace headlight
