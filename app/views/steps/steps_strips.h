// The vectors behind the steps: colored strips that open to numbers.
#pragma once

#include <optional>

#include "parts/scene.h"

namespace headlight {

struct StripsState {
    int dimension = -1;  // −1: the one that counts most
    bool open = false;   // whether they show numbers
    float scroll = 0;
};

/// One of the vectors that the focused number is made of.
struct Strip {
    std::string name, sign, measure;  // sign: "‖·‖" or "Σ", of which `measure` is the value
    Vector values;
    bool query = false;
};
Strip strip_of(std::string name, Vector values, const std::string& sign, bool query = false);

/// Strips under a heading; of a row of a matrix, also the picture in which it is lit. Open, they are numbers,
/// beside those of `whole`.
struct StripPanel {
    std::string heading;
    std::vector<Strip> strips;
    const WeightMap* matrix = nullptr;
    int row = 0;
    std::optional<Strip> whole = {};
};

/// The strips of the focused column: q, k and their products; v, weight · v and z; or z and ΔE.
StripPanel step_strips(const Scene& scene, const Found<StepsRequest>& found, int key);

void draw_vector_strips(Scene& scene, Rect area, const StripPanel& panel);
/// A vector as cells, its largest entry at the ends of the colors.
void draw_cells_of(Ui& ui, Rect r, const Vector& values);

}  // namespace headlight
