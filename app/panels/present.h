// The view alone, large, for an audience; and slides: views that were kept, to go through by the arrow keys.
#pragma once

#include <vector>

#include "parts/scene.h"
#include "session/commands/command.h"

namespace headlight {

struct View;

inline constexpr float kPresentScale = 1.5f;  // of the text, at least

/// Title and pointed value above, slides and keys below; returns the room of the view between them.
Rect draw_presentation(Scene& scene, Rect window, const View& view);

std::vector<Command> present_commands();

/// Shows the slide that waited for its model, once that is open or could not be.
Status go_on_presenting(CommandContext& context);

}  // namespace headlight
