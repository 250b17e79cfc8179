// A word in a box: a token, a choice that stands among others.
#pragma once

#include "paint/ui.h"

namespace headlight {

struct Chip {
    std::string label;
    ImU32 ink, back = 0, edge = 0;  // 0: none
    std::string detail = {};        // behind the label, fainter
    Font font = kCaptionMono;
};

/// How wide a chip is that shows all of its text.
float chip_width(Ui& ui, const Chip& chip);
float chip_width(Ui& ui, const std::string& token);
void draw_chip(Ui& ui, Rect r, const Chip& chip);

/// The colors of a token's chip: where it is the query that is shown, its key, or neither.
enum class ChipRole { token, key, query };
Chip token_chip(const Ui& ui, const std::string& label, ChipRole role);

/// A choice that can be pressed, lit where it is on.
Hit press_chip(Ui& ui, const std::string& path, Rect r, Chip chip, bool on);

}  // namespace headlight
