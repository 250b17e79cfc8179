#include "panels/hub_field.h"

#include "base/cast.h"
#include "base/memory.h"
#include "hub/library.h"
#include "paint/layout.h"
#include "session/fetching.h"

namespace headlight {

namespace {

constexpr float kHubHeading = 28, kHubRow = 26, kHubButton = 88;
constexpr int kRows = 3, kColumns = 2;

/// A model to start with: its ID, description and download size.
void draw_suggestion(Scene& s, const HubSuggestion& suggestion, Rect r) {
    constexpr float kSize = 60;
    Ui& ui = s.ui;
    const std::string path = std::string("hub/") + suggestion.repository;
    const Hit h = ui.control(path, r);
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    Rect inside = inset(r, gap::small, 0);
    write(ui, take_right(inside, kSize, gap::small), kCaption, ui.colors->t2, short_bytes(suggestion.bytes),
          Flush::right);
    const std::string whole = suggestion.repository;
    write(ui, inside, kBody, ui.colors->t1, whole.substr(whole.find('/') + 1));
    ui.tooltip(path, h, whole + ". " + suggestion.what);
    if (h.clicked) s.send("fetch", suggestion.repository);
}

void draw_suggestions(Scene& s, Rect rest) {
    const auto& all = hub_suggestions();
    const Rect grid = inset(rest, -gap::small, 0);
    for (int i = 0; i < isize(all); ++i)
        draw_suggestion(s, all[i],
                        nth_row(nth_column(grid, i / kRows, kColumns, gap::medium), i % kRows, kRows));
}

/// Draws a progress bar, the current step, and Cancel.
void draw_going(Scene& s, const Fetching& going, Rect rest) {
    constexpr float kBar = 6, kLine = 28;
    Ui& ui = s.ui;
    const FetchProgress& progress = going.progress();
    const int64_t total = progress.total, done = progress.done;
    Rect line = take_top(rest, size::button, gap::small);
    if (ui.button("hub/cancel", take_right(line, kHubButton, gap::small), "Cancel")) s.send("cancel fetch");
    write(ui, line, kBody, ui.colors->t1, going.request().name.repository);
    const Rect bar = take_top(rest, kBar, gap::tight);
    ui.fill(bar, ui.colors->bg4, kBar / 2);
    if (total > 0) {
        Rect filled = bar;
        filled.w *= static_cast<float>(static_cast<double>(done) / static_cast<double>(total));
        ui.fill(filled, ui.colors->accent, kBar / 2);
    }
    const Rect foot = take_top(rest, kLine);
    write(ui, foot, kCaption, ui.colors->t2, progress.step());
    if (total > 0)
        write(ui, foot, kCaption, ui.colors->t2, short_bytes(done) + " of " + short_bytes(total),
              Flush::right);
    ui.name("hub/progress", foot);
}

/// Draws the downloaded model, with Open.
void draw_fetched(Scene& s, const FetchState& state, Rect line) {
    Ui& ui = s.ui;
    const Rect open = take_right(line, kHubButton, gap::small);
    write(ui, line, kBody, ui.colors->t1, state.name + " is downloaded.");
    if (ui.button("hub/open", open, "Open", Ui::Look::primary)) s.send("open fetched");
}

}  // namespace

float hub_field_height(const Scene& s) {
    const FetchState& state = s.session.of<FetchState>();
    return kHubHeading + size::button + gap::small + kHubRow * kRows +
           (state.error.empty() ? 0 : 2 * kHubRow) + (state.fetched.empty() ? 0 : size::button + gap::small);
}

void draw_hub_field(Scene& s, Rect rest) {
    Ui& ui = s.ui;
    FetchState& state = s.of<FetchState>();
    ui.hairline(rest.x, rest.y, rest.right(), rest.y);
    caption(ui, take_top(rest, kHubHeading),
            "Download a model from the Hugging Face hub; only the request is sent");
    if (state.going) return draw_going(s, *state.going, rest);
    Rect field = take_top(rest, size::button, gap::small);
    const Rect get = take_right(field, kHubButton, gap::small);
    ui.text_input("hub", field, "Model ID on the Hugging Face hub, owner/model", state.typed, false);
    const bool typed = !state.typed.empty();
    if (ui.button("hub/get", get, "Download", typed ? Ui::Look::normal : Ui::Look::off) && typed)
        s.send("fetch", state.typed);
    if (!state.error.empty()) {
        const Rect line = take_top(rest, 2 * kHubRow);
        ui.text.draw_wrapped(line.x, line.y, line.w, kCaption, ui.colors->warning, state.error);
        ui.name("hub/error", line);
    }
    if (!state.fetched.empty()) draw_fetched(s, state, take_top(rest, size::button, gap::small));
    draw_suggestions(s, rest);
}

}  // namespace headlight
