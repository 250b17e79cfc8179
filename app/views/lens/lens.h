// What the parts of the view of next tokens share.
#pragma once

#include <optional>

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

struct LensState {
    Viewport seen{.across = 2};  // across in positions: the first that is shown, and how many
    int columns = 8;
    int followed = -1;
    int layers = 0;             // of the model whose end was brought into sight
    float parts_hidden = 1e9f;  // of the attribution, above what is seen
    int first() const { return int(seen.x); }
};

void draw_lens(Scene& scene, Rect area);
/// Heads and MLPs that make the explained prediction.
void draw_attribution(Scene& scene, Rect area);
/// The parts of the explained logit, as numbers; none where it is no plain sum.
std::optional<NumberTable> logit_shares(const Scene& scene);
void draw_lens_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lens(const Scene& scene);
std::vector<NumberTable> lens_numbers(const Scene& scene);

/// Tokens of the stack that predicts.
inline int output_size(const Scene& s) { return s.sentence()->trace->output().size(); }
inline const std::vector<std::string>& output_labels(const Scene& s) { return s.sentence()->labels.back(); }

View lens_view();

}  // namespace headlight
