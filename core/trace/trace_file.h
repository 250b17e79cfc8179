// The trace file: a safetensors file with the field's names (docs/traces.md has the table).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Writes the tensors whose names match one of the globs (`*` any text, `?` one character); without globs the
/// usual set: ids, pattern, resid_pre, attn_out, resid_post, final norm, logits. Large tensors are computed
/// while they are written.
Status write_trace(const std::filesystem::path& path, const Trace& trace,
                   const std::vector<std::string>& globs, ThreadPool& pool);

/// Opens a trace without the model's weights: patterns from q and k where the file says how they meet, else
/// as they were recorded. Names, shapes and sizes are checked; files of models/capture_trace.py and of other
/// programs that keep the names are read too.
Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path,
                                                const CancelFlag* cancel = nullptr);

/// The sequences of a trace for a live run; fails where the file holds no ids, only tokens.
Result<std::vector<Sequence>> recorded_sequences(const Trace& trace);

/// Whether a file calls itself a trace.
bool is_trace_file(const std::filesystem::path& path);

/// From the bytes of such a file. For tests and fuzzing.
Result<std::shared_ptr<const Trace>> parse_trace(std::span<const std::byte> bytes, const std::string& name);

bool glob_match(std::string_view glob, std::string_view name);

}  // namespace headlight
