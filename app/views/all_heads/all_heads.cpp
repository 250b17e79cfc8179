// Shows all heads: thumbnails by layer or sorted, a table, a map of similar heads.
#include "views/all_heads/all_heads.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cast.h"
#include "paint/layout.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "views/interactive_page.h"
#include "views/views.h"

namespace headlight {

namespace {

const char* kLayouts[] = {"by layer", "sorted", "table", "map", "values"};

std::vector<std::string> labels_in_use(const Scene& s) {
    std::set<std::string> all;
    const auto of_model = s.session.document.head_labels.find(s.model()->name);
    if (of_model != s.session.document.head_labels.end())
        for (const auto& [head, label] : of_model->second) all.insert(label);
    return {all.begin(), all.end()};
}

/// Adds the filter by label, if any head has one.
void choose_label(Scene& s, Toolbar& bar) {
    std::string& chosen = s.of<AllHeadsState>().label;
    std::vector<std::string> labels = labels_in_use(s);
    if (labels.empty()) return;
    labels.insert(labels.begin(), "any label");
    const auto now = std::find(labels.begin() + 1, labels.end(), chosen);
    const int current = now == labels.end() || chosen.empty() ? 0 : narrow<int>(now - labels.begin());
    if (const int c = bar.choice("", "heads/label", labels, current); c >= 0) chosen = c ? labels[c] : "";
}

void draw_all_heads_toolbar(Scene& s, Rect& rest, const HeadChoice& choice) {
    constexpr float kSave = 136, kLeastFilter = 260, kWide = 1400;
    Ui& ui = s.ui;
    auto& state = s.of<AllHeadsState>();
    const bool wide = rest.w > kWide;
    Toolbar bar = view_toolbar(s.ui, rest);
    bar.say(kCaptionMono, ui.colors->t3, std::to_string(choice.kept.size()));
    std::vector<std::string> names;
    for (const HeadColumn& c : choice.columns) names.push_back(c.label);
    if (const int c = bar.choice("Sort by", "heads/sort", names, state.sort); c >= 0)
        s.send("heads sort", sort_words()[c]);
    bar.choose("Layout", "heads/layout", {std::begin(kLayouts), std::end(kLayouts)}, state.layout);
    std::vector<std::string> colors{"pattern"};
    colors.insert(colors.end(), names.begin(), names.end());
    if (const int c = bar.choice("Color", "heads/color", colors,
                                 choice.painted_by ? narrow<int>(*choice.painted_by) + 1 : 0);
        c >= 0)
        s.send("heads color", c == 0 ? "pattern" : sort_words()[size_t(c) - 1]);
    bar.labels = wide;
    if (!choice.painted())
        bar.choose("Scale", "heads/scale",
                   {"per head, square root", "all heads, square root", "all heads, linear"}, state.scale);
    if (is_hybrid(s)) bar.choose("Kind", "heads/kind", {"all kinds", "softmax", "mixing"}, state.kind);
    choose_label(s, bar);
    const bool save = bar.rest().w > kSave + kLeastFilter;
    const Rect button = save ? band(bar.take_end(kSave, gap::large), size::button) : Rect{};
    draw_heads_filter(s, bar, choice);
    if (save && ui.button("save", button, "Save figure…")) s.send("save figure");
}

}  // namespace

void open_head(Scene& s, int block, int head) {
    s.select(block, head);
    s.leave_text();
    s.send("view head");
}

std::vector<Question> ask_all_heads(const Scene& s) {
    std::vector<Question> out;
    if (s.ui.on_page()) out.push_back(RandomStatisticsRequest{});
    if (s.of<AllHeadsState>().layout == HeadsLayout::map) out.push_back(HeadMapRequest{});
    return out;
}

/// Tags need what heads do in the text.
std::vector<JobRequest> all_heads_jobs(const Scene& s, bool shown) {
    return shown ? head_tag_jobs(s, true) : std::vector<JobRequest>();
}

namespace {

/// Draws the layer × head grid of the sorting column.
void draw_values(Scene& s, Rect area, const HeadChoice& choice) {
    constexpr float kDefinition = 36;
    Ui& ui = s.ui;
    const HeadColumn& column = choice.column();
    Rect inside = inset(area, size::center_pad, gap::large);
    write(ui, take_top(inside, size::line, gap::close), kBody, ui.colors->t1, column.label);
    caption_lines(ui, take_top(inside, kDefinition, 2), column.definition);
    if (const auto pressed = draw_head_values(
            s, inside, s.model()->config,
            {choice.values, column.by_sweep, "values/", column.by_sweep ? sweep_details(s) : nullptr}))
        open_head(s, pressed->first, pressed->second);
}

/// "Ablating 0.0 changes log p ball by −2.23, 3.3 by −0.05." Of the strongest, so far.
std::string strongest_effects(const Scene& s) {
    constexpr size_t kNamed = 3;
    constexpr float kShare = 0.1f;  // of the largest: smaller ones are not named
    const auto effects = sweep_effects(s);
    if (!effects) return "";
    const std::vector<int> order = order_by_size(effects->change.values());
    const auto size = [&](int i) { return std::abs(effects->change[i]); };
    std::string out;
    for (size_t i = 0; i < std::min(kNamed, order.size()); ++i) {
        if (!(size(order[i]) >= kShare * size(order[0]))) break;  // or not measured
        out += (i ? ", " : "") + head_name(s.model()->config, s.model()->config.head_at(order[i])) +
               (i ? " by " : " changes " + metric_label(*s.model(), effects->metric) + " by ") +
               effect_text(effects->metric.kind, effects->change[order[i]]);
    }
    return out.empty() ? "" : "Ablating " + out + ".";
}

void draw_sweep_bar(Scene& s, Rect& rest) {
    if (s.ui.on_page() || s.sentence()->predictions.empty()) return;
    Toolbar bar = view_toolbar(s.ui, rest);
    add_metric_chip(s, "heads", bar, "Metric");
    press_over_prompts(s, bar, "ablated");
    Rect state = band(bar.rest(), size::button);
    draw_sweep_state(s, state);
    if (const std::string found = strongest_effects(s); !found.empty())
        write(s.ui, inset(take_top(rest, size::row_low), size::center_pad, 0), kBody, s.ui.colors->t1, found);
}

/// Lists the measured heads by the size of their effect, beside the grid where there is room.
void draw_strongest_heads(Scene& s, Rect& rest) {
    constexpr float kList = 300, kLeastBeside = 1150;
    const auto effects = sweep_effects(s);
    if (!effects || s.ui.on_page() || rest.w < kList + kLeastBeside) return;
    Rect list = take_right(rest, kList, gap::wide);
    list.w -= size::center_pad;
    caption(s.ui, take_top(list, size::line, gap::small), "Without it, " + metric_text(s) + " changes by");
    const std::vector<float>& values = effects->change.values();
    const auto tag = [&s](int head) -> std::optional<HeadTag> {
        const auto tags = tags_of(s, s.model()->config.head_at(head));
        return tags.empty() ? std::nullopt : std::optional(tags.front());
    };
    RankedHeads heads{.path = "effect/",
                      .order = order_by_size(values),
                      .values = values,
                      .chosen = std::pair{s.session.selection.block, s.session.selection.head},
                      .is_signed = true,
                      .detail = sweep_details(s),
                      .tag = tag};
    std::erase_if(heads.order, [&](int i) { return std::isnan(values[size_t(i)]); });
    if (const auto pressed = draw_ranked(s, list, s.model()->config, heads))
        open_head(s, pressed->first, pressed->second);
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
    if (choice.by_sweep()) draw_sweep_bar(s, rest);
    if (!s.ui.on_page()) draw_tag_row(s, rest, choice);
    if (choice.by_sweep()) draw_strongest_heads(s, rest);
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
            .answers = ViewGroup::look,
            .synonyms = "grid, overview, table of heads, statistics",
            .draw = draw_all_heads,
            .shows = View::Shows::model,
            .ask = ask_all_heads,
            .page_w = 1280,
            .panels = View::Panels::none,
            .jobs = all_heads_jobs,
            .figure = heads_page_figure,
            .page = "heads",
            .numbers = heads_numbers,
            .visit = visit_state<AllHeadsState>,
            .seen = seen_of<AllHeadsState>,
            .commands = all_heads_commands};
}

}  // namespace headlight
