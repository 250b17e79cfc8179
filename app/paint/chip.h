// Draws a word in a box: a token, or a choice among others.
#pragma once

#include "paint/ui.h"

namespace headlight {

struct Chip {
    std::string label;
    ImU32 ink, back = 0, edge = 0;  // 0: none
    std::string detail = {};        // after the label, fainter
    Font font = kCaptionMono;
};

float chip_width(Ui& ui, const Chip& chip);
float chip_width(Ui& ui, const std::string& token);
void draw_chip(Ui& ui, Rect r, const Chip& chip);

/// Colors of a token's chip: the selected query, its key, or neither.
enum class ChipRole { token, key, query };
Chip token_chip(const Ui& ui, const std::string& label, ChipRole role);

/// A clickable choice, highlighted when on.
Hit press_chip(Ui& ui, const std::string& path, Rect r, Chip chip, bool on);

}  // namespace headlight
