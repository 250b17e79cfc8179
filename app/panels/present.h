// Presents a view full screen, and slides: saved views, stepped through by the arrow keys.
#pragma once

#include <vector>

#include "parts/scene.h"
#include "session/commands/command.h"

namespace headlight {

struct View;

inline constexpr float kPresentScale = 1.5f;  // minimum scale of the text

/// Draws title and focused value above, slides and keys below; returns the area of the view.
Rect draw_presentation(Scene& scene, Rect window, const View& view);

std::vector<Command> present_commands();

/// Shows the slide that waited for its model, once that is open or failed.
Status resume_presenting(CommandContext& context);

}  // namespace headlight
