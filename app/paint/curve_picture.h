// Many curves at once as one picture, for a processor that draws them itself: pixel by pixel they cost it a
// small part of what their triangles do.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/texture.h"
#include "gpu/tiles.h"

namespace headlight {

/// A curve as draw_curve draws it, from the left side of something to its right one.
struct LevelCurve {
    float from = 0, to = 0;  // heights of its ends
    ImU32 color = 0;
    float width = 1;
};

/// Opaque pixels on which curves are drawn one over another. How much of a pixel one covers is told by the
/// distance of their middles, taken to the curve's tangent in that column.
class CurvePixels {
public:
    /// So many pixels of one color; curves go from `left` to `right`, in pixels from the picture's left side.
    void begin(int width, int height, ImU32 back, float left, float right);
    void draw(const LevelCurve& curve);
    /// Row by row from the top, as colors of Dear ImGui.
    std::span<const ImU32> pixels() const { return pixels_; }
    int width() const { return width_; }
    int height() const { return height_; }

private:
    struct Column {
        float rise, slope, covered;  // of a curve that rises by 1; of the column's width
    };
    void draw_column(int column, float middle, float slope, const LevelCurve& curve);

    int width_ = 0, height_ = 0;
    std::vector<ImU32> pixels_;
    std::vector<Column> columns_;
};

/// The picture as it was drawn last, made anew only where a curve differs.
class CurvePicture {
public:
    /// Curves from `left` to `right` over a color, all in the window's pixels, as far as they lie in a box.
    /// Once a frame: the list names the texture.
    void draw(ImDrawList& list, const PixelBox& box, float left, float right,
              std::span<const LevelCurve> curves, ImU32 back);

private:
    CurvePixels pixels_;
    Texture texture_;
    uint64_t look_ = 0;  // of what the texture holds
};

}  // namespace headlight
