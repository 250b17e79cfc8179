#include "gpu/partial_swap.h"

#include <GLFW/glfw3.h>

namespace headlight {

std::optional<PartialSwap> PartialSwap::find() {
    if (!glfwExtensionSupported("GLX_MESA_copy_sub_buffer")) return std::nullopt;
    PartialSwap p;
    p.display_ = reinterpret_cast<Display (*)()>(glfwGetProcAddress("glXGetCurrentDisplay"));
    p.drawable_ = reinterpret_cast<Drawable (*)()>(glfwGetProcAddress("glXGetCurrentDrawable"));
    p.copy_ = reinterpret_cast<void (*)(Display, Drawable, int, int, int, int)>(
        glfwGetProcAddress("glXCopySubBufferMESA"));
    if (!p.display_ || !p.drawable_ || !p.copy_ || !p.display_() || !p.drawable_()) return std::nullopt;
    return p;
}

void PartialSwap::show(const PixelBox& b, int height) const {
    copy_(display_(), drawable_(), b.left, height - b.bottom, b.right - b.left, b.bottom - b.top);
}

}  // namespace headlight
