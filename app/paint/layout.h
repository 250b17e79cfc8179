// Where things stand, in points: spacings by name, parts of a rectangle, lines in a column.
#pragma once

#include <string>

#include "paint/ui.h"

namespace headlight {

/// Spacings of the design.
namespace gap {
inline constexpr float tight = 4, small = 8, medium = 12, large = 16, wide = 24;
}

/// A rectangle without a margin at its sides, and at its top and bottom.
inline Rect inset(Rect r, float across, float down) {
    return {r.x + across, r.y + down, r.w - 2 * across, r.h - 2 * down};
}

/// Takes a part off one side of a rectangle, and leaves a gap.
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

/// "4  ball  ▬▬▬▬  0.782": a number, a name, a bar and a value.
struct BarLine {
    std::string index;  // "": none
    std::string label;
    float share = 0;  // of the bar
    std::string value;
    bool on = false;  // this one
};

/// Lines under one another; `y` is the middle of the next.
class Column {
public:
    Column(Ui& ui, Rect at, float y) : ui(ui), at(at), y(y) {}

    Ui& ui;
    Rect at;
    float y;
    float tight = 1;       // low windows: less air between the lines
    float pair_step = 26;  // from one pair to the next
    float bars = 112;      // where the bars of lines begin, from the left
    float values = 68;     // how much room is right of them

    void skip(float points) { y += points * tight; }
    /// A caption above lines, and what their values are.
    void heading(const std::string& text, const std::string& right = "");
    enum class Pair { plain, emphasis, large };
    /// "label   value"; an emphasis in amber.
    void pair(const std::string& label, const std::string& value, Pair look = Pair::plain);
    void pair(const std::string& label, const std::string& value, bool emphasis) {
        pair(label, value, emphasis ? Pair::emphasis : Pair::plain);
    }
    void bar(const BarLine& line, float step = 26);
    /// A small text that wraps.
    void note(const std::string& text);
    /// A hairline, and the distance to the line under it.
    void rule();
};

}  // namespace headlight
