// Draws title and tabs above the center, and the links that open the two bars.
#include "window/header.h"

#include <algorithm>
#include <vector>

#include "base/cast.h"
#include "paint/layout.h"
#include "parts/generation.h"
#include "parts/interventions.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kMinGap = 9, kUsualGap = 28, kGapBeforeList = 14;  // between tabs
constexpr float kListSides = 38;                                   // a list is wider than its text by this
constexpr float kLinkGap = 20, kMinTitle = 144, kUnderline = 2;
constexpr float kMinTabs = 124;    // width kept for tabs, if only as a list
constexpr float kTitleFrom = 820;  // title from this header width on

/// Orders the tabs of a model, those without content for it last; those from `shown` on do not fit and go
/// into a list.
struct Tabs {
    std::vector<const View*> views;
    size_t shown = 0;
    float gap = 0;
};

Tabs arrange_tabs(Scene& s, float room) {
    Ui& ui = s.ui;
    Tabs tabs;
    float all = 0, widest = 0;
    for (const View& v : views()) {
        if (!v.offered(*s.model()) || v.fills_window()) continue;
        tabs.views.push_back(&v);
        all += ui.text.width(kBody, v.name);
        widest = std::max(widest, ui.text.width(kCaption, v.name));
    }
    std::stable_partition(tabs.views.begin(), tabs.views.end(),
                          [&](const View* v) { return !v->missing(*s.model()); });
    const auto count = float(tabs.views.size());
    const bool fits = all + count * kMinGap <= room;
    tabs.gap = fits ? std::min((room - all) / count, kUsualGap) : kGapBeforeList;
    tabs.shown = fits ? tabs.views.size() : 0;
    float used = widest + kListSides;  // the list of the rest
    while (tabs.shown < tabs.views.size()) {
        used += ui.text.width(kBody, tabs.views[tabs.shown]->name) + tabs.gap;
        if (used > room) break;
        ++tabs.shown;
    }
    return tabs;
}

/// Draws a tab and returns its width.
float draw_tab(Scene& s, Rect row, float x, const View& view, bool on) {
    Ui& ui = s.ui;
    const float width = ui.text.width(kBody, view.name);
    const char* missing = view.missing(*s.model());
    const std::string path = std::string("tab/") + view.name;
    const Rect word{x, row.y, width, row.h};
    const Hit h = ui.control(path, inset(word, -gap::small, 0));
    if (missing)
        ui.tooltip(path, h, missing);
    else if (h.clicked)
        s.send(std::string("view ") + view.key);
    const ImU32 ink = missing ? ui.colors->t3 : on || h.hovered ? ui.colors->t1 : ui.colors->t2;
    write(ui, word, kBody, ink, view.name);
    if (Rect under = inset(word, -kUnderline, 0); on)
        ui.fill(take_bottom(under, kUnderline), ui.colors->accent);
    return width;
}

/// Draws the list of tabs that do not fit.
void draw_more(Scene& s, float x, float middle, const Tabs& tabs, const View& shown) {
    if (tabs.shown == tabs.views.size()) return;
    std::vector<std::string> names;
    int current = -1;
    for (size_t i = tabs.shown; i < tabs.views.size(); ++i) {
        if (tabs.views[i] == &shown) current = isize(names);
        names.push_back(tabs.views[i]->name);
    }
    float width = 0;
    const int chosen = s.ui.drop_down("tab/more", x, middle, names, current, width);
    if (current < 0) s.ui.text.draw(x + 10, middle, kCaption, s.ui.colors->t2, "More");
    if (chosen < 0) return;
    const View& view = *tabs.views[tabs.shown + chosen];
    if (!view.missing(*s.model())) s.send(std::string("view ") + view.key);
}

/// Returns the width of the links at the right.
float links_width(Scene& s) {
    if (!s.sentence() || !s.sentence()->trace->has_weights()) return 0;
    const float intervene = s.ui.text.width(kCaption, "Intervene") + kLinkGap;
    return intervene + (can_generate(s) ? s.ui.text.width(kCaption, "Generate") + kLinkGap : 0);
}

/// Draws the links Intervene and Generate.
void draw_links(Scene& s, float right, float middle) {
    Ui& ui = s.ui;
    if (!s.sentence() || !s.sentence()->trace->has_weights()) return;
    const bool intervene = s.session.preferences.change_bar, generate = s.session.document.generation.bar;
    if (ui.link("change/bar", right, middle, "Intervene", intervene)) {
        s.send("intervene", intervene ? "off" : "on");
        if (intervene) s.send("brush", "off");
    }
    const float left = right - ui.text.width(kCaption, "Intervene") - kLinkGap;
    if (can_generate(s) && ui.link("generation/bar", left, middle, "Generate", generate))
        s.send("generate", generate ? "off" : "on");
}

}  // namespace

void draw_header(Scene& s, Rect r, const View& shown) {
    Ui& ui = s.ui;
    const bool titled = r.w >= kTitleFrom;  // the head list at the left names the head too
    float x = r.x + (titled ? gap::wide : gap::large);
    if (titled) {
        const float title = ui.text.draw(x, r.middle_y(), kTitle, ui.colors->t1, view_title(s, shown));
        x += std::max(kMinTitle, title + gap::wide);
    }
    const float right = r.right() - gap::wide - (s.of<InspectorState>().handle ? gap::small : 0);
    const bool links = right - links_width(s) - x >= kMinTabs;  // else only their commands remain
    const Tabs tabs = arrange_tabs(s, right - (links ? links_width(s) : 0) - x);
    for (size_t i = 0; i < tabs.shown; ++i)
        x += draw_tab(s, r, x, *tabs.views[i], tabs.views[i] == &shown) + tabs.gap;
    draw_more(s, x, r.middle_y(), tabs, shown);
    if (links) draw_links(s, right, r.middle_y());
    ui.hairline(r.x, r.bottom(), r.right(), r.bottom());
}

}  // namespace headlight
