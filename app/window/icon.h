// The program's icon, as desktops show it beside a window's name.
#pragma once

struct GLFWwindow;

namespace headlight {

/// Gives the window the icons of assets/desktop in all sizes. Nothing where the desktop takes none of
/// windows.
void set_window_icon(GLFWwindow* window);

}  // namespace headlight
