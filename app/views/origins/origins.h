// Breaks down one score by the components that wrote the query and the key.
#pragma once

#include "analysis/attention/score_origins.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// Numbers of parts to list separately on each side; 0: all.
inline constexpr std::array<int, 4> kOriginCountValues{8, 16, 32, 0};
inline constexpr std::span<const int> kOriginCounts = kOriginCountValues;

struct OriginsState {
    int count = 16;
    std::optional<std::pair<int, int>> pointed;  // row and column
    void visit(FieldVisitor& v) {
        v.integer("origins_count", count, 0, 32);
        v.choose_among(count, kOriginCounts,
                       {"origins count",
                        "Origins: number of parts",
                        "number of query and key parts to list separately, strongest first",
                        {"8", "16", "32", "all"}});
    }
};

void draw_origins(Scene& scene, Rect area);
void draw_origins_side(Scene& scene, Rect area, const ScoreOrigins& shown);
/// "token × 0.3": names a cell by its two parts.
std::string origin_pair_name(const Scene& scene, const ScoreOrigins& shown, int query, int key);

View origins_view();

}  // namespace headlight
