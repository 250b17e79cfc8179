#include "window/window.h"
namespace headlight {
void add_window_options(CLI::App&, WindowOptions&) {}
Status run_window(const WindowOptions&) { return Error{"soon"}; }
}
