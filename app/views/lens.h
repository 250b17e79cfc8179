// What the parts of the view of next tokens share.
#pragma once

#include "io/numbers.h"
#include "views/parts.h"

namespace headlight {

struct View;

struct LensState {
    Viewport seen{.across = 2};  // across in positions: the first that is shown, and how many
    int columns = 8;
    int followed = -1;
    int first() const { return int(seen.x); }
};

void draw_lens(Scene& scene, Rect area);
/// Heads and MLPs that make the explained prediction.
void draw_attribution(Scene& scene, Rect area);
void draw_lens_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lens(const Scene& scene);
std::vector<NumberTable> lens_numbers(const Scene& scene);

/// Tokens of the stack that predicts.
inline int output_size(const Scene& s) { return s.sentence()->trace->output().size(); }
inline const std::vector<std::string>& output_labels(const Scene& s) { return s.sentence()->labels.back(); }

View lens_view();

}  // namespace headlight
