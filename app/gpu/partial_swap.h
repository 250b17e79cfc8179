// Parts of the window's back buffer are shown, and it stays what it is.
#pragma once

#include <optional>

#include "gpu/tiles.h"

namespace headlight {

/// GLX_MESA_copy_sub_buffer, without headers of X11. What a software renderer takes for copying the whole
/// window is more than for drawing what changed.
class PartialSwap {
public:
    /// Of the context that is current; none where it cannot.
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
