// Starts the program: a verb, or the window if there is none.
#pragma once

#include <functional>

#include "base/result.h"

namespace headlight {

/// Runs a verb. Output is checked as it is written (print, WholeFilesOnly), so that files cut later do not
/// undo it; if the verb failed and a mapped file was cut, that is the error.
Status run_verb(const std::function<Status()>& run);

/// Exit status: 0 done, 1 the input cannot be used (one line says why), 2 wrong usage.
int run_command_line(int argc, char** argv);

}  // namespace headlight
