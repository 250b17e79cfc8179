// Owns objects of Cairo and Pango, released at the end of their scope.
#pragma once

#include <cairo.h>
#include <pango/pangocairo.h>

#include <memory>

namespace headlight {

struct Unref {
    void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
    void operator()(cairo_t* c) const { cairo_destroy(c); }
    void operator()(cairo_pattern_t* p) const { cairo_pattern_destroy(p); }
    void operator()(PangoLayout* l) const { g_object_unref(l); }
    void operator()(PangoFontDescription* d) const { pango_font_description_free(d); }
};
template <class T>
using Owned = std::unique_ptr<T, Unref>;

}  // namespace headlight
