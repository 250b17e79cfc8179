#include "window/window.h"

#include "window/application.h"

namespace headlight {

Status run_window(const WindowOptions& options) {
    TRY(const auto application, Application::create(options));
    return application->run();
}

}  // namespace headlight
