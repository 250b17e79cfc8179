#include "paint/ribbon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace headlight {

namespace {

constexpr int kMaxPieces = 64;  // of a curve
constexpr float kLeaves = 0.45f;

/// A point of a line, and its unit direction there.
struct LinePoint {
    ImVec2 at, along;
};

ImVec2 unit(float x, float y) {
    const float length = std::sqrt(x * x + y * y);
    return length > 0 ? ImVec2{x / length, y / length} : ImVec2{0, 0};
}

/// Draws one strip textured with the atlas's antialiased line, stretched so that a width between two whole
/// ones covers as much as it should.
void draw_strip(ImDrawList& list, std::span<const LinePoint> points, ImU32 color, float width) {
    if ((color & IM_COL32_A_MASK) == 0 || points.size() < 2) return;
    width = std::max(width, 1.0f);
    const int texels = std::clamp(int(std::lround(width)), 1, IM_DRAWLIST_TEX_LINES_WIDTH_MAX);
    const float edges = 1 + 2 / float(texels), half = width * edges / 2;
    const ImVec4 uv = ImGui::GetIO().Fonts->TexUvLines[texels];
    list.PrimReserve(int(points.size() - 1) * 6, int(points.size()) * 2);
    const unsigned first = list._VtxCurrentIdx;
    for (const auto& [at, along] : points) {
        const ImVec2 aside{-along.y * half, along.x * half};
        list.PrimWriteVtx({at.x + aside.x, at.y + aside.y}, {uv.x, uv.y}, color);
        list.PrimWriteVtx({at.x - aside.x, at.y - aside.y}, {uv.z, uv.w}, color);
    }
    for (unsigned i = 0; i + 1 < points.size(); ++i)
        for (const unsigned corner : {0u, 1u, 3u, 0u, 3u, 2u})
            list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 2 * i + corner));
}

/// Cuts a curve into pieces, shorter where it bends more: its second derivative is 1 − 2 t, so pieces of
/// equal error have lengths proportional to its inverse root.
const std::vector<float>& cuts(int pieces) {
    static std::array<std::vector<float>, kMaxPieces + 1> known;
    std::vector<float>& t = known[pieces];
    for (int i = int(t.size()); i <= pieces; ++i) {
        const float s = float(i) / float(pieces), bent = std::pow(std::abs(1 - 2 * s), 2.0f / 3);
        t.push_back(s < 0.5f ? (1 - bent) / 2 : (1 + bent) / 2);
    }
    return t;
}

}  // namespace

void draw_line(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width) {
    const ImVec2 along = unit(to.x - from.x, to.y - from.y);
    if (along.x == 0 && along.y == 0) return;
    constexpr float kCenter = 0.5f;  // of a pixel, as Dear ImGui's own
    const std::array<LinePoint, 2> ends{
        {{{from.x + kCenter, from.y + kCenter}, along}, {{to.x + kCenter, to.y + kCenter}, along}}};
    draw_strip(list, ends, color, width);
}

/// Ends a stroke where the line turns by more than 120°: Dear ImGui joins strokes by the mean of both
/// normals, which is nearly nothing where it turns back, so that a zigzag is drawn as slivers.
void draw_polyline(ImDrawList& list, std::span<const ImVec2> along, ImU32 color, float width) {
    for (size_t i = 0; i < along.size(); ++i) {
        list.PathLineTo(along[i]);
        if (i == 0 || i + 1 == along.size()) continue;
        const ImVec2 before = along[i - 1], here = along[i], next = along[i + 1],
                     in = unit(here.x - before.x, here.y - before.y),
                     out = unit(next.x - here.x, next.y - here.y);
        if (in.x * out.x + in.y * out.y >= -0.5f) continue;
        list.PathStroke(color, 0, width);
        list.PathLineTo(here);
    }
    list.PathStroke(color, 0, width);
}

CurvePoint curve_at(float t) {
    const float v = 1 - t;
    return {3 * v * t * (v * kLeaves + t * (1 - kLeaves)) + t * t * t, t * t * (3 - 2 * t),
            3 * kLeaves * (v * v + t * t) + 6 * (1 - 2 * kLeaves) * t * v, 6 * t * v};
}

/// The number of pieces for an error below a fifth of a pixel: a piece of length h in t misses the curve by
/// h² / 8 of its second derivative, at most 6 times the rise; cuts along the bend need two thirds of that.
void draw_curve(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float width) {
    constexpr float kMissed = 0.2f;
    const float dx = to.x - from.x, dy = to.y - from.y;
    const int pieces =
        std::clamp(int(std::ceil(std::sqrt(0.75f * std::abs(dy) / kMissed) * 2 / 3)), 1, kMaxPieces);
    std::array<LinePoint, kMaxPieces + 1> points;
    const std::vector<float>& t = cuts(pieces);
    for (int i = 0; i <= pieces; ++i) {
        const CurvePoint p = curve_at(t[i]);
        points[i] = {{from.x + dx * p.across, from.y + dy * p.rise},
                     unit(dx * p.across_by_t, dy * p.rise_by_t)};
    }
    draw_strip(list, std::span(points).first(pieces + 1), color, width);
}

}  // namespace headlight
