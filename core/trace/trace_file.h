// The trace file: a safetensors file with the field's names (see the README's table).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Writes the tensors whose names match one of the globs (`*` any text, `?` one character); without globs the usual set:
/// ids, pattern, resid_pre, attn_out, resid_post, final norm, logits. Large tensors are computed while they are written.
Status write_trace(const std::filesystem::path& path, const Trace& trace, const std::vector<std::string>& globs, ThreadPool& pool);

bool glob_match(std::string_view glob, std::string_view name);

}  // namespace headlight
