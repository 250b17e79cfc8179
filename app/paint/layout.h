// Layout in points: named spacings, parts of a rectangle, lines in a column.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "paint/ui.h"

namespace headlight {

/// Spacings of the design.
namespace gap {
inline constexpr float tight = 4, close = 6, small = 8, medium = 12, large = 16, wide = 24, section = 32;
}

/// Truncates a length to an int, clamped to its range; 0 for NaN, as a share of an empty part.
inline int int_of(double value) {
    constexpr double kMax = std::numeric_limits<int>::max();
    return std::isnan(value) ? 0 : static_cast<int>(std::clamp(value, -kMax, kMax));
}

/// Clamps to low … high; low if these cross, as in a window of a few points.
template <class T>
T between(T value, T low, T high) {
    return std::max(low, std::min(value, high));
}

/// A rectangle without a margin at its sides, and at its top and bottom.
inline Rect inset(Rect r, float across, float down) {
    return {r.x + across, r.y + down, r.w - 2 * across, r.h - 2 * down};
}

/// Cuts a part off one side of a rectangle, with a gap.
inline Rect take_top(Rect& rest, float height, float apart = 0) {
    const Rect part{rest.x, rest.y, rest.w, height};
    rest.y += height + apart;
    rest.h -= height + apart;
    return part;
}
inline Rect take_bottom(Rect& rest, float height, float apart = 0) {
    rest.h -= height + apart;
    return {rest.x, rest.bottom() + apart, rest.w, height};
}
inline Rect take_left(Rect& rest, float width, float apart = 0) {
    const Rect part{rest.x, rest.y, width, rest.h};
    rest.x += width + apart;
    rest.w -= width + apart;
    return part;
}
inline Rect take_right(Rect& rest, float width, float apart = 0) {
    rest.w -= width + apart;
    return {rest.right() + apart, rest.y, width, rest.h};
}

/// A part of this height: at the middle of a rectangle, or about a height; a square about a point.
inline Rect band(Rect r, float height) { return {r.x, r.middle_y() - height / 2, r.w, height}; }
inline Rect line_at(Rect r, float middle, float height) { return {r.x, middle - height / 2, r.w, height}; }
inline Rect square_at(ImVec2 center, float side) {
    return {center.x - side / 2, center.y - side / 2, side, side};
}

bool crosses(const Rect& r, ImVec2 from, ImVec2 to);
inline bool overlap(const Rect& a, const Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// One of equal columns or rows of a rectangle.
inline Rect nth_column(Rect r, int i, int count, float apart = 0) {
    const float w = (r.w - apart * float(count - 1)) / float(count);
    return {r.x + (w + apart) * float(i), r.y, w, r.h};
}
inline Rect nth_row(Rect r, int i, int count, float apart = 0) {
    const float h = (r.h - apart * float(count - 1)) / float(count);
    return {r.x, r.y + (h + apart) * float(i), r.w, h};
}

/// A grid of equal cells, of which a part may be visible.
struct Grid {
    Rect view;  // visible area
    int rows = 0, columns = 0;
    float w = 0, h = 0;    // of a cell
    float x0 = 0, y0 = 0;  // hidden at the left and top

    float x(int column) const { return view.x + w * float(column) - x0; }
    float y(int row) const { return view.y + h * float(row) - y0; }
    float middle_x(int column) const { return x(column) + w / 2; }
    float middle_y(int row) const { return y(row) + h / 2; }
    Rect cell(int row, int column) const { return {x(column), y(row), w, h}; }
    Rect row(int i) const { return {view.x, y(i), view.w, h}; }
    Rect whole() const { return {x(0), y(0), w * float(columns), h * float(rows)}; }
    /// The row and column nearest to a point.
    int row_at(float place) const { return between(int_of(double((place - y(0)) / h)), 0, rows - 1); }
    int column_at(float place) const { return between(int_of(double((place - x(0)) / w)), 0, columns - 1); }
    std::pair<int, int> at(ImVec2 place) const { return {row_at(place.y), column_at(place.x)}; }
    /// Whether the middle of a row or column is visible; whether any part of a row is.
    bool sees_row(int i) const { return std::abs(middle_y(i) - view.middle_y()) <= view.h / 2 + 1; }
    bool sees_column(int i) const { return std::abs(middle_x(i) - view.middle_x()) <= view.w / 2 + 1; }
    bool touches_row(int i) const { return y(i + 1) > view.y && y(i) < view.bottom(); }
};

inline Grid grid_at(ImVec2 corner, int rows, int columns, float w, float h) {
    return {{corner.x, corner.y, w * float(columns), h * float(rows)}, rows, columns, w, h};
}

enum class Flush { left, center, right };
/// Draws a line of text at the middle of a rectangle's height, truncated if too long; returns its width.
float write(Ui& ui, Rect r, Font font, ImU32 ink, const std::string& text, Flush flush = Flush::left);
/// The first of several wordings, longest first, that fits; else the last.
std::string first_that_fits(Ui& ui, Font font, const std::vector<std::string>& ways, float room);
/// Draws the caption of a picture: one line, or wrapped, returning its height.
void caption(Ui& ui, Rect line, const std::string& text, Flush flush = Flush::left);
float caption_lines(Ui& ui, Rect r, const std::string& text);
/// The width of the widest text, at most `max`.
float widest_of(Ui& ui, Font font, const std::vector<std::string>& texts, float max = 1e9f);

/// "4 ball ▬▬▬▬ 0.782": a number, a name, a bar and a value.
struct BarLine {
    std::string index;  // "": none
    std::string label;
    float share = 0;  // of the bar
    std::string value;
    bool on = false;         // this one
    bool is_signed = false;  // from −1 to 1; the bar starts in the middle
};

/// Lines one below the other; `y` is the middle of the next.
class Column {
public:
    Column(Ui& ui, Rect at, float y) : ui(ui), at(at), y(y) {}

    Ui& ui;
    Rect at;
    float y;
    float tight = 1;       // below 1 in low windows
    float pair_step = 26;  // from one pair to the next
    float bars = 112;      // where bars of lines begin, from the left
    float values = 68;     // room right of them
    bool small = false;    // pairs in the size of captions

    void skip(float points) { y += points * tight; }
    Rect line(float high = 24) const { return line_at(at, y, high); }
    /// Draws a caption above lines, and a heading for their values.
    void heading(const std::string& text, const std::string& right = "");
    enum class Pair { plain, emphasis, large };
    /// Draws "label value"; emphasized in amber.
    void pair(const std::string& label, const std::string& value, Pair look = Pair::plain);
    void pair(const std::string& label, const std::string& value, bool emphasis) {
        pair(label, value, emphasis ? Pair::emphasis : Pair::plain);
    }
    void bar(const BarLine& line, float step = 26);
    void note(const std::string& text);
    /// Draws a hairline, and the gap to the next line.
    void rule();
};

}  // namespace headlight
