// Writes drawings as PNG, SVG, PDF, and pixels.
#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "base/cast.h"
#include "figure/cairo_owned.h"
#include "figure/canvas.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr double kPointsPerPixel = 0.75;
constexpr double kMaxPixels = 2e8;  // 800 MB while drawing

cairo_status_t write_bytes(void* out, const unsigned char* data, unsigned length) {
    static_cast<OutputFile*>(out)->write(data, length);
    return CAIRO_STATUS_SUCCESS;
}

cairo_status_t append_bytes(void* text, const unsigned char* data, unsigned int size) {
    static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
}

/// Returns the end of an SVG name that begins at `at`.
size_t name_end(std::string_view svg, size_t at) {
    while (at < svg.size() && (std::isalnum(as_byte(svg[at])) || svg[at] == '-' || svg[at] == '_')) ++at;
    return at;
}

/// Renumbers the parts of a file from 0. Cairo numbers them through the whole life of a process; without
/// this, the same picture would differ depending on what was drawn before.
std::string with_own_numbers(std::string_view svg) {
    constexpr std::string_view kId = "id=\"";
    std::map<std::string_view, std::string> names;
    for (size_t at = svg.find(kId); at != std::string_view::npos; at = svg.find(kId, at + 1)) {
        const size_t begin = at + kId.size();
        names.emplace(svg.substr(begin, name_end(svg, begin) - begin), "i" + std::to_string(names.size()));
    }
    std::string out;
    for (size_t at = 0; at < svg.size();) {
        const bool id = svg.substr(at, kId.size()) == kId, reference = svg[at] == '#';
        out += svg[at];
        if (!id && !reference) {
            ++at;
            continue;
        }
        if (id) out.append(kId.substr(1));
        const size_t begin = at + (id ? kId.size() : 1), end = name_end(svg, begin);
        const auto name = names.find(svg.substr(begin, end - begin));
        out += name == names.end() ? std::string(svg.substr(begin, end - begin)) : name->second;
        at = end;
    }
    return out;
}

/// Draws on a surface whose unit is `scale` CSS pixels and finishes it; an error names what cannot be drawn.
Status draw_on(cairo_surface_t* surface, const Drawing& drawing, double scale, const std::string& name) {
    {
        const Owned<cairo_t> cairo(cairo_create(surface));
        cairo_scale(cairo.get(), scale, scale);
        Canvas canvas(cairo.get());
        drawing.draw(canvas);
    }
    const auto status = cairo_surface_status(surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return Error{name + " could not be drawn (" + cairo_status_to_string(status) +
                     "); choose a smaller size."};
    return success();
}

/// Converts to PNG's pixels: not premultiplied by alpha; without alpha if all are opaque.
PngPixels pixels_of(cairo_surface_t* surface, double dpi, std::optional<bool> with_alpha = std::nullopt) {
    cairo_surface_flush(surface);
    const int width = cairo_image_surface_get_width(surface),
              height = cairo_image_surface_get_height(surface),
              stride = cairo_image_surface_get_stride(surface);
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const auto row = [&](int y) { return reinterpret_cast<const uint32_t*>(data + y * stride); };
    PngPixels out{static_cast<uint32_t>(width), static_cast<uint32_t>(height), false, {}, dpi};
    if (with_alpha) out.alpha = *with_alpha;
    for (int y = 0; !with_alpha && y < height && !out.alpha; ++y)
        out.alpha = std::any_of(row(y), row(y) + width, [](uint32_t pixel) { return pixel >> 24 != 255; });
    out.bytes.resize((out.alpha ? size_t{4} : size_t{3}) * width * height);
    uint8_t* at = out.bytes.data();
    for (int y = 0; y < height; ++y)
        for (const uint32_t* pixel = row(y); pixel < row(y) + width; ++pixel) {
            const uint32_t alpha = *pixel >> 24;
            for (const int shift : {16, 8, 0}) {
                const uint32_t value = *pixel >> shift & 255;
                *at++ =
                    static_cast<uint8_t>(alpha == 0     ? 0
                                         : alpha == 255 ? value
                                                        : std::min(255u, (value * 255 + alpha / 2) / alpha));
            }
            if (out.alpha) *at++ = static_cast<uint8_t>(alpha);
        }
    return out;
}

Result<PngPixels> draw_at_size(const Drawing& drawing, const std::string& name,
                               std::optional<bool> alpha = std::nullopt) {
    const double zoom = drawing.page.dpi / 96;
    const Owned<cairo_surface_t> surface(cairo_image_surface_create(
        CAIRO_FORMAT_ARGB32, round_int(drawing.page.width * zoom), round_int(drawing.page.height * zoom)));
    TRY_STATUS(draw_on(surface.get(), drawing, zoom, name));
    return pixels_of(surface.get(), drawing.page.dpi, alpha);
}

/// Draws pages of a PDF, each of its own size.
Status draw_pages(OutputFile& out, std::span<const Drawing> pages, const std::string& name) {
    const auto points = [](double pixels) { return pixels * kPointsPerPixel; };
    const Owned<cairo_surface_t> surface(cairo_pdf_surface_create_for_stream(
        write_bytes, &out, points(pages[0].page.width), points(pages[0].page.height)));
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                   "2000-01-01T00:00:00Z");  // same bytes on every run
    for (const Drawing& page : pages) {
        cairo_pdf_surface_set_size(surface.get(), points(page.page.width), points(page.page.height));
        TRY_STATUS(draw_on(surface.get(), page, kPointsPerPixel, name));
        cairo_surface_show_page(surface.get());
    }
    cairo_surface_finish(surface.get());
    return success();
}

}  // namespace

Result<Drawing> in_font(const std::string& family, const std::function<Result<Drawing>()>& make) {
    if (family.empty()) return make();
    TRY_STATUS(check_font(family));
    const FontScope scope(family);
    TRY(Drawing out, make());
    out.draw = [family, draw = std::move(out.draw)](Canvas& canvas) {
        const FontScope drawn_in(family);
        draw(canvas);
    };
    return out;
}

Status check_page_size(const Drawing& drawing) {
    const double zoom = drawing.page.dpi / 96, width = drawing.page.width * zoom,
                 height = drawing.page.height * zoom;
    if (width <= 30000 && height <= 30000 && width * height <= kMaxPixels) return success();
    return Error{"A figure of " + std::to_string(static_cast<long>(width)) + " × " +
                 std::to_string(static_cast<long>(height)) +
                 " pixels is too large; lower --dpi or the size."};
}

Status draw_png(OutputFile& out, const Drawing& drawing, const std::string& name) {
    TRY(const PngPixels pixels, draw_at_size(drawing, name));
    return encode_png(pixels, [&out](const void* data, size_t size) { out.write(data, size); });
}

Status draw_pdf(OutputFile& out, const Drawing& drawing, const std::string& name) {
    return draw_pages(out, {&drawing, 1}, name);
}

Status write_pdf(const std::filesystem::path& path, std::span<const Drawing> pages) {
    HEADLIGHT_CHECK(!pages.empty());
    TRY(const auto out, OutputFile::create(path));
    TRY_STATUS(draw_pages(*out, pages, display_path(path)));
    return out->commit();
}

Status draw_svg(OutputFile& out, const Drawing& drawing, const std::string&) {
    TRY(const std::string text, svg_text(drawing));
    out.write(text);
    return success();
}

Result<PngPixels> draw_pixels(const Drawing& drawing, bool alpha) {
    TRY_STATUS(check_page_size(drawing));
    return draw_at_size(drawing, "The figure", alpha);
}

Result<RgbImage> draw_image(const Drawing& drawing, int most_width, int most_height) {
    const double zoom = std::min(most_width / std::max(drawing.page.width, 1.0),
                                 most_height / std::max(drawing.page.height, 1.0));
    RgbImage out{
        std::max(1, int(drawing.page.width * zoom)), std::max(1, int(drawing.page.height * zoom)), {}};
    const Owned<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, out.width, out.height));
    {
        const Owned<cairo_t> cairo(cairo_create(surface.get()));
        cairo_set_source_rgb(cairo.get(), 1, 1, 1);
        cairo_paint(cairo.get());
    }
    TRY_STATUS(draw_on(surface.get(), drawing, zoom, "The figure"));
    cairo_surface_flush(surface.get());
    const unsigned char* data = cairo_image_surface_get_data(surface.get());
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x) {
            const uint32_t pixel = reinterpret_cast<const uint32_t*>(
                data + y * cairo_image_surface_get_stride(surface.get()))[x];
            for (const int shift : {16, 8, 0}) out.rgb.push_back(static_cast<uint8_t>(pixel >> shift));
        }
    return out;
}

Result<std::string> svg_text(const Drawing& drawing) {
    std::string svg;
    const Owned<cairo_surface_t> surface(cairo_svg_surface_create_for_stream(
        append_bytes, &svg, drawing.page.width * kPointsPerPixel, drawing.page.height * kPointsPerPixel));
    TRY_STATUS(draw_on(surface.get(), drawing, kPointsPerPixel, "The figure"));
    cairo_surface_finish(surface.get());
    return with_own_numbers(svg);
}

}  // namespace headlight
