#include "figure/page/page_blocks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/cast.h"
#include "figure/page/packed.h"
#include "figure/page/page_data.h"

namespace headlight {

namespace {

/// Rounds weights to 16 bits, a scale for each head. All low bytes come first: they compress better apart.
std::string in_steps(const PagePatterns& weights, int steps, bool is_signed, Json& scales, float& error) {
    constexpr float kSigned = 32767, kUnsigned = 65535;
    std::string low, high;
    for (const Matrix& pattern : weights.patterns) {
        const float largest = pattern.cwiseAbs().maxCoeff(), step = largest > 0 ? largest / float(steps) : 1;
        scales.push_back(step * (is_signed ? kSigned : kUnsigned));
        weights.each(pattern, [&](float w) {
            const float rounded = std::round(w / step);
            error = std::max(error, std::abs(rounded * step - w));
            const int stored = int(rounded) + (is_signed ? 32768 : 0);
            low += char(stored & 0xFF);
            high += char(stored >> 8 & 0xFF);
        });
    }
    return low + high;
}

/// Stores weights as floats of this machine, which are little-endian on all that Headlight runs on.
std::string in_floats(const PagePatterns& weights) {
    std::string out;
    for (const Matrix& pattern : weights.patterns)
        weights.each(pattern, [&](float w) { out.append(reinterpret_cast<const char*>(&w), sizeof w); });
    return out;
}

}  // namespace

PackedBlock packed_block(const Trace& trace, int block, int steps) {
    const PagePatterns weights(trace, block);
    PackedBlock out;
    out.json = block_facts(trace, block, weights);
    if (steps == kExact) {
        out.json["encoding"] = "f32";
        out.json["data"] = packed(in_floats(weights));
        return out;
    }
    Json scales = Json::array();
    const std::string bytes = in_steps(weights, steps, trace.is_mixing(block), scales, out.error);
    out.json["encoding"] = "u16";
    out.json["scale"] = std::move(scales);
    out.json["data"] = packed(bytes);
    return out;
}

}  // namespace headlight
