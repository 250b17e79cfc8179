// Trace files: a safetensors header, metadata in JSON, tensors whose shapes must fit each other. What opens
// is looked at, one thing after another; the last byte says which first.
#include <cstdint>
#include <span>

#include "look.h"
#include "trace/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight;
    static ThreadPool pool(1);
    const auto trace = parse_trace({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (!trace) {
        fuzz::check_message(trace.error());
        return 0;
    }
    const uint8_t what = data[size - 1];
    for (const uint8_t next : {what, static_cast<uint8_t>(what + 1), static_cast<uint8_t>(what + 14)})
        fuzz::look_at(*trace, next, what, fuzz::scratch_folder(), pool);
    return 0;
}
