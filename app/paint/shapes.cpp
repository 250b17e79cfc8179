// Draws the shapes of views, on the screen or on a page.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "figure/color_bar.h"
#include "paint/curve_picture.h"
#include "paint/ribbon.h"
#include "paint/ui.h"

namespace headlight {

namespace {

constexpr float kSignInk = 1.3f;  // relative stroke of crosses and chevrons

void set_color(cairo_t* cairo, ImU32 c) {
    cairo_set_source_rgba(cairo, ((c >> IM_COL32_R_SHIFT) & 255) / 255.0,
                          ((c >> IM_COL32_G_SHIFT) & 255) / 255.0, ((c >> IM_COL32_B_SHIFT) & 255) / 255.0,
                          ((c >> IM_COL32_A_SHIFT) & 255) / 255.0);
}

void fill_path(cairo_t* cairo, ImU32 color) {
    set_color(cairo, color);
    cairo_fill(cairo);
}

void stroke_path(cairo_t* cairo, ImU32 color, float width) {
    set_color(cairo, color);
    cairo_set_line_width(cairo, width);
    cairo_stroke(cairo);
}

void add_rectangle(cairo_t* cairo, float x, float y, float w, float h, float corner) {
    if (corner <= 0) return cairo_rectangle(cairo, x, y, w, h);
    const double r = std::min({double(corner), w / 2.0, h / 2.0});
    cairo_new_sub_path(cairo);
    cairo_arc(cairo, x + w - r, y + r, r, -M_PI_2, 0);
    cairo_arc(cairo, x + w - r, y + h - r, r, 0, M_PI_2);
    cairo_arc(cairo, x + r, y + h - r, r, M_PI_2, M_PI);
    cairo_arc(cairo, x + r, y + r, r, M_PI, 1.5 * M_PI);
    cairo_close_path(cairo);
}

/// Bounds of lines of a width through some points.
Rect around(std::span<const ImVec2> points, float width) {
    ImVec2 low = points[0], high = low;
    for (const ImVec2 p : points) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    return {low.x - width, low.y - width, high.x - low.x + 2 * width, high.y - low.y + 2 * width};
}

void add_lines(cairo_t* cairo, std::span<const ImVec2> points) {
    for (size_t i = 0; i < points.size(); ++i)
        (i ? cairo_line_to : cairo_move_to)(cairo, points[i].x, points[i].y);
}

}  // namespace

void Ui::begin_page(const Theme& theme, Canvas& canvas) {
    colors = &theme;
    scale = 1;
    page_ = &canvas;
    text.set_page(&canvas);
}

bool Ui::in_sight(Rect r) const {
    if (page_) return true;
    const ImVec2 from = list->GetClipRectMin(), to = list->GetClipRectMax();
    const Rect at = pixels(r);
    return at.right() > from.x && at.x < to.x && at.bottom() > from.y && at.y < to.y;
}

void Ui::fill(Rect r, ImU32 color, float corner) {
    if (probe || !in_sight(r)) return;
    if (!page_) {
        if (color >= IM_COL32_A_MASK) text.cover(pixels(r.min()), pixels(r.max()));
        return list->AddRectFilled(pixels(r.min()), pixels(r.max()), color, corner * scale);
    }
    add_rectangle(page_->cairo(), r.x, r.y, r.w, r.h, corner);
    fill_path(page_->cairo(), color);
}

void Ui::frame(Rect r, ImU32 color, float thickness, float corner) {
    if (probe || !in_sight(r)) return;
    const float t = std::max(line(), snapped(thickness)), half = t / 2;
    const Rect middle{r.x + half, r.y + half, r.w - t, r.h - t};
    if (!page_)
        return list->AddRect(pixels(middle.min()), pixels(middle.max()), color, corner * scale, 0, t * scale);
    add_rectangle(page_->cairo(), middle.x, middle.y, middle.w, middle.h, corner);
    stroke_path(page_->cairo(), color, t);
}

void Ui::hairline(float x0, float y0, float x1, float y1) {
    if (x0 == x1)
        fill({whole(x0), y0, line(), y1 - y0}, colors->l1);
    else
        fill({x0, whole(y0), x1 - x0, line()}, colors->l1);
}

void Ui::stroke(ImVec2 from, ImVec2 to, ImU32 color, float width) {
    if (probe || !in_sight(around(std::array{from, to}, width))) return;
    if (!page_) return draw_line(*list, pixels(from), pixels(to), color, width * scale);
    add_lines(page_->cairo(), std::array{from, to});
    stroke_path(page_->cairo(), color, width);
}

void Ui::polyline(std::span<const ImVec2> along, ImU32 color, float width) {
    if (probe || along.empty() || !in_sight(around(along, width))) return;
    if (!page_) {
        std::vector<ImVec2> points;
        for (const ImVec2 p : along) points.push_back(pixels(p));
        return draw_polyline(*list, points, color, width * scale);
    }
    add_lines(page_->cairo(), along);
    stroke_path(page_->cairo(), color, width);
}

void Ui::cross(ImVec2 center, float arm, ImU32 color) {
    const auto [x, y] = center;
    stroke({x - arm, y - arm}, {x + arm, y + arm}, color, kSignInk);
    stroke({x - arm, y + arm}, {x + arm, y - arm}, color, kSignInk);
}

void Ui::chevron(ImVec2 center, float arm, ImU32 color, bool down) {
    const auto [x, y] = center;
    const float rise = arm * 4 / 7;
    const std::array<ImVec2, 3> points =
        down ? std::array<ImVec2, 3>{{{x - arm, y - rise}, {x, y + rise}, {x + arm, y - rise}}}
             : std::array<ImVec2, 3>{{{x - rise, y - arm}, {x + rise, y}, {x - rise, y + arm}}};
    polyline(points, color, kSignInk);
}

void Ui::curve(ImVec2 from, ImVec2 to, ImU32 color, float width) {
    const float bend = (to.x - from.x) * 0.45f;
    const ImVec2 leaves{from.x + bend, from.y}, arrives{to.x - bend, to.y};
    if (probe || !in_sight(around(std::array{from, to}, width))) return;
    if (!page_) return draw_curve(*list, pixels(from), pixels(to), color, width * scale);
    cairo_move_to(page_->cairo(), from.x, from.y);
    cairo_curve_to(page_->cairo(), leaves.x, leaves.y, arrives.x, arrives.y, to.x, to.y);
    stroke_path(page_->cairo(), color, width);
}

void Ui::draw_by_processor() {
    constexpr size_t kFewLines = 100;
    most_lines = kFewLines;
    curve_picture_ = std::make_unique<CurvePicture>();
}

void Ui::curves(Rect r, std::span<const LevelCurve> all) {
    clip(r);
    if (page_ || !curve_picture_) {
        for (const LevelCurve& c : all) curve({r.x, c.from}, {r.right(), c.to}, c.color, c.width);
    } else {
        std::vector<LevelCurve> scaled;
        for (const LevelCurve& c : all)
            scaled.push_back({c.from * scale, c.to * scale, c.color, c.width * scale});
        const auto [wide, high] = ImGui::GetIO().DisplaySize;
        const PixelBox box =
            pixels_between(list->GetClipRectMin(), list->GetClipRectMax(), {0, 0, int(wide), int(high)});
        curve_picture_->draw(*list, box, r.x * scale, r.right() * scale, scaled, colors->bg1);
    }
    unclip();
}

void Ui::disc(ImVec2 center, float radius, ImU32 color) {
    if (probe || !in_sight({center.x - radius, center.y - radius, 2 * radius, 2 * radius})) return;
    if (!page_) return list->AddCircleFilled(pixels(center), radius * scale, color);
    cairo_new_sub_path(page_->cairo());
    cairo_arc(page_->cairo(), center.x, center.y, radius, 0, 2 * M_PI);
    fill_path(page_->cairo(), color);
}

void Ui::ring(ImVec2 center, float radius, ImU32 color, float width) {
    if (!page_) return list->AddCircle(pixels(center), radius * scale, color, 0, width * scale);
    cairo_new_sub_path(page_->cairo());
    cairo_arc(page_->cairo(), center.x, center.y, radius, 0, 2 * M_PI);
    stroke_path(page_->cairo(), color, width);
}

void Ui::polygon(std::span<const ImVec2> convex, ImU32 color) {
    if (!page_) {
        for (const ImVec2 p : convex) list->PathLineTo(pixels(p));
        return list->PathFillConvex(color);
    }
    add_lines(page_->cairo(), convex);
    cairo_close_path(page_->cairo());
    fill_path(page_->cairo(), color);
}

void Ui::hatch(Rect r, ImU32 color) {
    constexpr float period = size::hatch;
    if (!page_) {
        const Rect at = pixels(r);
        return heat->hatch(*list, {at.x, at.y, at.w, at.h}, color,
                           std::max(2, int(std::round(period * scale))));
    }
    clip(r);
    for (float sum = std::floor((r.x + r.y) / period) * period; sum <= r.right() + r.bottom(); sum += period)
        stroke({sum - r.y, r.y}, {sum - r.bottom(), r.bottom()}, color, line());
    unclip();
}

void Ui::gradient(Rect r, const Colormap& map) {
    constexpr int kSteps = 128;
    if (page_) return fill_gradient(page_->cairo(), {r.x, r.y}, {r.w, r.h}, map);
    for (int i = 0; i < kSteps; ++i) {
        const Rgb c = map[i * 255 / (kSteps - 1)];
        const float from = float(i) / kSteps, step = 1.0f / kSteps;
        const Rect part = r.h > r.w ? Rect{r.x, r.bottom() - (from + step) * r.h, r.w, step * r.h + 0.5f}
                                    : Rect{r.x + from * r.w, r.y, step * r.w + 0.5f, r.h};
        fill(part, IM_COL32(c.r, c.g, c.b, 255));
    }
}

void Ui::picture(Rect r, GLuint texture, int width, int height, const unsigned char* pixels) {
    if (!page_)
        return list->AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(texture)),
                              this->pixels(r.min()), this->pixels(r.max()));
    cairo_surface_t* image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    for (int y = 0; y < height; ++y) {
        auto* row = reinterpret_cast<uint32_t*>(cairo_image_surface_get_data(image) +
                                                y * cairo_image_surface_get_stride(image));
        for (int x = 0; x < width; ++x, pixels += 3)
            row[x] = static_cast<uint32_t>(pixels[0] << 16 | pixels[1] << 8 | pixels[2]);
    }
    cairo_surface_mark_dirty(image);
    cairo_save(page_->cairo());
    cairo_translate(page_->cairo(), r.x, r.y);
    cairo_scale(page_->cairo(), double(r.w) / width, double(r.h) / height);
    cairo_set_source_surface(page_->cairo(), image, 0, 0);
    cairo_paint(page_->cairo());
    cairo_restore(page_->cairo());
    cairo_surface_destroy(image);
}

void Ui::clip(Rect r) {
    if (!page_) return list->PushClipRect(pixels(r.min()), pixels(r.max()), true);
    cairo_save(page_->cairo());
    cairo_rectangle(page_->cairo(), r.x, r.y, r.w, r.h);
    cairo_clip(page_->cairo());
}

void Ui::unclip() {
    if (page_)
        cairo_restore(page_->cairo());
    else
        list->PopClipRect();
}

}  // namespace headlight
