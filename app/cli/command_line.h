// The program's front door: verbs, or the window where there is none.
#pragma once

namespace headlight {

/// Exit status: 0 done, 1 the input cannot be used (one line says why), 2 wrong usage.
int run_command_line(int argc, char** argv);

}  // namespace headlight
