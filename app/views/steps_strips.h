// The vectors behind the steps: colored strips that open to numbers.
#pragma once

#include "views/scene.h"

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

/// The strips of the focused column: q, k and their products; v, weight · v and z; or z and ΔE.
std::vector<Strip> strips_of(const Scene& scene, const Found<StepsWanted>& found, int key);

void draw_vector_strips(Scene& scene, Rect area, const Found<StepsWanted>& found, int key);

}  // namespace headlight
