// Color maps; the shader and the figures use the same tables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headlight {

struct Rgb {
    uint8_t r = 0, g = 0, b = 0;
};

using Colormap = std::array<Rgb, 256>;

/// Names a person can choose: "beam", "viridis", "magma", "cividis", "gray".
std::span<const char* const> colormap_names();

/// The table for a dark or a light background; on light the perceptual maps are reversed so that zero stays
/// light.
const Colormap& colormap(std::string_view name, bool dark);

/// The diverging map for signed values: 0 at its middle.
const Colormap& signed_colormap(bool dark);

/// The name that `name` stands for: itself, or "gray" for "grey", as it was spelled before; "" where there is
/// none.
std::string_view find_colormap(std::string_view name);

/// The entry of a color map for a place 0 … 1; places beyond are its ends, and what is no number is
/// kNoNumber.
constexpr int kNoNumber = 256;
int color_index(float place);
/// The color of an entry; a gray of no map where there is no number.
Rgb color_of(const Colormap& map, int index);
inline Rgb color_of(const Colormap& map, float place) { return color_of(map, color_index(place)); }

/// The color of a head among `heads`: hues spread evenly in OKLCH (Ottosson 2020), odd heads lighter where
/// there are many.
Rgb head_color(int head, int heads, bool dark);

/// "#101317" to a color.
Rgb parse_hex(std::string_view hex);

}  // namespace headlight
