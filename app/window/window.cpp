#include "window/window.h"

#include "window/application.h"
#include "window/commands.h"

namespace headlight {

Status run_window(const WindowOptions& options, int& exit_status) {
    if (const auto lines = parse_commands(commands(), options.commands); !lines) {
        exit_status = 2;
        return lines.error();
    }
    TRY(const auto application, Application::create(options));
    const Status ended = application->run();
    if (application->refused()) exit_status = 2;
    return ended;
}

std::string command_list() { return list_commands(commands()); }

}  // namespace headlight
