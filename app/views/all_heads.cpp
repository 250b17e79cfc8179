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

void draw_filter(Scene& s, float& x, float right, float y, const HeadChoice& choice) {
    Ui& ui = s.ui;
    const int heads = isize(choice.kept);
    const std::string count = std::to_string(choice.count) + " of " + std::to_string(heads) + " heads";
    const std::string value =
        number(choice.threshold, 2) + (choice.column().unit.empty() ? "" : " " + choice.column().unit);
    const float words =
        ui.text.width(kCaption, choice.column().ascending ? "Filter: at most" : "Filter: at least") +
        ui.text.width(kCaptionMono, value) + ui.text.width(kCaption, count) + 44;
    const float bars = std::min(300.0f, right - x - words);
    if (bars < 90) {
        if (right - x > ui.text.width(kCaption, count))
            x += ui.text.draw(x, y, kCaption, ui.colors->t2, count) + 16;
        return;
    }
    x += ui.text.draw(x, y, kCaption, ui.colors->t3,
                      choice.column().ascending ? "Filter: at most" : "Filter: at least") +
         12;
    draw_histogram(s, {x, y - 17, bars, 30}, choice);
    x += bars + 12;
    x += ui.text.draw(x, y, kCaptionMono, ui.colors->accent_text, value) + 10;
    x += ui.text.draw(x, y, kCaption, ui.colors->t2, count) + 16;
}

void draw_all_heads_toolbar(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    const float y = area.y + 26;
    float x = draw_back(s, area, "heads/back", "All heads") + 10;
    x += ui.text.draw(x, y + 2, kCaptionMono, ui.colors->t3, std::to_string(choice.kept.size())) + 22;
    std::vector<std::string> names;
    for (const HeadColumn& c : choice.columns) names.push_back(c.label);
    if (const int c = ui.choice(x, y, "Sort by", "heads/sort", names, s.of<AllHeadsState>().sort); c >= 0)
        s.send("heads sort", sort_words()[c]);
    if (const int c = ui.choice(x, y, "Layout", "heads/layout", {std::begin(kLayouts), std::end(kLayouts)},
                                static_cast<int>(s.of<AllHeadsState>().layout));
        c >= 0)
        s.of<AllHeadsState>().layout = static_cast<HeadsLayout>(c);
    if (const int c = ui.choice(x, y, area.w > 1400 ? "Scale" : "", "heads/scale",
                                {"per head, square root", "all heads, square root", "all heads, linear"},
                                s.of<AllHeadsState>().scale);
        c >= 0)
        s.of<AllHeadsState>().scale = c;
    std::vector<std::string> labels = labels_in_use(s);
    if (!labels.empty()) {
        labels.insert(labels.begin(), "any label or none");
        const auto now = std::find(labels.begin() + 1, labels.end(), s.of<AllHeadsState>().label);
        if (const int c = ui.choice(x, y, "", "heads/label", labels,
                                    now == labels.end() || s.of<AllHeadsState>().label.empty()
                                        ? 0
                                        : narrow<int>(now - labels.begin()));
            c >= 0)
            s.of<AllHeadsState>().label = c ? labels[c] : "";
    }
    const Rect save{area.right() - (16 + 136), y - 16, 136, size::button};
    const bool save_fits = save.x - x > 260;
    draw_filter(s, x, save_fits ? save.x - 16 : area.right() - 16, y, choice);
    if (save_fits && !ui.on_page() && ui.button("save", save, "Save figure…")) s.send("save figure");
    ui.hairline(area.x, area.y + 52, area.right(), area.y + 52);
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

/// The layer × head grid of the chosen column; of a sweep, also whose token it watches.
void draw_values(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    const HeadColumn& column = choice.column();
    const Rect inside{area.x + 24, area.y + 16, area.w - 48, area.h - 32};
    ui.text.draw(inside.x, inside.y + 10, kBody, ui.colors->t1, column.label);
    ui.text.draw_wrapped(inside.x, inside.y + 26, inside.w, kCaption, ui.colors->t3, column.definition);
    const Rect grid{inside.x, inside.y + 64, inside.w, inside.h - 64};
    if (const auto pressed =
            draw_head_values(s, grid, s.model()->config, choice.values, column.by_sweep, "values/"))
        open_head(s, pressed->first, pressed->second);
}

/// While a sweep goes on, its progress and a way to end it; and the token that it watches.
float draw_sweep_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto& predicted = s.sentence()->predictions;
    if (ui.on_page() || predicted.empty()) return 0;
    const float y = area.y + 24;
    float x = area.x + 24;
    std::vector<std::string> tokens;
    int current = 0;
    for (int i = 0; i < isize(predicted[0].tokens); ++i) {
        tokens.push_back(predicted[0].tokens[i].label);
        if (predicted[0].tokens[i].id == s.session.document.sweep_token) current = i;
    }
    if (const int c = ui.choice(x, y, "Effect on the probability of", "sweep/token", tokens, current); c >= 0)
        s.send("sweep token", std::to_string(predicted[0].tokens[c].id));
    draw_sweep_state(s, {x + 16, area.y + 8, area.right() - x - 40, 40});
    return 48;
}

}  // namespace

void draw_all_heads(Scene& s, Rect area) {
    if (!s.sentence()) return;
    const HeadChoice choice = choose_heads(s);
    if (!s.ui.on_page()) draw_all_heads_toolbar(s, area, choice);
    const float top =
        53 + (choice.column().by_sweep ? draw_sweep_bar(s, {area.x, area.y + 53, area.w, 48}) : 0);
    const Rect rest{area.x, area.y + top, area.w, area.h - top};
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
