// Shows parts of the window's back buffer and keeps its content.
#pragma once

#include <optional>

#include "gpu/tiles.h"

namespace headlight {

/// GLX_MESA_copy_sub_buffer, without X11 headers. A software renderer takes longer to copy the whole window
/// than to draw the changes.
class PartialSwap {
public:
    /// For the current context; none if unsupported.
    static std::optional<PartialSwap> find();
    /// Shows a box of a window of this height.
    void show(const PixelBox& box, int height) const;

private:
    using Display = void*;
    using Drawable = unsigned long;
    Display (*display_)() = nullptr;
    Drawable (*drawable_)() = nullptr;
    void (*copy_)(Display, Drawable, int, int, int, int) = nullptr;
};

}  // namespace headlight
