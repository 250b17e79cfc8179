// Hashes the renderer's pictures part by part, without drawing them.
#include "gpu/heatmap.h"
#include "gpu/tiles.h"

namespace headlight {

namespace {

Fingerprint look_of(const PictureStyle& s) {
    return Fingerprint()
        .with(Texture::serial(s.colors))
        .with(s.largest)
        .with(uint64_t{s.queries == Axis::columns})
        .with(s.background)
        .with(s.hatch)
        .with(s.hatch_period);
}

HeatmapRenderer::Part part_of(const HeatmapDraw& d) {
    const Fingerprint look = look_of(d.style)
                                 .with(Texture::serial(d.values))
                                 .with(Texture::serial(d.row_largest))
                                 .with(uint64_t(d.across) << 32 | uint64_t(d.down))
                                 .with(uint64_t{d.diverges} << 6 | uint64_t(d.curve) << 2 |
                                       uint64_t{d.by_row} << 1 | uint64_t{d.dots})
                                 .with(d.gap)
                                 .with(d.rect);
    return {{d.rect.x, d.rect.y}, {d.rect.x + d.rect.z, d.rect.y + d.rect.w}, look.value()};
}

std::vector<HeatmapRenderer::Part> parts_of_grid(const GridDraw& d) {
    const Fingerprint all = look_of(d.style)
                                .with(Texture::serial(d.atlas.texture))
                                .with(uint64_t(d.atlas.t) << 32 | uint64_t(d.heads))
                                .with(d.atlas.covered)
                                .with(d.side)
                                .with(Texture::serial(d.atlas.sinks))
                                .with(d.sink)
                                .with(d.apart)
                                .with(uint64_t{d.linear});
    const float room = d.atlas.sinks ? d.sink + d.apart : 0;
    const ImVec2 before = d.style.queries == Axis::columns ? ImVec2{0, room} : ImVec2{room, 0};
    std::vector<HeatmapRenderer::Part> out;
    for (size_t i = 0; i < d.slots.size(); ++i) {
        const GridSlot& slot = d.slots[i];
        if (slot.index < 0) continue;
        const size_t row = i / size_t(d.across);
        const ImVec2 at{d.rect.x + float(i - row * d.across) * d.pitch.x, d.rect.y + float(row) * d.pitch.y};
        const Fingerprint look =
            Fingerprint(all).with(uint64_t(slot.index)).with(slot.fade).with(slot.largest).with(at);
        out.push_back({{at.x - before.x, at.y - before.y}, {at.x + d.side, at.y + d.side}, look.value()});
    }
    return out;
}

}  // namespace

std::optional<std::vector<HeatmapRenderer::Part>> HeatmapRenderer::parts_of(const ImDrawCmd& drawn) {
    if (drawn.UserCallback != run) return std::nullopt;
    const auto& command = *static_cast<const Command*>(drawn.UserCallbackData);
    if (command.grid) return parts_of_grid(*command.grid);
    return std::vector{part_of(*command.heatmap)};
}

}  // namespace headlight
