// Draws the vectors of the steps as colored strips that open to numbers.
#pragma once

#include <optional>

#include "parts/scene.h"

namespace headlight {

struct StripsState {
    int dimension = -1;  // −1: the largest
    bool open = false;   // show numbers
    float scroll = 0;
};

struct Strip {
    std::string name, sign, measure;  // sign: "‖·‖" or "Σ"; measure: its value
    Vector values;
    bool query = false;
    bool product = false;  // of the two strips before it, entry by entry
};
Strip strip_of(std::string name, Vector values, const std::string& sign, bool query = false);
Strip product_strip(std::string name, Vector values, const std::string& sign, bool query = false);
/// Returns the strip that is a product of the two before it; null: none is.
const Strip* product_of(const std::vector<Strip>& strips);

/// Strips below a heading, and the matrix whose row is one of them. Opened, lists numbers after `whole`'s.
struct StripPanel {
    std::string heading;
    std::vector<Strip> strips;
    const WeightMap* matrix = nullptr;
    int row = 0;
    std::optional<Strip> whole = {};
};

/// Returns the strips of the focused column: q, k and q × k; v, weight · v and z; or z and ΔE.
StripPanel step_strips(const Scene& scene, const Found<StepsRequest>& found, int key);

void draw_vector_strips(Scene& scene, Rect area, const StripPanel& panel);
/// Draws a vector as cells, scaled by its largest entry.
void draw_cells_of(Ui& ui, Rect r, const Vector& values);

}  // namespace headlight
