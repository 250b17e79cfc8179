// Defines color maps; the shader and the figures use the same tables.
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

/// Lists the names that users can choose: "beam", "viridis", "magma", "cividis", "gray".
std::span<const char* const> colormap_names();

/// Returns the table for a dark or a light background; on light, perceptual maps are reversed.
const Colormap& colormap(std::string_view name, bool dark);

/// Returns the diverging map for signed values, with 0 in the middle.
const Colormap& signed_colormap(bool dark);

/// Resolves a name: itself, or "gray" for "grey", its former spelling; "" if unknown.
std::string_view find_colormap(std::string_view name);

/// Returns the entry of a color map at 0 … 1, clamped; kNoNumber for NaN.
constexpr int kNoNumber = 256;
int color_index(float place);
/// Returns the color of an entry; for kNoNumber a gray outside every map.
Rgb color_of(const Colormap& map, int index);
inline Rgb color_of(const Colormap& map, float place) { return color_of(map, color_index(place)); }

/// Returns the color of a head among `heads`: even hues in OKLCH (Ottosson 2020), odd ones of many lighter.
Rgb head_color(int head, int heads, bool dark);

/// Parses "#101317".
Rgb parse_hex(std::string_view hex);

}  // namespace headlight
