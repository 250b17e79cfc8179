#include "model/loading/config.h"
#include "model/loading/parameters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto root = headlight::parse_json({reinterpret_cast<const char*>(data), size}, "input");
    if (!root) return 0;
    if (const auto config = headlight::parse_config(*root, "input")) headlight::parameter_count(*config);
    return 0;
}
