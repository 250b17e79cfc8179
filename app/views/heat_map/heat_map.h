// Draws one head's pattern, or several combined, as a large heat map.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"
#include "parts/token_axis.h"
#include "views/combined_heads.h"

namespace headlight {

struct View;
struct ViewPage;

struct HeatMapState {
    Viewport seen{.max = 400};
    bool dragged = false;                  // the button moved the map, so its release locks no cell
    std::pair<int, int> followed{-1, -1};  // the locked cell that was last scrolled to
    int tokens = -1;                       // number of queries when the last one was scrolled to
    void visit(FieldVisitor& visitor);
};

constexpr float kRoomForTag = 560, kTagLine = 26;  // a line about the head, under the caption of a high map

struct MapLayout : Grid {
    TokenAxis down, across;  // names of rows and of columns
    Rect column{};           // numbers of the cell beside the color bar; no width: none
    Rect sink{};             // weights of the sink, before the first key; no width: none
    float bar_height() const { return std::max(view.h, 120.0f); }
    bool all_seen() const { return w * float(columns) <= view.w + 1 && h * float(rows) <= view.h + 1; }
};

inline constexpr float kMapNames = 100, kLongestName = 120;  // of the row labels, and of one above a column

/// Returns the tokens along one side: queries or keys, by the user's orientation.
const std::vector<std::string>& map_labels(const Scene& scene, bool down);

inline constexpr float kSinkApart = 10;  // between the sink and the first key

/// Returns whether the shown head has a sink that is no token.
bool has_sink(const Scene& scene);
void draw_sink(Scene& scene, const MapLayout& layout);

MapLayout arrange_map(Scene& scene, Rect area);
/// Returns the width left beside a map with its names and color bar.
float room_beside_map(Rect area, const MapLayout& map);
/// Draws which heads, and how they are drawn, at the right end of a row; returns the width.
float draw_heat_map_tools(Scene& scene, Rect row);
void draw_map_labels(Scene& scene, const MapLayout& layout, std::optional<std::pair<int, int>> cell);
void draw_color_scale(Scene& scene, const MapLayout& layout, std::optional<std::pair<int, int>> cell);
void draw_map_caption(Scene& scene, const MapLayout& layout, Rect area);
/// Draws what a closed inspector would show first: the cell, the result or the row, what the head does.
void draw_map_column(Scene& scene, const MapLayout& layout, std::optional<std::pair<int, int>> cell);

void draw_heat_map(Scene& scene, Rect area);
std::optional<Result<Drawing>> head_page_figure(const ViewPage& page, ThreadPool& pool);

View heat_map_view();

}  // namespace headlight
