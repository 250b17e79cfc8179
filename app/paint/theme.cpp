#include "paint/theme.h"

namespace headlight {

namespace {
constexpr ImU32 hex(unsigned rgb) { return IM_COL32((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, 255); }

constexpr Theme kDark{hex(0x0C0E11), hex(0x13161A), hex(0x1B1F25), hex(0x262C34), hex(0x343C46),
                      hex(0x23282F), hex(0x3B444F), hex(0xECEEF1), hex(0xB3BAC3), hex(0x8A939E),
                      hex(0xFFB454), hex(0xFFB454), hex(0x1B1204), hex(0x35291A), hex(0xFFFFFF),
                      hex(0xFF8A70), hex(0x74B4FF), hex(0xFF8A70), hex(0x35201D), hex(0x101317),
                      hex(0x2B3138), true};
constexpr Theme kLight{hex(0xE9EBEE), hex(0xF6F7F8), hex(0xFFFFFF), hex(0xE4E7EB), hex(0xD3D8DE),
                       hex(0xDADEE3), hex(0xABB3BD), hex(0x14171B), hex(0x414A54), hex(0x5F6873),
                       hex(0xC46F00), hex(0x945000), hex(0xFFFFFF), hex(0xFBEBD0), hex(0x000000),
                       hex(0xB5391F), hex(0x1C62B8), hex(0xB5391F), hex(0xFBE4DE), hex(0xFFFFFF),
                       hex(0xD3D8DE), false};
}  // namespace

const Theme& theme(bool dark) { return dark ? kDark : kLight; }

ImVec4 as_vec4(ImU32 c) {
    return {float((c >> IM_COL32_R_SHIFT) & 255) / 255, float((c >> IM_COL32_G_SHIFT) & 255) / 255,
            float((c >> IM_COL32_B_SHIFT) & 255) / 255, 1};
}

}  // namespace headlight
