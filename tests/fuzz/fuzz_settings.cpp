#include "window/state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    (void)static_cast<bool>(headlight::parse_settings({reinterpret_cast<const char*>(data), size}, "input"));
    return 0;
}
