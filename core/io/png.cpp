// Encodes PNG files with libspng.
#include "io/png.h"

#include <spng.h>

#include <cmath>
#include <exception>
#include <memory>

#include "base/check.h"

namespace headlight {

namespace {

constexpr int kCompression = 4;  // compresses flat areas as well as 6 does, in half the time

/// Receives the encoder's bytes; keeps an exception until the C code that called it has returned.
struct Writing {
    const ByteSink& sink;
    std::exception_ptr failure = nullptr;
};

int write(spng_ctx*, void* to, void* data, size_t size) {
    Writing& writing = *static_cast<Writing*>(to);
    try {
        writing.sink(data, size);
    } catch (...) {
        writing.failure = std::current_exception();
        return SPNG_IO_ERROR;
    }
    return 0;
}

}  // namespace

Status encode_png(const PngPixels& pixels, const ByteSink& sink) {
    const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                                 spng_ctx_free);
    const Error failed{"The figure could not be encoded; choose a smaller size."};
    if (!context) return failed;
    HEADLIGHT_CHECK(pixels.bytes.size() == size_t{pixels.width} * pixels.height * (pixels.alpha ? 4 : 3));
    spng_ctx* c = context.get();
    spng_ihdr header{};
    header.width = pixels.width;
    header.height = pixels.height;
    header.bit_depth = 8;
    header.color_type = pixels.alpha ? SPNG_COLOR_TYPE_TRUECOLOR_ALPHA : SPNG_COLOR_TYPE_TRUECOLOR;
    const auto per_meter = static_cast<uint32_t>(std::lround(pixels.dpi / 0.0254));
    spng_phys size{per_meter, per_meter, 1};
    Writing writing{sink};
    spng_set_png_stream(c, write, &writing);
    spng_set_ihdr(c, &header);
    spng_set_phys(c, &size);
    spng_set_option(c, SPNG_IMG_COMPRESSION_LEVEL, kCompression);
    spng_set_option(c, SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_SUB | SPNG_FILTER_CHOICE_UP);
    const int problem =
        spng_encode_image(c, pixels.bytes.data(), pixels.bytes.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    if (writing.failure) std::rethrow_exception(writing.failure);
    return problem ? Status(failed) : success();
}

}  // namespace headlight
