// Prediction: the logit lens after each layer, and direct logit attribution.
#pragma once

#include <optional>

#include "io/numbers.h"
#include "parts/controls.h"
#include "parts/token_pages.h"

namespace headlight {

struct View;

struct LensState : TokenPages {
    int layers = 0;             // of the model that was scrolled to its last layer
    float parts_hidden = 1e9f;  // height of the attribution scrolled out of sight
};

void draw_lens(Scene& scene, Rect area);
void draw_attribution(Scene& scene, Rect area);
/// Returns the parts of the explained logit; nullopt if it is not a plain sum.
std::optional<NumberTable> logit_shares(const Scene& scene);
void draw_lens_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lens(const Scene& scene);
std::vector<NumberTable> lens_numbers(const Scene& scene);

View lens_view();

}  // namespace headlight
