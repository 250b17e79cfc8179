// Reads and writes trace files: safetensors files with the field's names (docs/traces.md has the table).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Says how a trace file stores floats; half of the bytes cost three digits.
enum class TraceFloats { f32, f16 };

/// Writes the tensors whose names match one of the globs (`*` any text, `?` one character); by default ids,
/// pattern, resid_pre, attn_out, resid_post, final norm, logits. Computes large tensors while writing them.
Status write_trace(const std::filesystem::path& path, const Trace& trace,
                   const std::vector<std::string>& globs, ThreadPool& pool,
                   TraceFloats floats = TraceFloats::f32);

/// Opens a trace without the model's weights: computes patterns from q and k if the file says how, else shows
/// the recorded ones. Checks names, shapes and sizes; also reads files of models/capture_trace.py and of
/// other programs that keep the names.
Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path,
                                                const CancelFlag* cancel = nullptr);

/// Returns the sequences of a trace for a live run; fails if the file holds only tokens and no ids.
Result<std::vector<Sequence>> recorded_sequences(const Trace& trace);

/// Returns whether a file declares itself a trace.
bool is_trace_file(const std::filesystem::path& path);

/// Parses the bytes of such a file. For tests and fuzzing.
Result<std::shared_ptr<const Trace>> parse_trace(std::span<const std::byte> bytes, const std::string& name);

/// Returns "blocks.0.attn.": how the names of a block's tensors begin.
std::string tensors_at(const ModelConfig& config, int block);

bool glob_match(std::string_view glob, std::string_view name);

}  // namespace headlight
