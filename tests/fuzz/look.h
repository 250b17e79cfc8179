// Everything that can be asked of a trace without a display.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "trace/trace.h"

namespace headlight::fuzz {

/// Asks one thing: `what` goes through the views (as pictures and as numbers), figures, questions,
/// generation, statistics and trace files; `where` chooses block and head. Files go to `folder`. A sentence
/// is an answer too.
void look_at(const std::shared_ptr<const Trace>& trace, uint8_t what, uint8_t where,
             const std::filesystem::path& folder, ThreadPool& pool);

/// Stops the fuzzer where a message is longer than a person reads.
void check_message(const Error& error);

/// Runs it; a Failure is a sentence like any Error, every other exception stops the fuzzer.
void tell_failures(const std::function<void()>& run);

/// A folder of this process in memory.
const std::filesystem::path& scratch_folder();

}  // namespace headlight::fuzz
