// The bar of the adapter on the open model: its name, its strength.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Draws the bar if the model has an adapter; returns its height.
float draw_adapter_bar(Scene& scene, Rect area);

/// "+ poems × 0.5": names the adapter on the model's name, at most this wide; returns the width.
float draw_adapter_chip(Scene& scene, Rect right);

}  // namespace headlight
