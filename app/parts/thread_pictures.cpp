// Draws the pictures of a thread's steps: strips, bands over the words, bars.
#include <algorithm>
#include <cmath>

#include "parts/blocks.h"
#include "parts/controls.h"
#include "parts/thread.h"

namespace headlight::learn {

namespace {

using Band = Thread::Band;

constexpr float kMaxPitch = 26, kMinStripPitch = 17, kMeasure = 72, kLabels = 86, kTokens = 42, kUnder = 24,
                kNumbersHigh = 60;

/// Left edges of a strip's parts.
struct StripPlaces {
    float place = 0, token = 0, cells = 0, right = 0;
};

StripPlaces strip_places(Ui& ui, Rect area, const std::vector<Thread::Strip>& strips) {
    std::vector<std::string> signs, tokens;
    bool places = false;
    for (const Thread::Strip& strip : strips) {
        signs.push_back(strip.sign);
        tokens.push_back(strip.token);
        places = places || strip.place >= 0;
    }
    StripPlaces out;
    out.place = area.x + std::max(widest_of(ui, kCaptionMono, signs), 16.0f) + gap::small;
    out.token = out.place + (places ? 28.0f : 0.0f);
    const float wide = std::min(widest_of(ui, kCaptionMono, tokens), area.w * 0.2f);
    out.cells = std::max(out.token + (places ? wide + gap::small : 0), area.x + (places ? 0 : kLabels));
    out.right = area.right() - kMeasure;
    return out;
}

void draw_strip_row(ThreadPen& pen, Rect row, const StripPlaces& at, const Thread::Strip& strip,
                    float reach) {
    Ui& ui = pen.ui;
    if (strip.bright && !strip.framed)
        ui.fill({row.x - 8, row.y, row.w + 16, row.h}, ui.colors->bg3, size::corner);
    const ImU32 ink = strip.framed ? ui.colors->accent_text : strip.bright ? ui.colors->t1 : ui.colors->t2;
    write(ui, {row.x, row.y, at.place - row.x, row.h}, kCaptionMono, strip.framed ? ink : ui.colors->t3,
          strip.sign);
    if (strip.place >= 0) {
        write(ui, {at.place, row.y, at.token - at.place - gap::close, row.h}, kCaptionMono, ui.colors->t3,
              std::to_string(strip.place), Flush::right);
        write(ui, {at.token, row.y, at.cells - at.token - gap::small, row.h}, kCaptionMono, ink, strip.token,
              Flush::right);
    }
    const Rect cells = inset({at.cells, row.y, at.right - at.cells, row.h}, 0, row.h > 20 ? 2.0f : 1.0f);
    draw_cells(ui, cells, strip.values.transpose(), reach);
    if (strip.framed) ui.frame(inset(cells, -2, -2), ui.colors->accent, 2, size::corner);
    write(ui, {at.right, row.y, kMeasure, row.h}, kCaptionMono,
          strip.bright ? ui.colors->accent_text : ui.colors->t2, strip.measure, Flush::right);
    const Hit hit = ui.over(cells);
    if (!hit.hovered || strip.values.size() == 0) return;
    const auto n = isize(strip.values);
    const int entry = std::clamp(int((hit.mouse.x - cells.x) / cells.w * float(n)), 0, n - 1);
    ui.tooltip(pen.path + "/strip", hit,
               strip.sign + (strip.token.empty() ? "" : " of " + strip.token) + ", entry " +
                   std::to_string(entry) + ": " + number(double(strip.values[entry]), 3));
}

/// Columns of the words.
struct TokenColumns {
    float left = 0, step = 0;
    int count = 0;
    float x(int i) const { return left + step * float(i); }
    Rect well(int i, float y, float high) const { return {x(i), y, std::max(step - 2, 1.0f), high}; }
    float middle(int i) const { return x(i) + (step - 2) / 2; }
};

int bright_column(const Thread& thread) {
    const auto found = std::find(thread.places.begin(), thread.places.end(), thread.bright);
    return found == thread.places.end() ? -1 : narrow<int>(found - thread.places.begin());
}

/// The largest share of a story's stop or the followed key.
int bright_of(const Thread& thread, const Thread::Node& node) {
    if (node.look != Thread::Look::shares || node.bands.size() != 1) return bright_column(thread);
    int out = -1;
    const auto& values = node.bands[0].values;
    for (int i = 0; i < isize(values); ++i)
        if (!std::isnan(values[i]) && (out < 0 || values[i] > values[out])) out = i;
    return out;
}

/// Draws place and word above each column, slanted if they do not fit; returns the height.
float draw_words_above(Ui& ui, float top, const TokenColumns& c, const Thread& thread, int bright) {
    const bool level = widest_of(ui, kCaptionMono, thread.tokens) + 4 <= c.step;
    if (!level) {
        const float high = column_labels_height(ui, thread.tokens, c.step);
        draw_column_labels(ui, c.left, top + high, c.step, thread.tokens);
        return high;
    }
    for (int i = 0; i < c.count; ++i) {
        const bool own = !thread.crosses && thread.places[i] == thread.query;
        if (own || i == bright)
            ui.fill({c.x(i) - 1, top, c.step, kTokens - 4}, own ? ui.colors->accent_fill : ui.colors->bg3,
                    size::corner);
        ui.text.draw_centered(c.middle(i), top + 10, kCaptionMono,
                              own ? ui.colors->accent_text : ui.colors->t3, std::to_string(thread.places[i]));
        ui.text.draw_centered(c.middle(i), top + 28, kCaptionMono,
                              own ? ui.colors->accent_text : ui.colors->t1, thread.tokens[i]);
    }
    return kTokens;
}

std::string brief_number(float value, int digits) {
    const std::string text = number(double(value), std::abs(value) >= 100 ? 0 : digits);
    return text;
}

/// Writes a number under or in a column where it fits; always in the bright one.
void draw_column_number(Ui& ui, const TokenColumns& c, int i, float y, float value, int digits, bool bright) {
    std::string text = brief_number(value, digits);
    if (ui.text.width(kCaptionMono, text) > c.step && text.starts_with("0.")) text = text.substr(1);
    if (!bright && ui.text.width(kCaptionMono, text) + 5 > c.step) return;
    ui.text.draw_centered(c.middle(i), y, kCaptionMono, bright ? ui.colors->accent_text : ui.colors->t2,
                          text);
}

void draw_height(Ui& ui, Rect well, float value, float full, bool is_signed, bool bright) {
    const float zero = is_signed ? well.middle_y() : well.bottom(), reach = zero - well.y,
                high = std::max(ui.line(), std::abs(value) / full * reach);
    const ImU32 color = value < 0 ? ui.colors->minus : ui.colors->plus;
    ui.fill({well.x, value < 0 ? zero : zero - high, well.w, high}, bright ? color : faded(color, 0.55f));
}

void draw_share(Ui& ui, Rect well, float value, bool bright) {
    const float high = std::max(ui.line(), well.h * std::clamp(value, 0.0f, 1.0f));
    ui.fill({well.x, well.bottom() - high, well.w, high}, bright ? ui.colors->accent : ui.colors->t3);
}

bool is_bars(const Band& band) { return band.kind == Band::Kind::heights || band.kind == Band::Kind::shares; }

void draw_bar_band(Ui& ui, const TokenColumns& c, Rect room, const Band& band, int bright) {
    float full = 1e-6f;
    bool is_signed = false;
    for (const float v : band.values)
        if (!std::isnan(v)) full = std::max(full, std::abs(v)), is_signed = is_signed || v < 0;
    const bool numbers_apart =
        bright < 0 || ui.text.width(kCaptionMono, brief_number(full, band.digits)) + 5 <= c.step;
    for (int i = 0; i < std::min(c.count, isize(band.values)); ++i) {
        const Rect well = c.well(i, room.y, room.h - kUnder);
        const float value = band.values[i];
        ui.fill(well, ui.colors->bg2);
        if (std::isnan(value)) continue;
        if (band.kind == Band::Kind::heights)
            draw_height(ui, well, value, full, is_signed, i == bright);
        else
            draw_share(ui, well, value, i == bright);
        if (i == bright || numbers_apart || std::abs(i - bright) > 1)
            draw_column_number(ui, c, i, well.bottom() + 14, value, band.digits, i == bright);
    }
    for (int i = 0; i < std::min(c.count, isize(band.values)); ++i)
        if (std::isnan(band.values[i])) ui.hatch(c.well(i, room.y, room.h - kUnder), ui.colors->hatch);
}

void draw_numbers_of(Ui& ui, const TokenColumns& c, Rect room, const Band& band, int bright) {
    for (int i = 0; i < std::min(c.count, isize(band.values)); ++i) {
        if (std::isnan(band.values[i])) continue;
        const ImU32 ink = i == bright ? ui.colors->accent : ui.colors->l2;
        const float width = i == bright ? 2.0f : 1.0f, x = c.middle(i);
        ui.stroke({x, room.y + 2}, {x, room.middle_y() - 12}, ink, width);
        ui.stroke({x, room.middle_y() + 12}, {x, room.bottom() - 2}, ink, width);
        draw_column_number(ui, c, i, room.middle_y(), band.values[i], 1, i == bright);
    }
}

void draw_one_band(Ui& ui, const TokenColumns& c, Rect room, const Band& band, int bright) {
    if (is_bars(band)) return draw_bar_band(ui, c, room, band, bright);
    if (band.kind == Band::Kind::numbers) return draw_numbers_of(ui, c, room, band, bright);
    const float reach = std::max(1e-6f, band.cells.cwiseAbs().maxCoeff());
    for (int i = 0; i < std::min<int>(c.count, int(band.cells.cols())); ++i)
        draw_cells(ui, c.well(i, room.y, room.h - 4), band.cells.col(i), reach);
}

float share_of_room(const Band& band) {
    return band.kind == Band::Kind::numbers ? 0 : band.kind == Band::Kind::cells ? 2.2f : 1;
}

/// Answers the mouse over the columns: points at the cell, and locks it when clicked.
void answer_columns(ThreadPen& pen, const TokenColumns& c, Rect all, const Thread& thread,
                    const Thread::Node& node) {
    Ui& ui = pen.ui;
    const std::string path = pen.path + "/columns";
    const Hit hit = ui.hit(path, {c.left, all.y, c.step * float(c.count), all.h});
    if (!hit.hovered) return;
    const int i = std::clamp(int((hit.mouse.x - c.left) / c.step), 0, c.count - 1);
    ui.frame(c.well(i, all.y, all.h), ui.colors->hover, 1, 2);
    std::string text = std::to_string(thread.places[i]) + " " + thread.tokens[i];
    for (const Band& band : node.bands)
        if (i < isize(band.values))
            text += ", " + band.name + " " +
                    (std::isnan(band.values[i]) ? "hidden" : number(double(band.values[i]), 3));
    ui.tooltip(path, hit, text);
    pen.pointed = std::pair{thread.query, thread.places[i]};
    if (hit.clicked) pen.pressed = pen.pointed;
}

/// Says what a strip's colors mean, at length and in short.
std::vector<std::string> colors_in_words(bool lengths) {
    const std::string colors = "Each stripe is one number: blue below 0, red above";
    std::vector<std::string> out;
    if (lengths) out.push_back(colors + "; length: how large all are together");
    out.insert(out.end(), {colors, "blue: below 0, red: above"});
    return out;
}

}  // namespace

float draw_strips_of(ThreadPen& pen, Rect area, const std::vector<Thread::Strip>& strips,
                     const std::string& heading) {
    Ui& ui = pen.ui;
    constexpr float kApart = 12;
    float y = area.y;
    const StripPlaces at = strip_places(ui, area, strips);
    if (!heading.empty()) {
        const Rect line{at.cells, y, at.right - at.cells, 20};
        write(ui, {at.right, y, kMeasure, 20}, kCaptionMono, ui.colors->t3, heading, Flush::right);
        write(ui, line, kCaption, ui.colors->t3,
              first_that_fits(ui, kCaption, colors_in_words(heading == "length"), line.w));
        y += 20;
    }
    const float reach = reach_of(strips);
    int gaps = 0;
    for (const Thread::Strip& strip : strips) gaps += strip.apart;
    const float room = area.bottom() - y - kApart * float(gaps),
                pitch = std::clamp(room / float(strips.size()), kMinStripPitch, kMaxPitch);
    for (const Thread::Strip& strip : strips) {
        if (strip.apart) y += kApart;
        draw_strip_row(pen, {area.x, y, area.w, pitch}, at, strip, reach);
        y += pitch;
    }
    return y;
}

float draw_bands(ThreadPen& pen, Rect area, const Thread& thread, const Thread::Node& node) {
    constexpr float kLeastBand = 64;
    const float most = node.bands.size() > 1 ? 170 : 260;
    Ui& ui = pen.ui;
    TokenColumns c{area.x + kLabels, 0, isize(thread.tokens)};
    c.step = std::min((area.w - kLabels) / float(std::max(1, c.count)), 64.0f);
    const int bright = bright_of(thread, node);
    float y = area.y + draw_words_above(ui, area.y, c, thread, bright), fixed = 0, shares = 0;
    for (const Band& band : node.bands) {
        shares += share_of_room(band);
        fixed += share_of_room(band) == 0 ? kNumbersHigh : gap::small;
    }
    const float each = (area.bottom() - y - fixed) / std::max(shares, 1.0f), top = y;
    for (const Band& band : node.bands) {
        const float part = share_of_room(band),
                    high = part == 0 ? kNumbersHigh : std::clamp(each * part, kLeastBand, most * part);
        write(ui, {area.x, y + high / 2 - 28, kLabels - gap::tight, 20}, kCaption, ui.colors->t2, band.name);
        write(ui, {area.x, y + high / 2 - 8, kLabels - gap::tight, 20}, kCaptionMono, ui.colors->t3,
              band.under);
        draw_one_band(ui, c, {c.left, y, c.step * float(c.count), high}, band, bright);
        y += high + (part == 0 ? 0 : gap::small);
    }
    if (bright >= 0)
        ui.frame({c.x(bright) - 2, top - 4, c.step + 2, y - top}, ui.colors->accent, 2, size::corner);
    answer_columns(pen, c, {c.left, top, 0, y - top}, thread, node);
    return y;
}

float draw_upright(ThreadPen& pen, Rect area, const Thread::Node& node) {
    Ui& ui = pen.ui;
    constexpr float kNames = 28, kBelow = 52, kBetween = 12, kMaxWide = 112;
    const auto count = float(node.columns.size());
    const float left = area.x + kLabels, step = std::min((area.right() - left) / count, kMaxWide + kBetween),
                wide = step - kBetween, high = std::clamp(area.h - kNames - kBelow - 12, 64.0f, 168.0f),
                top = area.y + kNames;
    ui.text.draw_wrapped(area.x, top, kLabels - gap::small, kCaption, ui.colors->t2, node.columns_are);
    for (int i = 0; i < isize(node.columns); ++i) {
        const Thread::Bar& bar = node.columns[i];
        const Rect well{left + step * float(i), top, wide, high};
        const float part = std::max(2.0f, high * std::clamp(bar.share, 0.0f, 1.0f));
        ui.fill(well, ui.colors->bg2);
        ui.fill({well.x, well.bottom() - part, wide, part}, bar.bright ? ui.colors->accent : ui.colors->t3);
        if (bar.bright) ui.frame(inset(well, -4, -4), ui.colors->accent, 2, size::corner);
        const Rect about{well.x - kBetween / 2, 0, step, 20};
        const ImU32 ink = bar.bright ? ui.colors->accent_text : ui.colors->t1;
        write(ui, {about.x, area.y, about.w, 20}, kCaption, bar.bright ? ink : ui.colors->t2, bar.name,
              Flush::center);
        const Font font = ui.text.width(kBodyMono, bar.value) <= step ? kBodyMono : kCaptionMono;
        write(ui, {about.x, well.bottom() + 8, about.w, 20}, font, ink, bar.value, Flush::center);
        if (ui.text.width(kCaption, bar.more) <= step)
            write(ui, {about.x, well.bottom() + 28, about.w, 20}, kCaption, ui.colors->t3, bar.more,
                  Flush::center);
    }
    return top + high + kBelow + 12;
}

float draw_bar_list(ThreadPen& pen, Rect area, const Thread::Node& node) {
    Ui& ui = pen.ui;
    constexpr float kLine = 28, kMore = 92, kLeastBar = 60;
    ui.hairline(area.x, area.y, area.right(), area.y);
    const bool more =
        std::any_of(node.bars.begin(), node.bars.end(), [](const auto& b) { return !b.more.empty(); });
    std::vector<std::string> names, mores, values;
    for (const Thread::Bar& bar : node.bars) {
        names.push_back(bar.name);
        mores.push_back(bar.more);
        values.push_back(bar.value);
    }
    const float values_wide = std::max(widest_of(ui, kBodyMono, values), 56.0f),
                mores_wide = more ? std::min(std::max(widest_of(ui, kBodyMono, mores), 56.0f), kMore * 2) : 0;
    Rect head{area.x, area.y + gap::small, area.w, 20};
    write(ui, take_right(head, values_wide + (more ? mores_wide + gap::large : 0), gap::medium), kCaption,
          ui.colors->t3, node.heading, Flush::right);
    const float said =
        ui.text.draw_wrapped(head.x, head.y + 2, head.w, kCaption, ui.colors->t3, node.bars_are);
    float y = area.y + gap::small + std::max(said, 20.0f) + gap::tight;
    const float name_wide = std::clamp(widest_of(ui, kBody, names), kLabels - gap::medium, area.w * 0.42f);
    for (const Thread::Bar& bar : node.bars) {
        Rect line{area.x, y, area.w, kLine};
        const ImU32 ink = bar.bright ? ui.colors->accent_text : ui.colors->t1;
        write(ui, take_left(line, name_wide, gap::medium), kBody, ink, bar.name);
        write(ui, take_right(line, values_wide, gap::large), kBodyMono, ink, bar.value, Flush::right);
        if (more)
            write(ui, take_right(line, mores_wide, gap::large), kBodyMono, ui.colors->t2, bar.more,
                  Flush::right);
        const Rect track = band({line.x, line.y, std::max(line.w, kLeastBar), line.h}, 8);
        ui.fill(track, ui.colors->bg2);
        ui.fill({track.x, track.y, std::max(1.0f, track.w * bar.share), track.h},
                bar.bright ? ui.colors->accent : ui.colors->t3);
        y += kLine;
    }
    return y + gap::tight;
}

}  // namespace headlight::learn
