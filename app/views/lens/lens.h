// Prediction: the logit lens after each layer, and direct logit attribution.
#pragma once

#include <optional>

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

struct LensState {
    Viewport seen{.across = 2};  // x in positions: the first shown, and their number
    int columns = 8;
    int followed = -1;
    int layers = 0;             // of the model that was scrolled to its last layer
    float parts_hidden = 1e9f;  // height of the attribution scrolled out of sight
    int first() const { return int(seen.x); }
};

void draw_lens(Scene& scene, Rect area);
void draw_attribution(Scene& scene, Rect area);
/// Returns the parts of the explained logit; nullopt if it is not a plain sum.
std::optional<NumberTable> logit_shares(const Scene& scene);
void draw_lens_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lens(const Scene& scene);
std::vector<NumberTable> lens_numbers(const Scene& scene);

/// Of the stack that predicts.
inline int output_size(const Scene& s) { return s.sentence()->trace->output().size(); }
inline const std::vector<std::string>& output_labels(const Scene& s) { return s.sentence()->labels.back(); }

View lens_view();

}  // namespace headlight
