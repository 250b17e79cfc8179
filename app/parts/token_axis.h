// The names along a map: tokens, layers, heads, each beside its row or above its column.
#pragma once

#include <functional>

#include "paint/layout.h"

namespace headlight {

/// How names above columns stand. What does not fit level leans, then stands upright, and only then are names
/// left out.
enum class Lean { level, slanted, upright };
/// The first at which all names stand apart.
Lean lean_of(float widest, float cell);
/// How high they are: on a line, on two with their numbers, or leaning.
inline constexpr float kPlainNames = 24, kNumberedNames = 44;
float names_height(Lean lean, float widest, bool numbered = false);

/// As many names as stand apart; the one that is lit among them whatever stands beside it.
struct TokenAxis {
    std::function<std::string(int)> name;
    std::string title = "";                            // what they are: "query"
    std::function<std::string(int)> number = nullptr;  // beyond the name; null: none
    float room = 100;                                  // of names beside rows, and of each that leans
    Lean lean = Lean::level;                           // along columns: without numbers where they lean
    bool below = false;                                // under columns, not above them
    int lit = -1;
    bool snug = false;                // the lit name's background is no larger than it needs; else its cell's
    ImU32 lit_ink = 0, lit_back = 0;  // 0: as the query that is shown
    std::function<ImU32(int)> ink = nullptr;  // of the others; null: as text
    Font font = kCaptionMono;

    void draw_rows(Ui& ui, const Grid& grid) const;
    void draw_columns(Ui& ui, const Grid& grid) const;
    /// The widest of so many names, as far as there is room for one.
    float widest(Ui& ui, int count) const;
};

inline constexpr float kNameLine = 20;

/// In the corner between the names of rows and of columns: what they are ("query ↓", "key →"). The columns'
/// title stands above their names, `high` over the map, where the corner has no room for it.
void name_axes(Ui& ui, const Grid& grid, const TokenAxis& rows, const TokenAxis& columns, float high);
/// How much must be free above a map with these names for that.
float room_above(Ui& ui, const TokenAxis& rows, const TokenAxis& columns, float high);

/// A label that leans about where it begins: upwards, or downwards; on `back` where that is a color.
struct Leaning {
    ImVec2 from;
    Lean lean = Lean::slanted;
    bool down = false;
};
void draw_leaning(Ui& ui, const Leaning& at, ImU32 ink, const std::string& label, ImU32 back = 0);

/// Names of positions, and their numbers.
std::function<std::string(int)> names_of(const std::vector<std::string>& labels);
std::string index_name(int i);

}  // namespace headlight
