#include "panels/metric_menu.h"

#include <algorithm>

#include "base/cast.h"
#include "parts/sheet_frame.h"

namespace headlight {

namespace {

constexpr float kMenuWide = 420, kMenuPad = 16, kMenuTitle = 36;
constexpr int kTokensListed = 6;

/// Label of a kind's chip.
const char* kind_label(MetricKind kind) {
    if (kind == MetricKind::difference) return "A − B";
    return kind == MetricKind::divergence ? "KL" : metric_row(kind).word;
}

const TokenChoices* token_choices(const Scene& s) {
    const auto* found = s.found<TokenChoicesRequest>();
    return found ? &found->answer : nullptr;
}

/// The most probable token other than this one, or −1.
int other_than(const Scene& s, int token) {
    const auto& predicted = s.sentence()->predictions;
    if (!predicted.empty())
        for (const NextToken& next : predicted[0].tokens)
            if (next.id != token) return next.id;
    if (const TokenChoices* choices = token_choices(s))
        for (const Prediction& p : choices->tokens)
            if (p.id != token) return p.id;
    return -1;
}

void choose_kind(Scene& s, const Metric& now, MetricKind kind) {
    Metric next = metric_to_vary(s);
    next.kind = kind;
    next.b = -1;
    if (kind == MetricKind::divergence) next.a = -1;
    if (kind == MetricKind::difference) {
        next.a = now.a;
        next.b = other_than(s, now.a);
        if (next.a < 0 || next.b < 0) return;
        s.of<MetricMenu>().second = true;
    }
    s.send("metric", metric_by_ids(next));
}

void draw_kinds(Scene& s, Rect line, const Metric& now) {
    for (const MetricRow& row : metric_rows()) {
        const Chip chip{kind_label(row.kind), s.ui.colors->t1};
        const Rect r = band(take_left(line, chip_width(s.ui, chip) + 2 * gap::small, gap::small), size::chip);
        const std::string path = std::string("metric/kind/") + kind_label(row.kind);
        const Hit h = press_chip(s.ui, path, r, chip, row.kind == now.kind);
        s.ui.tooltip(path, h, row.help);
        if (h.clicked && row.kind != now.kind) choose_kind(s, now, row.kind);
    }
}

/// Sets the token at the position that is being edited.
Metric with_token(const Scene& s, Metric metric, int id) {
    const bool second = metric.kind == MetricKind::difference && s.session.of<MetricMenu>().second;
    (second ? metric.b : metric.a) = id;
    return metric;
}

/// "A [ball] − B [car]": which of the two is edited.
void draw_sides(Scene& s, Rect line, const Metric& now) {
    auto& menu = s.of<MetricMenu>();
    for (const bool second : {false, true}) {
        Chip chip{listed_label(*s.model(), second ? now.b : now.a), s.ui.colors->t1};
        const std::string name = second ? "B" : "A";
        if (second) write(s.ui, take_left(line, gap::wide), kBody, s.ui.colors->t3, "−", Flush::center);
        const Rect r = band(take_left(line, chip_width(s.ui, chip) + 2 * gap::small, gap::small), size::chip);
        const Hit h = press_chip(s.ui, "metric/side/" + name, r, chip, second == menu.second);
        s.ui.tooltip("metric/side/" + name, h, "Choose token " + name + " in the list.");
        if (h.clicked) menu.second = second;
    }
}

/// Lists the most probable tokens that start with the typed text; a click selects one.
void draw_token_list(Scene& s, Rect& rest, const Metric& now) {
    Ui& ui = s.ui;
    auto& menu = s.of<MetricMenu>();
    ui.text_input("metric/typed", take_top(rest, size::button, gap::tight), "Type the start of a token",
                  menu.typed);
    const TokenChoices* choices = token_choices(s);
    for (int i = 0; i < kTokensListed; ++i) {
        const Rect r = take_top(rest, size::row);
        if (!choices || i >= isize(choices->tokens)) {
            if (i == 0 && choices) caption(ui, r, "No token starts with that.");
            continue;
        }
        const Prediction& p = choices->tokens[i];
        const std::string label = listed_label(*s.model(), p.id);
        const Hit h = ui.control("metric/token/" + label, r);
        const bool on = p.id == (menu.second && now.kind == MetricKind::difference ? now.b : now.a);
        if (h.hovered || on) ui.fill(r, on ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
        Column column(ui, inset(r, gap::small, 0), r.middle_y());
        column.bar({"", label, p.probability, percent(p.probability), on}, size::row);
        if (!h.clicked) continue;
        s.send("metric", metric_by_ids(with_token(s, metric_to_vary(s), p.id)));
        menu.typed.clear();
    }
}

/// Chooses the position: where the model predicts, another mask, or the focused token.
void draw_position(Scene& s, Rect line) {
    const Metric& metric = s.session.document.metric.metric;
    const auto& tokens = s.sentence()->labels.back();
    const auto& predicted = s.sentence()->predictions;
    if (s.model()->config.can.read_image) return;
    std::vector<int> places{-1};
    const auto add = [&](int position) {
        const bool known = std::find(places.begin(), places.end(), position) != places.end();
        if (position >= 0 && position < isize(tokens) && !known) places.push_back(position);
    };
    for (size_t i = 1; i < predicted.size(); ++i) add(predicted[i].position);
    if (const auto cell = s.shown_cell();
        cell && s.model()->config.block(s.block()).stack + 1 == isize(s.model()->config.stacks))
        add(cell->first);
    add(metric.position);
    std::vector<std::string> items;
    for (const int place : places)
        items.push_back(place < 0 ? "where the model predicts" : token_at(tokens, place));
    const auto now = std::find(places.begin(), places.end(), metric.position);
    Toolbar bar(s.ui, line);
    const int chosen = bar.choice("Position", "metric/position", items,
                                  now == places.end() ? 0 : narrow<int>(now - places.begin()));
    if (chosen >= 0) s.send("metric position", places[chosen] < 0 ? "" : std::to_string(places[chosen]));
}

Rect menu_place(const Scene& s, Rect window, float high) {
    const Rect beside = s.session.of<MetricMenu>().beside;
    if (beside.w <= 0) return {window.middle_x() - kMenuWide / 2, window.y + window.h / 8, kMenuWide, high};
    const float x =
        std::clamp(beside.x, gap::small, std::max(gap::small, window.right() - kMenuWide - gap::small));
    const float below = beside.bottom() + gap::tight, above = beside.y - gap::tight - high;
    const bool fits = below + high <= window.bottom();
    return {x, fits || above < 0 ? std::min(below, std::max(0.0f, window.bottom() - high)) : above, kMenuWide,
            high};
}

/// The tokens that match the typed text; null until there are any.
const TokenChoices* choices_of_typed(const WorkAnswer* answer, const MetricMenu& menu) {
    const auto* found = answer ? answer->found<TokenChoicesRequest>() : nullptr;
    const bool fresh = found && !menu.typed.empty() && found->asked.typed == menu.typed;
    return fresh && !found->answer.tokens.empty() ? &found->answer : nullptr;
}

}  // namespace

void draw_metric_menu(Scene& s, Rect window) {
    constexpr float kLine = 36, kHelp = 24;
    Ui& ui = s.ui;
    const MetricMenu& menu = s.of<MetricMenu>();
    if (!menu.accepted.empty() && menu.accepted == menu.typed && choices_of_typed(s.answer, menu))
        s.send("accept");
    const Metric now = shown_metric(s);
    const bool of_tokens = now.kind != MetricKind::divergence, two = now.kind == MetricKind::difference;
    const float list = of_tokens ? size::button + gap::tight + size::row * float(kTokensListed) : 0;
    const float high =
        2 * kMenuPad + kMenuTitle + kLine + kHelp + (two ? kLine : 0) + list + gap::small + kLine;
    SheetFrame sheet(s, "metric menu", menu_place(s, window, high));
    Rect rest = inset(menu_place(s, window, high), kMenuPad, kMenuPad);
    Rect title = take_top(rest, kMenuTitle);
    const bool chosen = !s.session.document.metric.name.empty();
    if (chosen && ui.link("metric/menu/default", title.right(), title.middle_y(), "Default"))
        s.send("metric", "default");
    write(ui, title, kTitle, ui.colors->t1, "Metric");
    draw_kinds(s, take_top(rest, kLine), now);
    caption(ui, take_top(rest, kHelp), metric_row(now.kind).help);
    if (two) draw_sides(s, take_top(rest, kLine), now);
    if (of_tokens) draw_token_list(s, rest, now);
    take_top(rest, 0, gap::small);
    draw_position(s, take_top(rest, kLine));
}

void accept_typed_token(CommandContext& c) {
    MetricMenu& menu = c.session.of<MetricMenu>();
    const TokenChoices* choices = choices_of_typed(c.answer, menu);
    menu.accepted = choices ? "" : menu.typed;
    if (!choices) return;
    Metric metric = c.session.document.metric.metric;
    if (metric.kind == MetricKind::divergence) return;
    const bool second = metric.kind == MetricKind::difference && menu.second;
    (second ? metric.b : metric.a) = choices->tokens[0].id;
    menu.typed.clear();
    c.session.document.explain({metric_name(*c.model(), metric), metric});
}

}  // namespace headlight
