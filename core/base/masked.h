// Marks entries of matrices that a mask takes out, below every value: those of mixing matrices are signed.
#pragma once

namespace headlight {

inline constexpr float kMasked = -1e30f;
inline constexpr float kAbsent = -2e30f;  // of two runs only one has its tokens
inline bool is_masked(float value) { return value <= kMasked; }

}  // namespace headlight
