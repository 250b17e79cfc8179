// Selects the characters of Dear ImGui's atlas and their font files.
#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include <imgui_freetype.h>
#include FT_FREETYPE_H

#include <cmath>
#include <iterator>

#include "base/utf8.h"
#include "paint/text.h"

namespace headlight {

namespace {

constexpr float kSizes[] = {13, 15, 20};
const ImWchar kRanges[] = {0x20,   0x17F,  0x2010, 0x2027, 0x2030, 0x203A, 0x2190,
                           0x2193, 0x21B5, 0x21B5, 0x2212, 0x2212, 0x221A, 0x221A,
                           0x394,  0x394,  0x2225, 0x2225, 0x2016, 0x2016, 0};
/// Inter draws the strokes of ‖ so close that they merge at small sizes; the other face does not.
const ImWchar kDoubleBar[] = {0x2016, 0x2016, 0};
constexpr size_t kAllButDoubleBar = std::size(kRanges) - std::size(kDoubleBar);

/// (ascent + descent) / em: Dear ImGui sizes fonts by the former, designers by the latter.
float line_to_em(const std::string& file) {
    FT_Library library = nullptr;
    FT_Face face = nullptr;
    float ratio = 1.2f;
    if (FT_Init_FreeType(&library) == 0 && FT_New_Face(library, file.c_str(), 0, &face) == 0 &&
        face->units_per_EM > 0)
        ratio = float(face->ascender - face->descender) / float(face->units_per_EM);
    if (face) FT_Done_Face(face);
    if (library) FT_Done_FreeType(library);
    return ratio;
}

/// Character ranges of the proportional face.
const ImWchar* all_but_double_bar() {
    static const std::vector<ImWchar> ranges = [] {
        std::vector<ImWchar> out(kRanges, kRanges + kAllButDoubleBar);
        out.push_back(0);
        return out;
    }();
    return ranges.data();
}

/// Adds the other face's ‖ to the last font, at the given size.
void merge_double_bar(ImFontAtlas& atlas, ImFontConfig config, float em) {
    const std::string file = font_file(Face::mono);
    if (file.empty()) return;
    config.MergeMode = true;
    atlas.AddFontFromFileTTF(file.c_str(), std::round(em * line_to_em(file)), &config, kDoubleBar);
}

}  // namespace

std::string font_file(Face face) {
    FcPattern* wanted = FcNameParse(reinterpret_cast<const FcChar8*>(
        face == Face::sans ? "Inter:medium:slant=0" : "JetBrains Mono:regular:slant=0"));
    FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result;
    FcPattern* match = FcFontMatch(nullptr, wanted, &result);
    FcChar8* file = nullptr;
    std::string out;
    if (match && FcPatternGetString(match, FC_FILE, 0, &file) == FcResultMatch)
        out = reinterpret_cast<const char*>(file);
    if (match) FcPatternDestroy(match);
    FcPatternDestroy(wanted);
    return out;
}

bool in_atlas(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += c.length;
        bool found = false;
        for (const ImWchar* r = kRanges; *r && !found; r += 2) found = c.value >= r[0] && c.value <= r[1];
        if (!found) return false;
    }
    return true;
}

void TextPainter::load(float scale) {
    scale_ = scale;
    pictures_.clear();
    widths_.clear();
    ImFontAtlas* atlas = ImGui::GetIO().Fonts;
    atlas->Clear();
    atlas->Flags |= ImFontAtlasFlags_NoMouseCursors;
    for (size_t face = 0; face < 2; ++face) {
        const std::string file = font_file(static_cast<Face>(face));
        const float ratio = file.empty() ? 1 : line_to_em(file);
        for (size_t i = 0; i < 3; ++i) {
            ImFontConfig config;
#if IMGUI_VERSION_NUM < 19200
            config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
            Loaded& slot = fonts_[face * 3 + i];
            slot.pixels = std::round(kSizes[i] * scale * ratio);
            slot.font = file.empty()
                            ? nullptr
                            : atlas->AddFontFromFileTTF(
                                  file.c_str(), slot.pixels, &config,
                                  static_cast<Face>(face) == Face::sans ? all_but_double_bar() : kRanges);
            if (!slot.font) {
                config.SizePixels = slot.pixels;
                slot.font = atlas->AddFontDefault(&config);
            }
            if (static_cast<Face>(face) == Face::sans) merge_double_bar(*atlas, config, kSizes[i] * scale);
        }
    }
}

}  // namespace headlight
