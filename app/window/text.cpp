#include "window/text.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include <imgui_freetype.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/utf8.h"

namespace headlight {

namespace {

constexpr float kSizes[] = {13, 15, 20};
constexpr size_t kMaxPictures = 2000;
const ImWchar kRanges[] = {0x20, 0x17F, 0x2010, 0x2027, 0x2030, 0x203A, 0x2190, 0x2193, 0x21B5, 0x21B5, 0x2212, 0x2212,
                           0x221A, 0x221A, 0x2016, 0x2016, 0x394, 0x394, 0x2225, 0x2225, 0};

/// (ascent + descent) / em: Dear ImGui sizes fonts by the first, designers by the second.
float line_to_em(const std::string& file) {
    FT_Library library = nullptr;
    FT_Face face = nullptr;
    float ratio = 1.2f;
    if (FT_Init_FreeType(&library) == 0 && FT_New_Face(library, file.c_str(), 0, &face) == 0 && face->units_per_EM > 0)
        ratio = static_cast<float>(face->ascender - face->descender) / static_cast<float>(face->units_per_EM);
    if (face) FT_Done_Face(face);
    if (library) FT_Done_FreeType(library);
    return ratio;
}

}  // namespace

std::string font_file(Face face) {
    FcPattern* wanted = FcNameParse(reinterpret_cast<const FcChar8*>(face == Face::sans ? "Inter:medium:slant=0" : "JetBrains Mono:regular:slant=0"));
    FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result;
    FcPattern* match = FcFontMatch(nullptr, wanted, &result);
    FcChar8* file = nullptr;
    std::string out;
    if (match && FcPatternGetString(match, FC_FILE, 0, &file) == FcResultMatch) out = reinterpret_cast<const char*>(file);
    if (match) FcPatternDestroy(match);
    FcPatternDestroy(wanted);
    return out;
}

bool in_atlas(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += static_cast<size_t>(c.length);
        bool found = false;
        for (const ImWchar* r = kRanges; *r && !found; r += 2) found = c.value >= r[0] && c.value <= r[1];
        if (!found) return false;
    }
    return true;
}

void TextPainter::load(float scale) {
    scale_ = scale;
    pictures_.clear();
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
            slot.font = file.empty() ? nullptr : atlas->AddFontFromFileTTF(file.c_str(), slot.pixels, &config, kRanges);
            if (!slot.font) {
                config.SizePixels = slot.pixels;
                slot.font = atlas->AddFontDefault(&config);
            }
        }
    }
}

const TextPainter::Loaded& TextPainter::loaded(Font font) const {
    const size_t size = font.points <= 13 ? 0 : font.points <= 15 ? 1 : 2;
    return fonts_[static_cast<size_t>(font.face) * 3 + size];
}

const TextPainter::Picture& TextPainter::picture(Font font, std::string_view text) {
    const std::string key = std::to_string(static_cast<int>(font.face)) + ":" + std::to_string(font.points) + ":" + std::string(text);
    if (const auto it = pictures_.find(key); it != pictures_.end()) return it->second;
    if (pictures_.size() > kMaxPictures) pictures_.clear();
    const std::string line = shorten_middle(text, 400);
    const double size = font.points * scale_;
    const int width = std::min(8192, static_cast<int>(std::ceil(text_width(line, size, font.face))) + 2), height = static_cast<int>(std::ceil(size * 1.6));
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height), cairo_surface_destroy);
    {
        const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()), cairo_destroy);
        Canvas(cairo.get()).text(1, height / 2.0, line, size, font.face, {255, 255, 255});
    }
    cairo_surface_flush(surface.get());
    const unsigned char* pixels = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    bool colored = false;
    for (int y = 0; y < height && !colored; ++y)
        for (int x = 0; x < width && !colored; ++x) {
            const unsigned char* p = pixels + y * stride + x * 4;
            colored = std::abs(p[0] - p[3]) > 8 || std::abs(p[1] - p[3]) > 8 || std::abs(p[2] - p[3]) > 8;
        }
    Picture made{Texture::of_argb(width, height, stride, pixels), static_cast<float>(width), static_cast<float>(height), colored};
    return pictures_.emplace(key, std::move(made)).first->second;
}

float TextPainter::width(Font font, std::string_view text) {
    if (page_) return static_cast<float>(text_width(std::string(text), font.points, font.face));
    if (!in_atlas(text)) return picture(font, text).width;
    const Loaded& f = loaded(font);
    return f.font->CalcTextSizeA(f.pixels, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

float TextPainter::draw(float x, float y, Font font, ImU32 color, std::string_view text, float angle) {
    if (page_) {
        const auto channel = [&](int shift) { return static_cast<uint8_t>((color >> shift) & 255); };
        return static_cast<float>(page_->text(x, y, std::string(text), font.points, font.face, {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT)}, Align::left, angle));
    }
    const int first = list_->VtxBuffer.Size;
    float width;
    if (in_atlas(text)) {
        const Loaded& f = loaded(font);
        width = f.font->CalcTextSizeA(f.pixels, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
        list_->AddText(f.font, f.pixels, {std::round(x), std::round(y - f.pixels / 2)}, color, text.data(), text.data() + text.size());
    } else {
        const Picture& p = picture(font, text);
        width = p.width;
        const ImVec2 at{std::round(x), std::round(y - p.height / 2)};
        const ImU32 tint = p.colored ? (color | IM_COL32(255, 255, 255, 0)) : color;
        list_->AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(p.texture.id())), at, {at.x + p.width, at.y + p.height}, {0, 0}, {1, 1}, tint);
    }
    if (angle != 0)
        for (int i = first; i < list_->VtxBuffer.Size; ++i) {
            ImVec2& v = list_->VtxBuffer[i].pos;
            const float dx = v.x - x, dy = v.y - y;
            v = {x + dx * std::cos(angle) - dy * std::sin(angle), y + dx * std::sin(angle) + dy * std::cos(angle)};
        }
    return width;
}

float TextPainter::draw_right(float x, float y, Font font, ImU32 color, std::string_view text) { return draw(x - width(font, text), y, font, color, text); }
float TextPainter::draw_centred(float x, float y, Font font, ImU32 color, std::string_view text) { return draw(x - width(font, text) / 2, y, font, color, text); }

float TextPainter::draw_wrapped(float x, float y, float wrap, Font font, ImU32 color, const std::string& text) {
    const float line_height = std::round((font.points >= 20 ? 24 : font.points + 6) * scale_);
    float top = y;
    for (size_t at = 0; at < text.size();) {
        size_t end = at, good = at;
        while (end < text.size()) {
            size_t next = text.find(' ', end + 1);
            if (next == std::string::npos) next = text.size();
            if (good > at && width(font, std::string_view(text).substr(at, next - at)) > wrap) break;
            good = end = next;
        }
        std::string line = text.substr(at, good - at);
        if (width(font, line) > wrap) {  // one word that is too long, a path: break inside it
            while (line.size() > 1 && width(font, line) > wrap) {
                line.pop_back();
                while (!line.empty() && (static_cast<unsigned char>(text[at + line.size()]) & 0xC0) == 0x80) line.pop_back();
            }
            good = at + line.size();
        }
        draw(x, top + line_height / 2, font, color, line);
        top += line_height;
        at = good;
        while (at < text.size() && text[at] == ' ') ++at;
    }
    return top - y;
}

std::string TextPainter::fitted(Font font, const std::string& text, float room) {
    if (width(font, text) <= room) return text;
    std::string cut = text;
    while (!cut.empty()) {
        do cut.pop_back();
        while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80);
        if (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0xC0) cut.pop_back();
        if (is_valid_utf8(cut) && width(font, cut + "…") <= room) break;
    }
    return cut + "…";
}

}  // namespace headlight
