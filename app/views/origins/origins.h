// Where one score comes from: what wrote the query's vector against what wrote the key's.
#pragma once

#include "analysis/attention/score_origins.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// How many parts of each side stand alone; 0: all.
inline constexpr std::array<int, 4> kOriginCountValues{8, 16, 32, 0};
inline constexpr std::span<const int> kOriginCounts = kOriginCountValues;

struct OriginsState {
    int count = 16;
    std::optional<std::pair<int, int>> pointed;  // row and column of what is shown
    void visit(FieldVisitor& v) {
        v.integer("origins_count", count, 0, 32);
        v.choose_among(count, kOriginCounts,
                       {"origins count",
                        "Origins: how many",
                        "how many parts of query and key stand alone, the strongest first",
                        {"8", "16", "32", "all"}});
    }
};

void draw_origins(Scene& scene, Rect area);
/// Beside the map: the score, and the largest shares.
void draw_origins_side(Scene& scene, Rect area, const ScoreOrigins& shown);
/// "token × 0.3": a share by its two parts.
std::string origin_pair_name(const Scene& scene, const ScoreOrigins& shown, int query, int key);

View origins_view();

}  // namespace headlight
