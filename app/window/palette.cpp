#include "window/palette.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "paint/chip.h"
#include "paint/explanations.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "parts/sheet_frame.h"
#include "parts/text_entry.h"
#include "views/doors.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr int kRows = 9;
constexpr float kWidth = 720, kWidthOfAll = 1072, kField = 44, kRow = 52, kListed = 28, kHints = 36,
                kKey = 22, kTopAtMost = 72, kIndent = 32, kBetweenSections = 12;

/// The first of a command's keys: "1, Ctrl+1" → "1".
std::string first_key(const Command& command) { return command.keys.substr(0, command.keys.find(", ")); }

const Door* door_of(const Command& row) {
    constexpr std::string_view kView = "view ";
    return row.name.starts_with(kView) ? find_door(std::string_view(row.name).substr(kView.size())) : nullptr;
}

/// Draws a key cap at the end of a line.
void draw_key(Ui& ui, Rect& rest, const std::string& key) {
    const Chip chip{key, ui.colors->t2, ui.colors->bg1, ui.colors->l2};
    const Rect taken = take_right(rest, chip_width(ui, chip), gap::medium);
    draw_chip(ui, band(taken, kKey), chip);
}

/// Draws the question's name at the end of a line.
void draw_group(Ui& ui, Rect& rest, const std::string& name) {
    write(ui, take_right(rest, ui.text.width(kCaption, name), gap::medium), kCaption, ui.colors->t3, name);
}

/// The line under a row: why it is unavailable, what to type, what it shows or does.
std::string explanation(const Offer& offer) {
    const Command& row = *offer.command;
    if (offer.why_not) return offer.why_not;
    if (offer.asks) return row.words;
    if (const Door* door = door_of(row))
        if (const std::string* says = explanation_of("tab/" + door->name)) return *says;
    return offer.words.empty() ? row.help : row.name + " " + offer.words;
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

/// Each question with its views, then commands that have other names.
void Palette::list_all() {
    const CommandContext context{state_.session, state_.answer.get(), host_};
    const auto add = [&](const Command& row) { offers_.push_back(offer_of(row, context)); };
    for (size_t i = 0; i < view_groups().size(); ++i) {
        const GroupRow& of = view_groups()[i];
        sections_.push_back({std::to_string(i + 1), of.name, of.question, isize(offers_), 0, i > 2});
        const auto group = static_cast<ViewGroup>(i);
        for (const Door* door : context.model() ? doors_of(group, *context.model()) : doors_of(group))
            add(command_named(commands(), "view " + door->key));
        sections_.back().count = isize(offers_) - sections_.back().from;
    }
    sections_.push_back({"", "Do", "", isize(offers_), 0, true});
    for (const Command& row : commands())
        if (!row.synonyms.empty() && !door_of(row)) add(row);
    sections_.back().count = isize(offers_) - sections_.back().from;
}

void Palette::find() {
    const CommandContext context{state_.session, state_.answer.get(), host_};
    offers_.clear();
    sections_.clear();
    if (field_.text().empty())
        list_all();
    else
        offers_ = palette_offers(commands(), context, field_.text());
    std::erase_if(offers_,
                  [](const Offer& o) { return o.command->name == "palette" || o.command->name == "escape"; });
    chosen_ = first_ = 0;
    found_for_ = state_.answer;
}

/// Scrolls the selected row into view.
void Palette::choose(int at) {
    chosen_ = std::clamp(at, 0, std::max(0, isize(offers_) - 1));
    first_ = std::clamp(first_, chosen_ - rows_ + 1, chosen_);
}

/// To the row at the same height of the other column.
void Palette::change_column() {
    const auto right =
        std::find_if(sections_.begin(), sections_.end(), [](const Section& s) { return s.right; });
    if (right == sections_.end()) return;
    choose(chosen_ < right->from ? std::min(right->from + chosen_, isize(offers_) - 1)
                                 : std::min(chosen_ - right->from, right->from - 1));
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
    } else if (lists_all() && (press.key == GLFW_KEY_LEFT || press.key == GLFW_KEY_RIGHT)) {
        change_column();
    } else if (press.key == GLFW_KEY_PAGE_UP || press.key == GLFW_KEY_PAGE_DOWN) {
        choose(chosen_ + (press.key == GLFW_KEY_PAGE_UP ? -rows_ : rows_));
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

void Palette::answer_row(Scene& s, Rect r, int at) {
    const Hit h = s.ui.hit("palette/row/" + std::to_string(at), r);
    if (at == chosen_)
        s.ui.fill(r, s.ui.colors->accent_fill, size::corner);
    else if (h.hovered)
        s.ui.fill(r, s.ui.colors->bg3, size::corner);
    if (h.clicked) pressed_ = at;
}

/// Draws the name, the other name that was typed, the question or key; below, what it shows.
void Palette::draw_row(Scene& s, Rect r, int at) {
    Ui& ui = s.ui;
    const Offer& offer = offers_[at];
    answer_row(s, r, at);
    Rect inside = inset(r, gap::medium, gap::tight);
    Rect line = take_top(inside, inside.h / 2);
    if (const Door* door = door_of(*offer.command))
        draw_group(ui, line, row_of(view_groups(), door->group).name);
    else if (const std::string key = offer.words.empty() ? first_key(*offer.command) : ""; !key.empty())
        draw_key(ui, line, key);
    const ImU32 ink = offer.why_not ? ui.colors->t3 : at == chosen_ ? ui.colors->accent_text : ui.colors->t1;
    take_left(line, write(ui, line, kBody, ink, offer.label + (offer.asks ? "…" : "")), gap::medium);
    if (!offer.also.empty()) {
        take_left(line, write(ui, line, kCaption, ui.colors->t3, "also"), gap::tight);
        write(ui, line, kCaption, ui.colors->accent_text, offer.also);
    }
    write(ui, inside, kCaption, offer.why_not ? ui.colors->t3 : ui.colors->t2, explanation(offer));
}

void Palette::draw_rows(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const int count = isize(offers_);
    if (const float turn = ui.take_wheel(area); turn != 0)
        first_ = std::clamp(first_ - int(turn * 2), 0, std::max(0, count - rows_));
    if (count == 0)
        write(ui, inset({area.x, area.y, area.w, kRow}, gap::medium, 0), kBody, ui.colors->t3,
              "No matching command.");
    const int end = std::min(count, first_ + rows_);
    for (int i = first_; i < end; ++i)
        draw_row(s, {area.x, area.y + kRow * float(i - first_), area.w, kRow}, i);
}

/// Draws a name with its other names, or why it does not apply, at the right.
void Palette::draw_listed(Scene& s, Rect r, int at) {
    Ui& ui = s.ui;
    const Offer& offer = offers_[at];
    answer_row(s, inset(r, -gap::small, 0), at);
    Rect line = r;
    take_left(line, kIndent);
    const ImU32 ink = at == chosen_ ? ui.colors->accent_text : offer.why_not ? ui.colors->t3 : ui.colors->t2;
    take_left(line, write(ui, line, kBody, ink, offer.label + (offer.asks ? "…" : "")), gap::large);
    const std::string key = first_key(*offer.command);
    if (!key.empty() && !door_of(*offer.command)) {
        const Rect place = take_right(line, ui.text.width(kCaptionMono, key), gap::large);
        write(ui, place, kCaptionMono, ui.colors->t2, key);
    }
    write(ui, line, kCaption, ui.colors->t3, offer.why_not ? offer.why_not : offer.command->synonyms,
          Flush::right);
}

/// The number of lines of a column, with the gaps between its sections.
float Palette::lines_of(bool right) const {
    float out = 0;
    for (const Section& section : sections_)
        if (section.right == right) out += float(section.count) + 1 + kBetweenSections / kListed;
    return out;
}

void Palette::draw_sections(Scene& s, Rect area, float line) {
    Ui& ui = s.ui;
    for (const bool right : {false, true}) {
        Rect column = inset(nth_column(area, right, 2), gap::large, 0);
        for (const Section& section : sections_) {
            if (section.right != right) continue;
            Rect head = take_top(column, line);
            const Rect number = band(take_left(head, kIndent), line - gap::small);
            if (!section.number.empty()) {
                const Rect box{number.x, number.y, number.h, number.h};
                ui.fill(box, ui.colors->bg3, size::corner);
                write(ui, box, kCaptionMono, ui.colors->t2, section.number, Flush::center);
            }
            take_left(head, write(ui, head, kBody, ui.colors->t1, section.title), gap::medium);
            write(ui, head, kCaption, ui.colors->t3, section.question);
            for (int i = 0; i < section.count; ++i) draw_listed(s, take_top(column, line), section.from + i);
            take_top(column, kBetweenSections);
        }
    }
    ui.fill({area.middle_x(), area.y, ui.line(), area.h}, ui.colors->l1);
}

void Palette::draw(Scene& s, Rect window) {
    const bool shown = s.session.shows(Sheet::palette);
    if (shown != open_) shown ? open() : close();
    if (!shown) return;
    if (found_for_ != state_.answer) find();  // other commands may be available now
    Ui& ui = s.ui;
    const float top = std::min(kTopAtMost, window.h / 24),
                around = gap::medium + kField + gap::small + kHints, room = window.h - 2 * top - around;
    const float lines = std::max(lines_of(false), lines_of(true)),
                line = lines > 0 ? std::min(kListed, std::floor(room / lines)) : 0;
    rows_ = std::clamp(int(room / kRow), 1, kRows);
    const float inner = lists_all() ? line * lines : kRow * float(std::clamp(isize(offers_), 1, rows_)),
                w = std::min(lists_all() ? kWidthOfAll : kWidth, window.w - gap::section);
    const Rect r{ui.whole(window.middle_x() - w / 2), window.y + top, w, inner + around};
    SheetFrame sheet(s, "palette", r);
    Rect rest = r;
    Rect foot = take_bottom(rest, kHints);
    rest = inset(rest, gap::medium, 0);
    take_top(rest, 0, gap::medium);
    draw_text_field(s, field_, "palette/field", take_top(rest, kField, gap::small),
                    "Find a view, a command, a head or a word");
    lists_all() ? draw_sections(s, rest, line) : draw_rows(s, rest);
    ui.hairline(foot.x, foot.y, foot.right(), foot.y);
    foot = inset(foot, gap::wide, 0);
    caption(ui, foot,
            lists_all() ? "↑ ↓ choose    ← → other column    Enter opens    Esc closes"
                        : "↑ ↓ choose    Enter opens    Esc closes");
    if (!lists_all()) caption(ui, foot, std::to_string(offers_.size()) + " found", Flush::right);
    if (const auto at = std::exchange(pressed_, std::nullopt)) {
        choose(*at);
        carry_out_chosen();
    }
}

}  // namespace headlight
