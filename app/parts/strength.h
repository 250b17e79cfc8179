// The strength of the adapter on the open model, on a slider.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Where a strength stands on the slider, 0 … 1 from −1 to 2; beyond these at its ends.
float strength_place(float strength);

/// The strength at a place of the slider: 0 and 1 hold it, else a multiple of 0.05.
float strength_at(float place);

/// Half the width of the slider's knob: so far the ends of its line are from those of its rectangle.
inline constexpr float kStrengthKnob = 6;

/// Draws a line from −1 to 2 with marks at 0 and 1, and a knob that changes the strength.
void draw_strength_slider(Scene& scene, const std::string& path, Rect r);

/// Changes the adapter's strength, unless it has this one.
void send_strength(const Scene& scene, float wanted);

}  // namespace headlight
