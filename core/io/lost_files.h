// Tracks mapped files that were truncated and have been closed since.
#pragma once

namespace headlight {

/// Forgets them: work that begins now does not depend on them (check_mapped_files).
void forget_lost_files();

}  // namespace headlight
