#include "io/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto image = headlight::decode_image({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (image) headlight::resize(*image, 64, 64, headlight::Resampling::bicubic);
    return 0;
}
