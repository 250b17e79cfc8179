// Draws the labels along a map: tokens, layers, heads.
#pragma once

#include <functional>

#include "paint/layout.h"

namespace headlight {

/// Orientation of column labels: horizontal if they fit, else slanted, else vertical, some omitted.
enum class Lean { level, slanted, upright };
/// The first orientation at which labels do not overlap.
Lean lean_of(float widest, float cell);
/// Heights of labels on one line, and on two with their numbers.
inline constexpr float kPlainNames = 24, kNumberedNames = 44;
float names_height(Lean lean, float widest, bool numbered = false);

/// Draws as many labels as fit, always including the highlighted one.
struct TokenAxis {
    std::function<std::string(int)> name;
    std::string title = "";                            // "query"
    std::function<std::string(int)> number = nullptr;  // drawn beyond the name; null: none
    float room = 100;         // maximum width of row labels, and length of slanted ones
    Lean lean = Lean::level;  // of column labels; slanted ones have no numbers
    bool below = false;       // below the columns, not above
    int lit = -1;
    bool snug = false;                        // the highlight fits the name, not its cell
    ImU32 lit_ink = 0, lit_back = 0;          // 0: as the shown query
    std::function<ImU32(int)> ink = nullptr;  // of the others; null: default
    Font font = kCaptionMono;

    void draw_rows(Ui& ui, const Grid& grid) const;
    void draw_columns(Ui& ui, const Grid& grid) const;
    /// The width of the widest of `count` names, at most `room`.
    float widest(Ui& ui, int count) const;
};

inline constexpr float kNameLine = 20;

/// Draws the axis titles ("query ↓", "key →") in the corner between row and column labels; a columns' title
/// too wide for it goes above their labels, `high` above the map.
void name_axes(Ui& ui, const Grid& grid, const TokenAxis& rows, const TokenAxis& columns, float high);
/// The height that labels and titles need above a map.
float room_above(Ui& ui, const TokenAxis& rows, const TokenAxis& columns, float high);

/// Draws a label rotated about its start, upwards or downwards, on `back` unless it is 0.
struct Leaning {
    ImVec2 from;
    Lean lean = Lean::slanted;
    bool down = false;
};
void draw_leaning(Ui& ui, const Leaning& at, ImU32 ink, const std::string& label, ImU32 back = 0);

/// Names of positions, and their indices.
std::function<std::string(int)> names_of(const std::vector<std::string>& labels);
std::string index_name(int i);

}  // namespace headlight
