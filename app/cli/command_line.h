// The program's front door: verbs, or the window where there is none.
#pragma once

#include <functional>

#include "base/result.h"

namespace headlight {

/// Runs a verb. What it says and writes it asks about at that moment (print, WholeFilesOnly), so that what
/// was written stays whatever becomes of the files behind it; where it failed and a file was cut under it,
/// that is why.
Status run_verb(const std::function<Status()>& run);

/// Exit status: 0 done, 1 the input cannot be used (one line says why), 2 wrong usage.
int run_command_line(int argc, char** argv);

}  // namespace headlight
