// Draws a text field: shapes the text around the caret, maps bytes to positions, fills the texture.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "figure/canvas.h"
#include "paint/text_field.h"

namespace headlight {

namespace {

constexpr float kSize = 20;
constexpr size_t kReach = 4500,
                 kMargin = 3000;  // bytes shaped on either side of the caret; more than fills any screen

struct Unref {
    void operator()(PangoLayout* l) const { g_object_unref(l); }
    void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
    void operator()(cairo_t* c) const { cairo_destroy(c); }
};

bool is_inside_character(const std::string& text, size_t at) {
    return at < text.size() && (as_byte(text[at]) & 0xC0) == 0x80;
}

}  // namespace

bool TextField::covers_caret() const {
    const bool left = shaped_from_ == 0 || caret_ >= shaped_from_ + kMargin,
               right = shaped_to_ == text_.size() || caret_ + kMargin <= shaped_to_;
    return shaped_from_ <= text_.size() && shaped_to_ <= text_.size() &&
           !is_inside_character(text_, shaped_from_) && left && right;
}

/// Where to cut a long text for layout: after a space a little before, else between characters.
size_t TextField::good_cut(size_t at) const {
    for (size_t back = 0; back < 200 && back < at; ++back)
        if (text_[at - back - 1] == ' ') return at - back;
    while (at > 0 && is_inside_character(text_, at)) --at;
    return at;
}

/// Shapes the text, or a section of a long one around the caret, which keeps its position on the screen.
void TextField::layout() {
    if (layout_ && covers_caret()) return;
    const auto end_of = [this](size_t from) {
        return from + 2 * kReach < text_.size() ? good_cut(from + 2 * kReach) : text_.size();
    };
    shaped_to_ = end_of(shaped_from_);
    const bool moved = !covers_caret();
    if (moved) {
        shaped_from_ = caret_ > kReach ? good_cut(caret_ - kReach) : 0;
        shaped_to_ = end_of(shaped_from_);
    }
    PangoContext* context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    layout_ = std::shared_ptr<PangoLayout>(pango_layout_new(context), Unref());
    g_object_unref(context);
    PangoFontDescription* font = font_description(Face::sans, kSize * scale_);
    pango_layout_set_font_description(layout_.get(), font);
    pango_font_description_free(font);
    pango_layout_set_single_paragraph_mode(layout_.get(), true);
    pango_layout_set_text(layout_.get(), text_.data() + shaped_from_, narrow<int>(shaped_to_ - shaped_from_));
    places_.clear();
    if (moved) scroll_ = std::max(0.0f, x_of(caret_) - caret_place_);
    drawn_.clear();
}

float TextField::x_of(size_t index) {
    constexpr size_t kKept = 64;
    layout();
    const size_t at = std::clamp(index, shaped_from_, shaped_to_) - shaped_from_;
    if (const auto known = places_.find(at); known != places_.end()) return known->second;
    if (places_.size() >= kKept) places_.clear();
    PangoRectangle strong;
    pango_layout_get_cursor_pos(layout_.get(), narrow<int>(at), &strong, nullptr);
    return places_[at] = float(strong.x) / PANGO_SCALE;
}

size_t TextField::index_at(float x) {
    layout();
    int index = 0, trailing = 0;
    pango_layout_xy_to_index(layout_.get(), int((x + scroll_) * PANGO_SCALE), 0, &index, &trailing);
    auto at = shaped_from_ + index;
    for (; trailing > 0 && at < shaped_to_; --trailing) at += decode_utf8(text_, at).length;
    return std::min(at, text_.size());
}

void TextField::press(float x, bool extend) {
    focused = true;
    caret_ = index_at(x);
    if (!extend) anchor_ = caret_;
}

void TextField::select_word(float x) {
    const size_t at = index_at(x);
    anchor_ = step(at, -1, true);
    caret_ = step(anchor_, 1, true);
}

void TextField::drag(float x) { caret_ = index_at(x); }

/// Draws the text after the first `read` bytes in pale ink.
void TextField::dim_unread(size_t read, const Theme& theme) {
    PangoAttrList* attributes = pango_attr_list_new();
    if (read < shaped_to_) {
        const ImVec4 ink = as_vec4(theme.t3);
        const auto part = [](float v) { return static_cast<guint16>(v * 65535); };
        PangoAttribute* pale = pango_attr_foreground_new(part(ink.x), part(ink.y), part(ink.z));
        pale->start_index = static_cast<guint>(std::max(read, shaped_from_) - shaped_from_);
        pango_attr_list_insert(attributes, pale);
    }
    pango_layout_set_attributes(layout_.get(), attributes);
    pango_attr_list_unref(attributes);
}

/// Draws the visible part of the text into the texture if it changed.
void TextField::draw_texture(ImVec2 size, const Theme& theme, const char* placeholder, size_t read) {
    const int width = int(size.x), height = int(size.y);
    const bool empty = text_.empty();
    const std::string key = std::to_string(width) + ":" + std::to_string(scroll_) + ":" +
                            std::to_string(theme.dark) + ":" + std::to_string(shaped_from_) + ":" +
                            std::to_string(std::min(read, shaped_to_)) + ":" +
                            (empty ? placeholder : text_.substr(shaped_from_, shaped_to_ - shaped_from_));
    if (key == drawn_) return;
    const std::unique_ptr<cairo_surface_t, Unref> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
    const std::unique_ptr<cairo_t, Unref> cairo(cairo_create(surface.get()));
    const ImVec4 ink = as_vec4(empty ? theme.t3 : theme.t1);
    cairo_set_source_rgb(cairo.get(), ink.x, ink.y, ink.z);
    if (empty) {
        Canvas(cairo.get())
            .text(3 * scale_, height / 2.0, placeholder, kSize * scale_, Face::sans,
                  {static_cast<uint8_t>(ink.x * 255), static_cast<uint8_t>(ink.y * 255),
                   static_cast<uint8_t>(ink.z * 255)});
    } else {
        int pixels_high = 0;
        dim_unread(read, theme);
        pango_layout_get_pixel_size(layout_.get(), nullptr, &pixels_high);
        const int top = (height - pixels_high) / 2;  // whole pixels keep letters sharp
        cairo_move_to(cairo.get(), -scroll_, top);
        pango_cairo_show_layout(cairo.get(), layout_.get());
    }
    cairo_surface_flush(surface.get());
    texture_ = Texture::of_argb(width, height, cairo_image_surface_get_stride(surface.get()),
                                cairo_image_surface_get_data(surface.get()));
    drawn_ = key;
}

/// Fades the text where it continues beyond an end, instead of cutting a letter.
void TextField::fade_ends(ImDrawList& list, ImVec2 at, ImVec2 size, bool goes_on, ImU32 back) const {
    const float wide = std::min(20 * scale_, size.x / 6), bottom = at.y + size.y;
    const ImU32 clear = back & ~IM_COL32_A_MASK;
    if (scroll_ > 0 || shaped_from_ > 0)
        list.AddRectFilledMultiColor(at, {at.x + wide, bottom}, back, clear, clear, back);
    if (goes_on)
        list.AddRectFilledMultiColor({at.x + size.x - wide, at.y}, {at.x + size.x + 3, bottom}, clear, back,
                                     back, clear);
}

void TextField::draw(ImDrawList& list, ImVec2 at, ImVec2 size, float scale, const Theme& theme,
                     const char* placeholder, size_t read) {
    if (scale != scale_) {
        scale_ = scale;
        layout_ = nullptr;
    }
    const float caret_x = x_of(caret_), text_end = x_of(shaped_to_);
    const float margin = std::min(40 * scale, size.x / 4);
    if (caret_x - scroll_ > size.x - 4) scroll_ = caret_x - size.x + margin;
    if (caret_x < scroll_) scroll_ = std::max(0.0f, caret_x - margin);
    if (text_end - scroll_ < size.x - margin)
        scroll_ = std::max(0.0f, std::min(scroll_, text_end - size.x + 4));
    scroll_ = std::round(scroll_);
    caret_place_ = caret_x - scroll_;
    const ImVec2 whole{std::max(1.0f, std::floor(size.x)), std::max(1.0f, std::floor(size.y))};
    draw_texture(whole, theme, placeholder, read);
    list.PushClipRect(at, {at.x + size.x + 3, at.y + size.y}, true);
    if (focused && caret_ != anchor_) {
        const float a = x_of(std::min(caret_, anchor_)) - scroll_,
                    b = x_of(std::max(caret_, anchor_)) - scroll_;
        list.AddRectFilled({at.x + std::min(a, b), at.y + 4 * scale},
                           {at.x + std::max(a, b), at.y + size.y - 4 * scale}, theme.bg4);
    }
    list.AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(texture_.id())), at,
                  {at.x + whole.x, at.y + whole.y});
    fade_ends(list, at, size, text_end - scroll_ > size.x, theme.bg2);
    if (focused) {
        const float x = std::round(at.x + caret_place_);
        list.AddRectFilled({x, at.y + 5 * scale}, {x + std::round(2 * scale), at.y + size.y - 5 * scale},
                           theme.accent);
    }
    list.PopClipRect();
}

}  // namespace headlight
