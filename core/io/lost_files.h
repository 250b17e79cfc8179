// Files that were cut while they were mapped, and let go since.
#pragma once

namespace headlight {

/// Forgets them: what begins now was not made of them (check_mapped_files).
void forget_lost_files();

}  // namespace headlight
