// All heads, filling the window: thumbnails by layer or in order, a table, a map of like heads.
#include "views/all_heads.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cast.h"
#include "paint/layout.h"
#include "views/changes.h"
#include "views/save_menu.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr int kBins = 40;

const char* kLayouts[] = {"by layer", "sorted", "table", "map", "values"};

/// Labels in use for this model, once each.
std::vector<std::string> labels_in_use(const Scene& s) {
    std::set<std::string> all;
    const auto of_model = s.session.document.head_labels.find(s.model()->name);
    if (of_model != s.session.document.head_labels.end())
        for (const auto& [head, label] : of_model->second) all.insert(label);
    return {all.begin(), all.end()};
}

/// How the values of all heads spread, with the edge where the filter ends; dragging moves it.
void draw_histogram(Scene& s, Rect r, const HeadChoice& choice) {
    Ui& ui = s.ui;
    std::array<int, kBins> bins{};
    for (const float v : choice.values)
        if (!std::isnan(v))
            ++bins[std::clamp(int((v - choice.low) / std::max(choice.high - choice.low, 1e-12f) * kBins), 0,
                              kBins - 1)];
    const int max = std::max(1, *std::max_element(bins.begin(), bins.end()));
    const float w = r.w / kBins,
                edge = (choice.threshold - choice.low) / std::max(choice.high - choice.low, 1e-12f);
    for (int i = 0; i < kBins; ++i) {
        const float high = bins[i] ? std::max(2.0f, r.h * float(bins[i]) / float(max)) : 0;
        const float middle = (float(i) + 0.5f) / kBins;
        const bool kept = choice.column().ascending ? middle <= edge : middle >= edge;
        ui.fill({r.x + w * float(i), r.bottom() - high, w - ui.line(), high},
                kept ? ui.colors->accent : ui.colors->l2);
    }
    ui.fill({r.x, r.bottom(), r.w, ui.line()}, ui.colors->l2);
    const float x = r.x + r.w * std::clamp(edge, 0.0f, 1.0f);
    const Rect handle{x - 4, r.bottom() - 4, 8, 12};
    ui.fill({x - ui.line() / 2, r.y, ui.line(), r.h}, ui.colors->accent);
    ui.fill(handle, ui.colors->accent, 2);
    const Hit h = ui.control("heads/keep", {r.x - 6, r.y - 4, r.w + 12, r.h + 14});
    if (h.hovered) ui.frame(handle, ui.colors->hover, 1, 2);
    if (const int step = ui.take_step("heads/keep"); step != 0)
        s.of<AllHeadsState>().kept = std::clamp(s.of<AllHeadsState>().kept + 0.05f * float(step), 0.0f, 1.0f);
    if (h.pressed) {
        const float share = std::clamp((h.mouse.x - r.x) / r.w, 0.0f, 1.0f);
        s.of<AllHeadsState>().kept = choice.column().ascending ? share : 1 - share;
    }
}

void draw_filter(Scene& s, Toolbar& bar, const HeadChoice& choice) {
    constexpr float kWidest = 300, kLeast = 90, kHigh = 30, kApart = 12;
    Ui& ui = s.ui;
    const std::string count =
        std::to_string(choice.count) + " of " + std::to_string(choice.kept.size()) + " heads";
    const std::string value =
        number(choice.threshold, 2) + (choice.column().unit.empty() ? "" : " " + choice.column().unit);
    const char* title = choice.column().ascending ? "Filter: at most" : "Filter: at least";
    const float room = bar.rest().w, counted = ui.text.width(kCaption, count);
    const float bars =
        std::min(kWidest, room - ui.text.width(kCaption, title) - ui.text.width(kCaptionMono, value) -
                              counted - 3 * kApart - gap::small);
    if (bars < kLeast) {
        if (room > counted) bar.say(kCaption, ui.colors->t2, count);
        return;
    }
    bar.say(kCaption, ui.colors->t3, title, kApart);
    draw_histogram(s, line_at(bar.take(bars, kApart), bar.rest().middle_y() - 2, kHigh), choice);
    bar.say(kCaptionMono, ui.colors->accent_text, value, kApart);
    bar.say(kCaption, ui.colors->t2, count);
}

/// By which label heads are left out, where there are labels.
void choose_label(Scene& s, Toolbar& bar) {
    std::string& chosen = s.of<AllHeadsState>().label;
    std::vector<std::string> labels = labels_in_use(s);
    if (labels.empty()) return;
    labels.insert(labels.begin(), "any label or none");
    const auto now = std::find(labels.begin() + 1, labels.end(), chosen);
    const int current = now == labels.end() || chosen.empty() ? 0 : narrow<int>(now - labels.begin());
    if (const int c = bar.choice("", "heads/label", labels, current); c >= 0) chosen = c ? labels[c] : "";
}

void draw_all_heads_toolbar(Scene& s, Rect& rest, const HeadChoice& choice) {
    constexpr float kSave = 136, kLeastFilter = 260;
    Ui& ui = s.ui;
    auto& state = s.of<AllHeadsState>();
    const bool wide = rest.w > 1400;
    Toolbar bar = title_toolbar(s, rest, "heads/back", "All heads");
    bar.say(kCaptionMono, ui.colors->t3, std::to_string(choice.kept.size()));
    std::vector<std::string> names;
    for (const HeadColumn& c : choice.columns) names.push_back(c.label);
    if (const int c = bar.choice("Sort by", "heads/sort", names, state.sort); c >= 0)
        s.send("heads sort", sort_words()[c]);
    bar.choose("Layout", "heads/layout", {std::begin(kLayouts), std::end(kLayouts)}, state.layout);
    bar.labels = wide;
    bar.choose("Scale", "heads/scale",
               {"per head, square root", "all heads, square root", "all heads, linear"}, state.scale);
    choose_label(s, bar);
    const bool save = bar.rest().w > kSave + kLeastFilter;
    const Rect button = save ? band(bar.take_end(kSave, gap::large), size::button) : Rect{};
    draw_filter(s, bar, choice);
    if (save && ui.button("save", button, "Save figure…")) s.send("save figure");
}

}  // namespace

void open_head(Scene& s, int block, int head) {
    s.select(block, head);
    s.leave_text();
    s.send("view head");
}

std::vector<Question> ask_all_heads(const Scene& s) {
    std::vector<Question> out{RandomStatisticsWanted{}};
    if (s.of<AllHeadsState>().layout == HeadsLayout::map) out.push_back(HeadMapWanted{});
    return out;
}

void draw_head_card(Scene& s, Rect area, Rect beside, int block, int head) {
    Ui& ui = s.ui;
    if (ui.on_page()) return;
    const auto& stats = s.sentence()->heads[{block, head}].statistics;
    const std::string label = head_label(s, block, head);
    const float w = 320, row = 26, h = 54 + 40 + row * kStatistics + (label.empty() ? 0 : row);
    float x = beside.right() + 8,
          y = std::clamp(beside.y, area.y + 4, std::max(area.y + 4, area.bottom() - h - 4));
    if (x + w > area.right() - 4) x = beside.x - w - 8;
    x = std::max(x, area.x + 4);
    ImDrawList* below = ui.list;
    ui.use_list(ImGui::GetForegroundDrawList());
    const Rect r{x, y, w, h};
    ui.fill(r, ui.colors->bg2, size::popup_corner);
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    Column c(ui, inset(r, gap::large, 0), r.y + 24);
    ui.text.draw(c.at.x, c.y, kTitle, ui.colors->t1, "Head " + head_name(s.model()->config, block, head));
    ui.text.draw_right(c.at.right(), c.y, kCaption, ui.colors->t3, "hover");
    c.skip(30);
    if (!label.empty()) {
        ui.text.draw(c.at.x, c.y, kBody, ui.colors->accent_text, ui.text.fitted(kBody, label, c.at.w));
        c.skip(row);
    }
    for (int i = 0; i < kStatistics; ++i) {
        const HeadStatistic& st = head_statistics()[i];
        const bool sorting = s.of<AllHeadsState>().sort == i;
        if (!*st.unit && !std::isnan(stats[i]))
            ui.bar({c.at.x + 132, c.y - 4, 90, 8}, stats[i], sorting ? ui.colors->accent : ui.colors->t3);
        c.pair(st.label,
               number(stats[i], *st.unit ? 2 : 3) +
                   (*st.unit && !std::isnan(stats[i]) ? " " + std::string(st.unit) : ""),
               sorting);
    }
    ui.text.draw(c.at.x, c.y + 6, kCaption, ui.colors->t3, "Click opens it. Right click labels it.");
    ui.use_list(below);
}

namespace {

/// The layer × head grid of the chosen column.
void draw_values(Scene& s, Rect area, const HeadChoice& choice) {
    constexpr float kDefinition = 36;
    Ui& ui = s.ui;
    const HeadColumn& column = choice.column();
    Rect inside = inset(area, size::center_pad, gap::large);
    write(ui, take_top(inside, size::line, gap::close), kBody, ui.colors->t1, column.label);
    caption_lines(ui, take_top(inside, kDefinition, 2), column.definition);
    if (const auto pressed =
            draw_head_values(s, inside, s.model()->config, {choice.values, column.by_sweep, "values/"}))
        open_head(s, pressed->first, pressed->second);
}

/// While a sweep goes on, its progress and a way to end it; and the token that it watches.
void draw_sweep_bar(Scene& s, Rect& rest) {
    const auto& predicted = s.sentence()->predictions;
    if (s.ui.on_page() || predicted.empty()) return;
    Toolbar bar = view_toolbar(s.ui, rest);
    std::vector<std::string> tokens;
    int current = 0;
    for (int i = 0; i < isize(predicted[0].tokens); ++i) {
        tokens.push_back(predicted[0].tokens[i].label);
        if (predicted[0].tokens[i].id == s.session.document.sweep_token) current = i;
    }
    if (const int c = bar.choice("Effect on the probability of", "sweep/token", tokens, current); c >= 0)
        s.send("sweep token", std::to_string(predicted[0].tokens[c].id));
    Rect state = band(bar.rest(), size::button);
    take_left(state, 0, gap::large);
    draw_sweep_state(s, state);
}

}  // namespace

void draw_all_heads(Scene& s, Rect area) {
    if (!s.sentence()) return;
    const HeadChoice choice = choose_heads(s);
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, size::title_bar, 1);
    else
        draw_all_heads_toolbar(s, rest, choice);
    if (choice.column().by_sweep) draw_sweep_bar(s, rest);
    switch (s.of<AllHeadsState>().layout) {
        case HeadsLayout::table:
            draw_head_table(s, rest, choice);
            break;
        case HeadsLayout::map:
            draw_head_map(s, rest, choice);
            break;
        case HeadsLayout::values:
            draw_values(s, rest, choice);
            break;
        default:
            draw_head_grid(s, rest, choice);
    }
}

View all_heads_view() {
    return {.key = "heads",
            .name = "All heads",
            .digit = '9',
            .draw = draw_all_heads,
            .shows = View::Shows::model,
            .ask = ask_all_heads,
            .fills_window = true,
            .figure = heads_page_figure,
            .numbers = heads_numbers,
            .visit = visit_state<AllHeadsState>,
            .commands = all_heads_commands};
}

}  // namespace headlight
