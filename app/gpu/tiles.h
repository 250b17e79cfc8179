// Hashes what each tile of the window shows: two frames differ where their hashes do.
#pragma once

#include <imgui.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace headlight {

/// Whole pixels from the upper left; right and bottom are exclusive.
struct PixelBox {
    int left = 0, top = 0, right = 0, bottom = 0;

    bool empty() const { return left >= right || top >= bottom; }
    bool operator==(const PixelBox&) const = default;
};
inline bool meet(const PixelBox& a, const PixelBox& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
/// The intersection of two boxes; it may be empty.
PixelBox common(const PixelBox& a, const PixelBox& b);
/// The smallest box that contains both.
PixelBox around(const PixelBox& a, const PixelBox& b);
/// The pixels that a rectangle between two corners touches, clipped to `within`.
PixelBox pixels_between(ImVec2 low, ImVec2 high, const PixelBox& within);

class Fingerprint {
public:
    Fingerprint() = default;
    explicit Fingerprint(uint64_t begin) : value_(begin) {}
    Fingerprint& with(uint64_t v) {
        value_ = (value_ ^ v) * 0x9E3779B97F4A7C15;
        value_ ^= value_ >> 32;
        return *this;
    }
    Fingerprint& with(float v) { return with(uint64_t{std::bit_cast<uint32_t>(v)}); }
    Fingerprint& with(ImVec2 v) { return with(v.x).with(v.y); }
    Fingerprint& with(const ImVec4& v) { return with(v.x).with(v.y).with(v.z).with(v.w); }
    Fingerprint& with(const PixelBox& b) { return with(pair(b.left, b.top)).with(pair(b.right, b.bottom)); }
    uint64_t value() const { return value_; }

private:
    static uint64_t pair(int a, int b) { return uint64_t{uint32_t(a)} << 32 | uint32_t(b); }
    uint64_t value_ = 0x243F6A8885A308D3;
};

class Tiles {
public:
    static constexpr int kSide = 32;  // pixels
    static PixelBox touched_by(const PixelBox& box) {
        return {box.left / kSide, box.top / kSide, (box.right + kSide - 1) / kSide,
                (box.bottom + kSide - 1) / kSide};
    }

    /// Begins a frame of this size in pixels. If the last had another size, every tile is new.
    void begin(int width, int height);
    /// Adds a drawing over earlier ones; `look` is its hash.
    void add(const PixelBox& box, uint64_t look);
    /// The difference to the last frame: a few disjoint boxes of whole tiles, clipped to the window.
    std::vector<PixelBox> changed() const;
    /// Makes the next frame new everywhere.
    void forget() { now_.clear(); }

private:
    std::vector<PixelBox> runs(int apart) const;
    bool differs(int column, int row) const;
    PixelBox pixels(int left, int top, int right, int bottom) const;

    int width_ = 0, height_ = 0, across_ = 0, down_ = 0;
    std::vector<uint64_t> now_, before_;  // by tile, row by row; before_ is empty if unknown
};

}  // namespace headlight
