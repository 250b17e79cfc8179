// The names along a map: tokens, layers, heads, each beside its row or above its column.
#pragma once

#include <functional>

#include "paint/layout.h"

namespace headlight {

/// As many names as stand apart; the one that is lit among them whatever stands beside it.
struct TokenAxis {
    const Grid& grid;
    std::function<std::string(int)> name;
    std::function<std::string(int)> number = nullptr;  // beyond the name; null: none
    float room = 100;                                  // of names beside rows
    bool slanted = false;                              // along columns: leaning, without numbers
    bool below = false;                                // under columns, not above them
    float apart = 0;  // how far names above columns are from one another at least; 0: as they need
    int lit = -1;
    bool snug = false;                // the lit name's background is no larger than it needs; else its cell's
    ImU32 lit_ink = 0, lit_back = 0;  // 0: as the query that is shown
    std::function<ImU32(int)> ink = nullptr;  // of the others; null: as text
    Font font = kCaptionMono;

    void draw_rows(Ui& ui) const;
    void draw_columns(Ui& ui) const;
};

/// How high the names above columns are: on two lines, on one, or leaning.
inline constexpr float kNumberedNames = 44, kPlainNames = 24;
float slanted_names(float widest);

/// Beside rows and above columns: what they are ("query ↓", "key →").
void name_axes(Ui& ui, const Grid& grid, float left, const std::string& rows, const std::string& columns);

/// Names of positions, and their numbers.
std::function<std::string(int)> names_of(const std::vector<std::string>& labels);
std::string index_name(int i);

}  // namespace headlight
