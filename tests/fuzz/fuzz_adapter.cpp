#include "model/loading/adapter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto root = headlight::parse_json({reinterpret_cast<const char*>(data), size}, "input");
    if (root) static_cast<void>(headlight::parse_adapter_config(*root, "input"));
    return 0;
}
