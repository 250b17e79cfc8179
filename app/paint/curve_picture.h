// Draws many curves into one picture for a CPU renderer: pixels cost a fraction of triangles.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/texture.h"
#include "gpu/tiles.h"

namespace headlight {

/// A curve as draw_curve draws it, from the left side to the right.
struct LevelCurve {
    float from = 0, to = 0;  // heights of its ends
    ImU32 color = 0;
    float width = 1;
};

/// Opaque pixels with curves drawn one over another. Coverage of a pixel is the distance of its center to the
/// curve's tangent in that column.
class CurvePixels {
public:
    /// Pixels of one color; curves go from `left` to `right`, in pixels from the picture's left side.
    void begin(int width, int height, ImU32 back, float left, float right);
    void draw(const LevelCurve& curve);
    /// Row by row from the top, as colors of Dear ImGui.
    std::span<const ImU32> pixels() const { return pixels_; }
    int width() const { return width_; }
    int height() const { return height_; }

private:
    struct Column {
        float rise, slope, covered;  // of a curve that rises by 1; share of the column covered
    };
    void draw_column(int column, float middle, float slope, const LevelCurve& curve);

    int width_ = 0, height_ = 0;
    std::vector<ImU32> pixels_;
    std::vector<Column> columns_;
};

/// The last picture, redrawn only if a curve changed.
class CurvePicture {
public:
    /// Draws curves from `left` to `right` over a color, in window pixels, clipped to a box. Once per frame.
    void draw(ImDrawList& list, const PixelBox& box, float left, float right,
              std::span<const LevelCurve> curves, ImU32 back);

private:
    CurvePixels pixels_;
    Texture texture_;
    uint64_t look_ = 0;  // of the texture's content
};

}  // namespace headlight
