// Describes the position schemes.
#include "model/position_scheme.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

namespace {

std::string size_text(int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); }

// Follows the order of PositionScheme.
constexpr PositionSchemeRow kSchemes[] = {
    {PositionScheme::none, "none", "", [](const ModelConfig&, const StackConfig&) { return std::string(); }},
    {PositionScheme::learned, "learned", "+ learned positions",
     [](const ModelConfig& c, const StackConfig& s) {
         return size_text(c.position_rows(s), c.project_positions() ? c.d_model : c.d_embed);
     }},
    {PositionScheme::sinusoidal, "sinusoidal", "+ sinusoidal positions",
     [](const ModelConfig& c, const StackConfig&) { return size_text(c.context, c.d_model); }},
    {PositionScheme::rotary, "rotary", "rotary positions turn q and k",
     [](const ModelConfig&, const StackConfig& s) {
         const auto turns = [](const LayerSpec& layer) { return layer.attention.rope.dims > 0; };
         const auto first = std::find_if(s.layers.begin(), s.layers.end(), turns);
         const AttentionSpec& a = (first == s.layers.end() ? s.layers.front() : *first).attention;
         return std::to_string(a.rope.dims) + " of " + std::to_string(a.d_head) + " dimensions";
     }},
    {PositionScheme::alibi, "ALiBi", "ALiBi: scores fall with distance",
     [](const ModelConfig&, const StackConfig& s) {
         return std::to_string(s.layers[0].attention.heads) + " slopes";
     }},
    {PositionScheme::relative, "relative", "bias by distance in every score",
     [](const ModelConfig& c, const StackConfig& s) {
         return size_text(c.buckets.count, s.layers[0].attention.heads);
     }},
    {PositionScheme::disentangled, "disentangled", "vectors of the distance in every score",
     [](const ModelConfig& c, const StackConfig& s) {
         const auto& spec = s.layers[0].attention.disentangled;
         return size_text(spec ? 2 * int64_t{spec->span} : 0, c.d_model);
     }},
};

}  // namespace

const PositionSchemeRow& position_scheme(PositionScheme scheme) { return row_of(kSchemes, scheme); }

}  // namespace headlight
