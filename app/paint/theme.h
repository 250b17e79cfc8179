// Colors and sizes of the window. Amber: this one; plus is warm, minus cool, zero the background.
#pragma once

#include <imgui.h>

namespace headlight {

struct Theme {
    ImU32 bg0, bg1, bg2, bg3, bg4;  // recessed, panels, fields, hover, pressed
    ImU32 l1, l2;                   // hairlines, control borders
    ImU32 t1, t2, t3;               // text, secondary, captions
    ImU32 accent, accent_text, on_accent, accent_fill;
    ImU32 hover;  // outline under the pointer
    ImU32 plus, minus, warning, warning_fill, well, hatch;
    bool dark;
};

/// The two themes; the design's table lists their contrasts.
const Theme& theme(bool dark);

ImVec4 as_vec4(ImU32 color);

/// Lengths in points, before the display's scale and the text size.
namespace size {
inline constexpr float caption = 13, body = 15, title = 20;
inline constexpr float top_bar = 104, top_bar_low = 88, view_header = 48, title_bar = 52, status_bar = 28,
                       button = 32, chip = 28, chip_pad = 7, row = 28, row_low = 24, bar = 8, line = 20;
inline constexpr float panel_pad = 16, inspector_pad = 20, center_pad = 24, corner = 4, popup_corner = 6,
                       hatch = 6;
}  // namespace size

}  // namespace headlight
