// Draws shapes and text with Cairo and Pango.
#include "figure/canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "base/quoted.h"
#include "figure/cairo_owned.h"
#include "figure/text_pieces.h"

namespace headlight {

namespace {

/// Names the family that replaces both faces (FontScope); empty: none does.
thread_local std::string font_family;

/// Separates the strokes of ‖, which Inter, unlike the other face, draws so close that they merge.
void part_double_bars(PangoLayout* layout, const std::string& text) {
    static const std::string kDoubleBar = "‖";
    PangoAttrList* parts = nullptr;
    for (size_t at = text.find(kDoubleBar); at != std::string::npos; at = text.find(kDoubleBar, at + 1)) {
        PangoAttribute* family = pango_attr_family_new("JetBrains Mono, monospace");
        family->start_index = narrow<guint>(at);
        family->end_index = narrow<guint>(at + kDoubleBar.size());
        if (!parts) parts = pango_attr_list_new();
        pango_attr_list_insert(parts, family);
    }
    if (!parts) return;
    pango_layout_set_attributes(layout, parts);
    pango_attr_list_unref(parts);
}

/// Draws each character of a token by itself: the face would join those of "<|im_start|>" to triangles.
void part_ligatures(PangoLayout* layout) {
    PangoAttrList* parts = pango_attr_list_new();
    pango_attr_list_insert(parts, pango_attr_font_features_new("liga=0, calt=0"));
    pango_layout_set_attributes(layout, parts);
    pango_attr_list_unref(parts);
}

Owned<PangoLayout> make_layout(cairo_t* cairo, const std::string& text, double size, Face face) {
    Owned<PangoLayout> layout(pango_cairo_create_layout(cairo));
    const Owned<PangoFontDescription> font(font_description(face, size));
    pango_layout_set_font_description(layout.get(), font.get());
    pango_layout_set_single_paragraph_mode(layout.get(), true);
    pango_layout_set_text(layout.get(), text.data(), isize(text));
    if (face == Face::sans && font_family.empty())
        part_double_bars(layout.get(), text);
    else if (face == Face::mono)
        part_ligatures(layout.get());
    return layout;
}

}  // namespace

PangoFontDescription* font_description(Face face, double size_px) {
    PangoFontDescription* font = pango_font_description_from_string(
        face == Face::sans ? "Inter Medium, sans-serif" : "JetBrains Mono, monospace");
    if (!font_family.empty()) {
        pango_font_description_set_family(font, (font_family + ", sans-serif").c_str());
        pango_font_description_set_weight(font, PANGO_WEIGHT_NORMAL);
    }
    pango_font_description_set_absolute_size(font, size_px * PANGO_SCALE);
    return font;
}

FontScope::FontScope(std::string family) : before_(std::exchange(font_family, std::move(family))) {}
FontScope::~FontScope() { font_family = std::move(before_); }

Status check_font(const std::string& family) {
    const auto is_wanted = [&](const char* name) { return g_ascii_strcasecmp(name, family.c_str()) == 0; };
    constexpr const char* kGeneric[] = {"", "serif", "sans-serif", "monospace"};
    if (std::any_of(std::begin(kGeneric), std::end(kGeneric), is_wanted)) return success();
    PangoFontFamily** families = nullptr;
    int count = 0;
    pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &count);
    const bool found = std::any_of(families, families + count, [&](PangoFontFamily* known) {
        return is_wanted(pango_font_family_get_name(known));
    });
    g_free(families);
    if (found) return success();
    return Error{"The font " + in_quotes(family) +
                 " is not installed; install it, or choose a family that 'fc-list : family' lists, or serif, "
                 "sans-serif or monospace."};
}

void Canvas::set_color(Rgb c) const { cairo_set_source_rgb(cairo_, c.r / 255.0, c.g / 255.0, c.b / 255.0); }

void Canvas::fill_rect(double x, double y, double width, double height, Rgb color) const {
    set_color(color);
    cairo_rectangle(cairo_, x, y, width, height);
    cairo_fill(cairo_);
}

void Canvas::stroke_rect(double x, double y, double width, double height, Rgb color, double line) const {
    set_color(color);
    cairo_set_line_width(cairo_, line);
    cairo_rectangle(cairo_, x, y, width, height);
    cairo_stroke(cairo_);
}

void Canvas::line(double x0, double y0, double x1, double y1, Rgb color, double width) const {
    set_color(color);
    cairo_set_line_width(cairo_, width);
    cairo_move_to(cairo_, x0, y0);
    cairo_line_to(cairo_, x1, y1);
    cairo_stroke(cairo_);
}

void Canvas::hatch(double x, double y, double width, double height, Rgb color) const {
    constexpr double period = 6;
    cairo_save(cairo_);
    cairo_rectangle(cairo_, x, y, width, height);
    cairo_clip(cairo_);
    set_color(color);
    cairo_set_line_width(cairo_, 0.7);
    for (double sum = std::floor((x + y) / period) * period; sum <= x + y + width + height; sum += period) {
        cairo_move_to(cairo_, sum - y, y);
        cairo_line_to(cairo_, sum - y - height, y + height);
    }
    cairo_stroke(cairo_);
    cairo_restore(cairo_);
}

double Canvas::text(double x, double y, const std::string& text, double size, Face face, Rgb color,
                    Align align, double angle) const {
    const auto layout = make_layout(cairo_, text, size, face);
    PangoRectangle box;
    pango_layout_get_extents(layout.get(), nullptr, &box);
    const double width = box.width / double(PANGO_SCALE), height = box.height / double(PANGO_SCALE);
    const double shift = align == Align::left ? 0 : align == Align::center ? width / 2 : width;
    cairo_save(cairo_);
    set_color(color);
    cairo_translate(cairo_, x, y);
    cairo_rotate(cairo_, angle);
    cairo_move_to(cairo_, -shift, -height / 2);
    pango_cairo_show_layout(cairo_, layout.get());
    cairo_restore(cairo_);
    return width;
}

namespace {

Owned<PangoLayout> measured_layout(const std::string& text, double size, Face face) {
    static thread_local const Owned<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
    static thread_local const Owned<cairo_t> cairo(cairo_create(surface.get()));
    return make_layout(cairo.get(), text, size, face);
}

}  // namespace

double text_width(const std::string& text, double size, Face face) {
    PangoRectangle box;
    pango_layout_get_extents(measured_layout(text, size, face).get(), nullptr, &box);
    return box.width / double(PANGO_SCALE);
}

std::vector<TextPiece> text_pieces(const std::string& text, double size, Face face) {
    std::vector<TextPiece> out;
    if (text.empty()) return out;
    const auto layout = measured_layout(text, size, face);
    PangoLayoutIter* at = pango_layout_get_iter(layout.get());
    do {
        PangoRectangle box;
        pango_layout_iter_get_cluster_extents(at, nullptr, &box);
        const size_t begin = pango_layout_iter_get_index(at);
        const PangoLayoutRun* run = pango_layout_iter_get_run_readonly(at);
        if (begin < text.size())
            out.push_back({begin, text.size(), box.width / double(PANGO_SCALE), box.x / double(PANGO_SCALE),
                           run && run->item->analysis.level % 2 == 1});
    } while (pango_layout_iter_next_cluster(at));
    pango_layout_iter_free(at);
    std::sort(out.begin(), out.end(),
              [](const TextPiece& a, const TextPiece& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < out.size(); ++i) out[i - 1].end = out[i].begin;
    return out;
}

}  // namespace headlight
