// The program's icon, as desktops show it for the window.
#pragma once

struct GLFWwindow;

namespace headlight {

/// Sets the icons of assets/desktop in all sizes. Does nothing if the desktop takes none from windows.
void set_window_icon(GLFWwindow* window);

}  // namespace headlight
