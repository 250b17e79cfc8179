// What this machine can do at most, to measure a program by in the same run.
#pragma once

#include <cstddef>
#include <span>

#include "base/threads.h"

namespace headlight {

/// Seconds to read all of `bytes` once on all threads, the least of some tries.
double reading_seconds(ThreadPool& pool, std::span<const std::byte> bytes);

/// Float operations a second on all threads with the widest vectors of this processor, the most of some
/// tries; a multiply-add counts as two.
double peak_flops(ThreadPool& pool);

}  // namespace headlight
