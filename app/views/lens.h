// What the parts of the view of next tokens share.
#pragma once

#include "views/parts.h"

namespace headlight {

/// Tokens of the stack that predicts.
inline int output_size(const Scene& s) { return s.sentence()->trace->output().size(); }
inline const std::vector<std::string>& output_labels(const Scene& s) { return s.sentence()->labels.back(); }

}  // namespace headlight
