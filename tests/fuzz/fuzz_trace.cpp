// Trace files: a safetensors header, metadata in JSON, tensors whose shapes must fit each other.
#include <cstdint>
#include <span>

#include "analysis/head_stats.h"
#include "trace/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight;
    static ThreadPool pool(1);
    const auto trace = parse_trace({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (trace) (void)static_cast<bool>(summarize_heads(**trace, 8, pool));
    return 0;
}
