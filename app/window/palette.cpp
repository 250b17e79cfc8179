#include "window/palette.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/cast.h"
#include "paint/chip.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "parts/sheet_frame.h"
#include "parts/text_entry.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr int kRows = 10;
constexpr float kWidth = 720, kField = 44, kRow = 36, kHints = 34, kLabel = 300, kKey = 22, kMark = 3,
                kTopAtMost = 96;

/// The first of a command's keys: "1, Ctrl+1" → "1".
std::string first_key(const Command& command) { return command.keys.substr(0, command.keys.find(", ")); }

/// Draws a key cap at the end of a line.
void draw_key(Ui& ui, Rect& rest, const std::string& key) {
    const Chip chip{key, ui.colors->t2, ui.colors->bg1, ui.colors->l2};
    const Rect taken = take_right(rest, chip_width(ui, chip), gap::medium);
    draw_chip(ui, band(taken, kKey), chip);
}

/// Text beside a row: why it is unavailable, what to type, how to spell it, what it does.
std::string explanation(const Offer& offer) {
    const Command& row = *offer.command;
    if (offer.why_not) return offer.why_not;
    if (offer.asks) return row.words;
    if (!offer.words.empty()) return row.name + " " + offer.words;
    return row.title.ends_with(row.help) ? "" : row.help;  // "View Lines" needs no help
}

}  // namespace

void Palette::open() {
    open_ = true;
    typed_before_ = state_.fields.typed();
    state_.fields.leave();
    field_.set_text("");
    field_.focused = true;
    find();
}

void Palette::close() {
    open_ = false;
    if (typed_before_ && !state_.fields.typed()) state_.fields.focus(*typed_before_);
}

void Palette::find() {
    const CommandContext context{state_.session, state_.answer.get(), host_};
    offers_ = palette_offers(commands(), context, field_.text());
    std::erase_if(offers_,
                  [](const Offer& o) { return o.command->name == "palette" || o.command->name == "escape"; });
    chosen_ = first_ = 0;
    found_for_ = state_.answer;
}

/// Scrolls the selected row into view.
void Palette::choose(int at) {
    chosen_ = std::clamp(at, 0, std::max(0, isize(offers_) - 1));
    first_ = std::clamp(first_, chosen_ - kRows + 1, chosen_);
}

/// Sends the command, to run after the frame. A command that still needs words gets its name typed instead.
void Palette::carry_out_chosen() {
    if (offers_.empty()) return;
    const Offer& offer = offers_[chosen_];
    if (offer.why_not) return;
    if (offer.asks) {
        field_.set_text(offer.command->name + " ");
        return find();
    }
    state_.session.sheet.reset();
    close();
    state_.sent.push_back({offer.command->name, offer.words});
}

void Palette::press(const KeyPress& press) {
    if (!open_) open();
    state_.want_frames(2);
    const bool enter = press.key == GLFW_KEY_ENTER || press.key == GLFW_KEY_KP_ENTER;
    if (press.key == GLFW_KEY_ESCAPE || (press.control && press.key == GLFW_KEY_K)) {
        state_.session.sheet.reset();
        close();
    } else if (enter) {
        carry_out_chosen();
    } else if (press.key == GLFW_KEY_UP || press.key == GLFW_KEY_DOWN) {
        choose(chosen_ + (press.key == GLFW_KEY_UP ? -1 : 1));
    } else if (press.key == GLFW_KEY_PAGE_UP || press.key == GLFW_KEY_PAGE_DOWN) {
        choose(chosen_ + (press.key == GLFW_KEY_PAGE_UP ? -kRows : kRows));
    } else {
        Input one;
        one.keys.push_back(press);
        History none;
        const auto clipboard = [this] {
            const char* text = glfwGetClipboardString(state_.window);
            return std::string(text ? text : "");
        };
        const std::string before = field_.text();
        field_.handle(one, none, clipboard, [this](const std::string& text) {
            glfwSetClipboardString(state_.window, text.c_str());
        });
        if (field_.text() != before) find();
    }
}

/// Draws name, help and key; or why the command is unavailable.
void Palette::draw_row(Scene& s, Rect r, int at) {
    Ui& ui = s.ui;
    const Offer& offer = offers_[at];
    const Hit h = ui.hit("palette/row/" + std::to_string(at), r);
    const bool chosen = at == chosen_;
    if (chosen || h.hovered) ui.fill(r, chosen ? ui.colors->bg4 : ui.colors->bg3, size::corner);
    if (chosen) ui.fill(inset({r.x, r.y, kMark, r.h}, 0, gap::close), ui.colors->accent, size::corner);
    Rect line = inset(r, gap::medium, 0);
    std::string label = offer.label;
    if (offer.asks) label += "…";
    write(ui, take_left(line, std::min(kLabel, r.w / 2) - gap::large, gap::large), kBody,
          offer.why_not ? ui.colors->t3 : ui.colors->t1, label);
    const std::string key = offer.words.empty() ? first_key(*offer.command) : "";
    if (!key.empty() && !offer.why_not) draw_key(ui, line, key);
    write(ui, line, kCaption, offer.why_not ? ui.colors->t3 : ui.colors->t2, explanation(offer));
    if (!h.clicked) return;
    choose(at);
    carry_out_chosen();
}

void Palette::draw_rows(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const int count = isize(offers_);
    if (const float turn = ui.take_wheel(area); turn != 0)
        first_ = std::clamp(first_ - int(turn * 2), 0, std::max(0, count - kRows));
    if (count == 0)
        write(ui, inset({area.x, area.y, area.w, kRow}, gap::medium, 0), kBody, ui.colors->t3,
              "No matching command.");
    const int end = std::min(count, first_ + kRows);
    for (int i = first_; i < end && open_; ++i)
        draw_row(s, {area.x, area.y + kRow * float(i - first_), area.w, kRow}, i);
}

void Palette::draw(Scene& s, Rect window) {
    const bool shown = s.session.shows(Sheet::palette);
    if (shown != open_) shown ? open() : close();
    if (!shown) return;
    if (found_for_ != state_.answer) find();  // other commands may be available now
    Ui& ui = s.ui;
    const float w = std::min(kWidth, window.w - gap::section),
                h = gap::medium + kField + gap::small + kRow * kRows + kHints;
    const Rect r{ui.whole(window.middle_x() - w / 2), window.y + std::min(kTopAtMost, window.h / 12), w, h};
    SheetFrame sheet(s, "palette", r);
    Rect rest = r;
    Rect foot = take_bottom(rest, kHints);
    rest = inset(rest, gap::medium, 0);
    take_top(rest, 0, gap::medium);
    draw_text_field(s, field_, "palette/field", take_top(rest, kField, gap::small), "Find a command");
    draw_rows(s, take_top(rest, kRow * kRows));
    ui.hairline(foot.x, foot.y, foot.right(), foot.y);
    foot = inset(foot, gap::wide, 0);
    caption(ui, foot, "↑ ↓ choose    Enter runs it    Esc closes");
    const std::string count =
        std::to_string(offers_.size()) + (offers_.size() == 1 ? " command" : " commands");
    caption(ui, foot, count, Flush::right);
}

}  // namespace headlight
