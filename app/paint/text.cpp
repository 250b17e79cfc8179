#include "paint/text.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "figure/text_pieces.h"

namespace headlight {

namespace {

constexpr size_t kPictureBytes = 64 << 20,
                 kWidthBytes = 4 << 20;  // a screen of 4K shows a quarter of this at most
constexpr size_t kMaxMeasured = 16'000;  // bytes of a line that is cut: no screen shows more
constexpr size_t kMaxDrawn = 400;        // code points of a piece; a longer one keeps both ends

/// Whether a font of the atlas has every character: a character in its ranges may be missing in the face.
bool holds(const ImFont& font, std::string_view text) {
    constexpr uint32_t kInEveryFace = 0x180;
    if (!in_atlas(text)) return false;
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += c.length;
        if (c.value >= kInEveryFace && !font.FindGlyphNoFallback(static_cast<ImWchar>(c.value))) return false;
    }
    return true;
}

}  // namespace

const TextPainter::Loaded& TextPainter::loaded(Font font) const {
    const size_t size = font.points <= 13 ? 0 : font.points <= 15 ? 1 : 2;
    return fonts_[static_cast<size_t>(font.face) * 3 + size];
}

void TextPainter::begin_frame() {
    drawn_.clear();
    shortened_.clear();
    pictures_.trim(kPictureBytes);
    widths_.trim(kWidthBytes);
}

namespace {

Rgb opaque(ImU32 color) {
    const auto channel = [&](int shift) { return static_cast<uint8_t>((color >> shift) & 255); };
    return {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT)};
}

std::string cache_name(Font font, std::string_view text) {
    std::string out = std::to_string(static_cast<int>(font.face)) + ":" + std::to_string(font.points) + ":";
    return out.append(text);
}

bool is_colored(const unsigned char* pixels, int width, int height, int stride) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const unsigned char* p = pixels + y * stride + x * 4;
            if (std::abs(p[0] - p[3]) > 8 || std::abs(p[1] - p[3]) > 8 || std::abs(p[2] - p[3]) > 8)
                return true;
        }
    return false;
}

}  // namespace

/// Draws white, to be tinted. Beside colored glyphs, which must not be tinted, others get their ink.
const TextPainter::Picture& TextPainter::picture(Font font, std::string_view text, ImU32 color) {
    const Picture& white = picture_in(font, text, {255, 255, 255});
    return white.colored ? picture_in(font, text, opaque(color)) : white;
}

const TextPainter::Picture& TextPainter::picture_in(Font font, std::string_view text, Rgb ink) {
    std::string name = cache_name(font, text) + '\0' + char(ink.r) + char(ink.g) + char(ink.b);
    if (const Picture* known = pictures_.find(name)) return *known;
    const double size = font.points * scale_;
    const int width = int(measure(font, text).pixels), height = int(std::ceil(size * 1.6));
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height), cairo_surface_destroy);
    {
        const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()), cairo_destroy);
        Canvas(cairo.get()).text(1, height / 2.0, shorten_middle(text, kMaxDrawn), size, font.face, ink);
    }
    cairo_surface_flush(surface.get());
    const unsigned char* pixels = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    Picture made{Texture::of_argb(width, height, stride, pixels), float(width), float(height),
                 is_colored(pixels, width, height, stride)};
    return pictures_.add(std::move(name), std::move(made), size_t{4} * width * height);
}

float TextPainter::width_on_page(Font font, std::string_view text) {
    std::string name = cache_name(font, text);
    if (const float* known = widths_.find(name)) return *known;
    const size_t cost = name.size() + 64;
    const auto width = float(text_width(std::string(text), font.points, font.face));
    return widths_.add(std::move(name), width, cost);
}

/// Measures without drawing: undrawn text needs no picture. Most is ASCII, which every font of the atlas has.
TextPainter::Measured TextPainter::measure(Font font, std::string_view text) {
    if (page_) return {width_on_page(font, text), false};
    const Loaded& f = loaded(font);
    const float scale = f.pixels / f.font->FontSize;
    const auto is_plain = [](char c) { return static_cast<unsigned char>(c - 0x20) < 0x60; };
    float pixels = 0;
    size_t plain = 0;
    for (; plain < text.size() && is_plain(text[plain]); ++plain)
        pixels += f.font->GetCharAdvance(static_cast<ImWchar>(text[plain])) * scale;
    if (plain == text.size()) return {pixels, true};
    if (holds(*f.font, text))
        return {f.font->CalcTextSizeA(f.pixels, FLT_MAX, 0, text.data(), text.data() + text.size()).x, true};
    std::string name = cache_name(font, text);
    if (const float* known = widths_.find(name)) return {*known, false};
    const double wide =
        std::ceil(text_width(shorten_middle(text, kMaxDrawn), font.points * scale_, font.face)) + 2;
    const size_t cost = name.size() + 64;
    return {widths_.add(std::move(name), float(std::min(wide, 8192.0)), cost), false};
}

/// Line break positions and the width of each part, from one layout.
std::vector<TextPiece> TextPainter::pieces(Font font, const std::string& text) const {
    if (page_ || !holds(*loaded(font).font, text))
        return text_pieces(text, page_ ? font.points : font.points * scale_, font.face);
    const Loaded& f = loaded(font);
    std::vector<TextPiece> out;
    double x = 0;
    for (size_t at = 0; at < text.size(); at = out.back().end) {
        const CodePoint c = decode_utf8(text, at);
        const double wide =
            f.font->GetCharAdvance(static_cast<ImWchar>(c.value)) * f.pixels / f.font->FontSize;
        out.push_back({at, at + c.length, wide, x});
        x += wide;
    }
    return out;
}

std::vector<std::pair<float, float>> TextPainter::parts(Font font, const std::string& text,
                                                        const std::vector<size_t>& ends) const {
    const float scale = page_ ? 1 : scale_;
    std::vector<std::pair<float, float>> out(ends.size(), {FLT_MAX, -FLT_MAX});
    for (const TextPiece& p : pieces(font, text)) {
        const auto bytes = double(p.end - p.begin);
        for (size_t i = 0; i < ends.size(); ++i) {
            const size_t begin = std::max(p.begin, i ? ends[i - 1] : 0), end = std::min(p.end, ends[i]);
            if (begin >= end) continue;
            double from = double(begin - p.begin) / bytes, to = double(end - p.begin) / bytes;
            if (p.leftward) from = 1 - std::exchange(to, 1 - from);
            out[i].first = std::min(out[i].first, float(p.x + from * p.width) / scale);
            out[i].second = std::max(out[i].second, float(p.x + to * p.width) / scale);
        }
    }
    return out;
}

/// Whether a line of text at this height is above or below the clip rectangle.
bool TextPainter::is_out_of_sight(Font font, float middle) const {
    const float reach = font.points * scale_;
    return middle + reach < list_->GetClipRectMin().y || middle - reach > list_->GetClipRectMax().y;
}

float TextPainter::draw(float x, float y, Font font, ImU32 color, std::string_view text, float angle) {
    return draw(x, y, font, color, text, page_ ? Measured() : measure(font, text), angle);
}

float TextPainter::draw(float x, float y, Font font, ImU32 color, std::string_view text,
                        const Measured& measured, float angle) {
    if (page_ && without_ink) return width_on_page(font, text);
    if (page_) {
        return float(
            page_->text(x, y, std::string(text), font.points, font.face, opaque(color), Align::left, angle));
    }
    const int first = list_->VtxBuffer.Size;
    x *= scale_;
    y *= scale_;
    if (angle == 0 && is_out_of_sight(font, y)) return points(measured);
    if (notes_) note({x, y}, font, text, measured, angle);
    float width = measured.pixels;
    if (measured.in_atlas) {
        const Loaded& f = loaded(font);
        list_->AddText(f.font, f.pixels, {std::round(x), std::round(y - f.pixels / 2)}, color, text.data(),
                       text.data() + text.size());
    } else {
        const Picture& p = picture(font, text, color);
        width = p.width;
        const ImVec2 at{std::round(x), std::round(y - p.height / 2)};
        const ImU32 tint = p.colored ? (color | IM_COL32(255, 255, 255, 0)) : color;
        list_->AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(p.texture.id())), at,
                        {at.x + p.width, at.y + p.height}, {0, 0}, {1, 1}, tint);
    }
    if (angle != 0)
        for (int i = first; i < list_->VtxBuffer.Size; ++i) {
            ImVec2& v = list_->VtxBuffer[i].pos;
            const float dx = v.x - x, dy = v.y - y;
            v = {x + dx * std::cos(angle) - dy * std::sin(angle),
                 y + dx * std::sin(angle) + dy * std::cos(angle)};
        }
    return width / scale_;
}

float TextPainter::draw_right(float x, float y, Font font, ImU32 color, std::string_view text) {
    const Measured m = measure(font, text);
    return draw(x - points(m), y, font, color, text, m);
}
float TextPainter::draw_centered(float x, float y, Font font, ImU32 color, std::string_view text) {
    const Measured m = measure(font, text);
    return draw(x - points(m) / 2, y, font, color, text, m);
}

float TextPainter::line_height(Font font) const {
    return std::round((font.points >= 20 ? 24 : font.points + 6) * scale_) / scale_;
}

float TextPainter::wrapped_height(float wrap, Font font, const std::string& text) const {
    return line_height(font) * float(broken_lines(text, pieces(font, text), wrap * scale_).size());
}

float TextPainter::draw_wrapped(float x, float y, float wrap, Font font, ImU32 color,
                                const std::string& text) {
    const float line_height = this->line_height(font);
    float top = y;
    for (const std::string& line : broken_lines(text, pieces(font, text), wrap * scale_)) {
        draw(x, top + line_height / 2, font, color, line);
        top += line_height;
    }
    return top - y;
}

std::string TextPainter::fitted(Font font, const std::string& text, float room) {
    if (width(font, text) <= room) return text;
    if (width(font, "…") > room) return "";
    std::string begin = text.substr(0, kMaxMeasured);
    while (!is_valid_utf8(begin)) begin.pop_back();
    float x = measure(font, "…").pixels + (page_ || holds(*loaded(font).font, text)
                                               ? 0
                                               : 3);  // a picture is up to three pixels wider than its pieces
    size_t end = 0;
    for (const TextPiece& piece : pieces(font, begin)) {
        x += float(piece.width);
        if (x > room * scale_) break;
        end = piece.end;
    }
    std::string out = text.substr(0, end) + "…";
    if (notes_) shortened_.insert(out);
    return out;
}

std::vector<std::string> broken_lines(const std::string& text, const std::vector<TextPiece>& pieces,
                                      double wrap) {
    std::vector<std::string> out;
    const size_t n = pieces.size();
    const auto is_blank = [&](size_t i) { return text[pieces[i].begin] == ' '; };
    for (size_t line = 0; line < n;) {
        double x = 0;
        size_t end = line, blank = line;
        for (; end < n && (x + pieces[end].width <= wrap || end == line || is_blank(end)); ++end) {
            x += pieces[end].width;
            if (is_blank(end)) blank = end;
        }
        if (end < n && blank > line) end = blank;  // within a word only if it is too wide by itself
        out.push_back(text.substr(pieces[line].begin, pieces[end - 1].end - pieces[line].begin));
        for (line = end; line < n && is_blank(line);) ++line;
    }
    return out;
}

}  // namespace headlight
