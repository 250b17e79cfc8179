// Figure presets as files give them, and lists of positions.
#include <cstdint>
#include <string>

#include "figure/style.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight;
    const std::string text(reinterpret_cast<const char*>(data), size);
    FigureStyle style;
    if (const auto preset = parse_preset(text, "preset.json"))
        (void)static_cast<bool>(apply_preset(style, *preset));
    (void)static_cast<bool>(read_positions(text, 64));
    return 0;
}
