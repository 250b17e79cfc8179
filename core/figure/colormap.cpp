// Defines mako (seaborn, BSD-3-Clause) as "beam", viridis and magma (CC0), cividis (Nuñez et al. 2018).
#include "figure/colormap.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/cast.h"
#include "io/json.h"

namespace headlight {

namespace {

constexpr const char* kNames[] = {"beam", "viridis", "magma", "cividis", "gray"};

std::map<std::string, Colormap> read_tables() {
    const Json root = embedded_json("assets/colormaps.json");
    std::map<std::string, Colormap> tables;
    for (const auto& [name, list] : root.items())
        for (size_t i = 0; i < 256; ++i) tables[name][i] = parse_hex(list[i].get<std::string>());
    for (const char* name : {"viridis", "magma", "cividis"}) {
        tables[std::string(name) + "_dark"] = tables[name];
        Colormap& light = tables[std::string(name) + "_light"] = tables[name];
        std::reverse(light.begin(), light.end());
    }
    return tables;
}

}  // namespace

std::span<const char* const> colormap_names() { return kNames; }

std::string_view find_colormap(std::string_view name) {
    if (name == "grey") name = "gray";
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    return found == std::end(kNames) ? std::string_view() : *found;
}

namespace {
const Colormap& table(const std::string& name) {
    static const std::map<std::string, Colormap> tables = read_tables();
    return tables.at(name);
}
}  // namespace

const Colormap& signed_colormap(bool dark) { return table(dark ? "balance_dark" : "balance_light"); }

const Colormap& colormap(std::string_view name, bool dark) {
    const std::string_view found = find_colormap(name);
    return table(std::string(found.empty() ? kNames[0] : found) + (dark ? "_dark" : "_light"));
}

int color_index(float place) {
    return std::isnan(place) ? kNoNumber : round_int(std::clamp(place, 0.0f, 1.0f) * 255);
}

Rgb color_of(const Colormap& map, int index) {
    return index < 0 || index >= kNoNumber ? Rgb{0x80, 0x80, 0x80} : map[index];
}

namespace {

uint8_t srgb_byte(double linear) {
    const double x = std::clamp(linear, 0.0, 1.0),
                 encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    return static_cast<uint8_t>(std::lround(encoded * 255));
}

Rgb oklch(double lightness, double chroma, double hue_degrees) {
    const double a = chroma * std::cos(hue_degrees * M_PI / 180),
                 b = chroma * std::sin(hue_degrees * M_PI / 180);
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b),
                 m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b),
                 s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return {srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Rgb head_color(int head, int heads, bool dark) {
    constexpr int kMany = 12;
    const bool lighter = heads > kMany && head % 2 == 1;
    const double lightness = dark ? lighter ? 0.86 : 0.76 : lighter ? 0.61 : 0.52;
    return oklch(lightness, dark ? 0.13 : 0.14, 25 + 360.0 * head / heads);
}

Rgb parse_hex(std::string_view hex) {
    const auto channel = [&](size_t at) {
        unsigned value = 0;
        std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
        return static_cast<uint8_t>(value);
    };
    return hex.size() < 7 ? Rgb{} : Rgb{channel(1), channel(3), channel(5)};
}

}  // namespace headlight
