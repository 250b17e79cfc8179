// Provides a page to draw on: Cairo for shapes, Pango for text in any script; PNG, SVG or PDF.
#pragma once

#include <cairo.h>
#include <pango/pangocairo.h>

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "figure/colormap.h"
#include "io/image.h"
#include "io/png.h"

namespace headlight {

enum class Face { sans, mono };
enum class Align { left, center, right };

/// All lengths are CSS pixels (1/96 inch).
class Canvas {
public:
    explicit Canvas(cairo_t* cairo) : cairo_(cairo) {}

    cairo_t* cairo() const { return cairo_; }
    void set_color(Rgb color) const;
    void fill_rect(double x, double y, double width, double height, Rgb color) const;
    void stroke_rect(double x, double y, double width, double height, Rgb color, double line) const;
    void line(double x0, double y0, double x1, double y1, Rgb color, double width) const;
    /// Fills a rectangle with 45° lines, period 6, width 1.
    void hatch(double x, double y, double width, double height, Rgb color) const;
    /// Draws a line of text centered on y; `angle` (radians) rotates it about (x, y). Returns its width.
    double text(double x, double y, const std::string& text, double size, Face face, Rgb color,
                Align align = Align::left, double angle = 0) const;

private:
    cairo_t* cairo_;
};

double text_width(const std::string& text, double size, Face face);

/// Returns a Pango description of one of the two faces, with fallbacks for computers that lack them.
PangoFontDescription* font_description(Face face, double size_px);

/// While it lives, all text of this thread is measured and drawn in one family; "": in the two faces.
class FontScope {
public:
    explicit FontScope(std::string family);
    ~FontScope();
    FontScope(const FontScope&) = delete;
    FontScope& operator=(const FontScope&) = delete;

private:
    std::string before_;
};
/// Fails where this computer has no such family.
Status check_font(const std::string& family);

struct Page {
    double width = 0, height = 0;  // CSS pixels
    double dpi = 96;               // pixels per inch of a PNG
};

/// Holds a page and its content, drawn when it is written.
struct Drawing {
    Page page;
    std::function<void(Canvas&)> draw;
    double cell = 0;  // side of a cell in CSS pixels, if there are cells
};

class OutputFile;
/// Write a drawing in one format; `name`: of the file, for messages.
Status draw_png(OutputFile& out, const Drawing& drawing, const std::string& name);
Status draw_svg(OutputFile& out, const Drawing& drawing, const std::string& name);
Status draw_pdf(OutputFile& out, const Drawing& drawing, const std::string& name);
/// Writes drawings as the pages of one PDF.
Status write_pdf(const std::filesystem::path& path, std::span<const Drawing> pages);
/// Makes a drawing whose text is in one family, now and whenever it is drawn.
Result<Drawing> in_font(const std::string& family, const std::function<Result<Drawing>()>& make);

/// Fails where it would not fit into memory, or into the formats.
Status check_page_size(const Drawing& drawing);

/// Draws to the pixels of a PNG file, with or without alpha.
Result<PngPixels> draw_pixels(const Drawing& drawing, bool alpha);

/// Draws to pixels that fit into a box, on white where the page is transparent.
Result<RgbImage> draw_image(const Drawing& drawing, int most_width, int most_height);

Result<std::string> svg_text(const Drawing& drawing);

}  // namespace headlight
