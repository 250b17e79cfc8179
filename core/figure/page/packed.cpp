#include "figure/page/packed.h"

#include <zlib.h>

#include "base/base64.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

std::string packed(std::string_view bytes) {
    constexpr int kRaw = -15, kLevel = 6, kMemory = 8;
    z_stream stream{};
    HEADLIGHT_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, uLong(bytes.size())), '\0');
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = narrow<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = narrow<uInt>(out.size());
    const int status = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    HEADLIGHT_CHECK(status == Z_STREAM_END);
    return to_base64(out);
}

}  // namespace headlight
