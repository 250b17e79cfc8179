// Packs a model's weights on a background thread.
#include "model/loading/packed.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <tuple>

#include "base/check.h"
#include "kernels/kernels.h"

namespace headlight {

namespace {

constexpr int64_t kLine = 64;  // bytes per cache line; each matrix begins at one

int64_t panel_bytes(const Linear& w) { return w.dtype->size(w.in * kPanel); }
int64_t packed_bytes(const Linear& w) {
    const int64_t bytes = (w.out + kPanel - 1) / kPanel * panel_bytes(w);
    return (bytes + kLine - 1) / kLine * kLine;
}

/// Identifies a matrix: equal keys share a copy.
auto key_of(const Linear& w) {
    return std::tuple(w.weight, w.in, w.out, w.layout, w.stride, w.group, w.group_stride);
}

/// Transposes rows [first, first + count) stored [out, in]; T: a stored value.
template <class T>
void transpose_rows(const Linear& w, int64_t first, int64_t count, std::byte* panel) {
    constexpr int64_t kTogether = 32;  // inputs per step: they stay in the first-level cache
    T* const to = reinterpret_cast<T*>(panel);
    for (int64_t k0 = 0; k0 < w.in; k0 += kTogether)
        for (int64_t i = 0; i < count; ++i) {
            const T* const row = reinterpret_cast<const T*>(w.row(first + i));
            for (int64_t k = k0; k < std::min(k0 + kTogether, w.in); ++k) to[k * kPanel + i] = row[k];
        }
}

/// Packs the panel that begins with output `first`; the target must be zero.
void pack_panel(const Linear& w, int64_t first, std::byte* panel) {
    const int64_t count = std::min<int64_t>(kPanel, w.out - first);
    if (w.layout == WeightLayout::in_out)
        for (int64_t k = 0; k < w.in; ++k)
            std::memcpy(panel + w.dtype->size(k * kPanel), w.row(k) + w.dtype->size(first),
                        w.dtype->size(count));
    else
        (w.dtype->bytes == 1   ? transpose_rows<uint8_t>
         : w.dtype->bytes == 2 ? transpose_rows<uint16_t>
                               : transpose_rows<float>)(w, first, count, panel);
}

/// Lowers the calling thread's priority: Linux keeps it per thread.
void give_way() {
#if defined(__linux__)
    setpriority(PRIO_PROCESS, 0, 10);
#endif
}

}  // namespace

PackedWeights::PackedWeights(const std::vector<Linear*>& matrices) {
    std::map<decltype(key_of({})), Place*> known;
    for (Linear* w : matrices) {
        if (!*w || w->dtype->block > 1 || w->in == 0 || w->out == 0) continue;
        Place*& place = known[key_of(*w)];
        if (!place) {
            place = &places_.emplace_back(*w, bytes_);
            bytes_ += packed_bytes(*w);
        }
        w->packed = &place->panels;
    }
}

PackedWeights::~PackedWeights() {
    stop_ = true;
    wait();
}

bool PackedWeights::fits(int64_t bytes) { return 2 * bytes <= available_memory(); }

void PackedWeights::start() {
    if (bytes_ == 0 || started_.exchange(true)) return;
    try {
        thread_ = std::thread([this] {  // what is packed when memory runs out is used
            static_cast<void>(guarded([this]() -> Status {
                pack_all();
                return success();
            }));
        });
    } catch (const std::exception&) {  // no thread or no memory available
    }
}

void PackedWeights::wait() {
    if (thread_.joinable()) thread_.join();
}

void PackedWeights::pack_all() {
    give_way();
    if (!fits(bytes_)) return;
    pages_ = Pages(bytes_);
    if (!pages_.data()) return;
    for (Place& place : places_)
        if (!fits(bytes_ - place.begin) || !pack(place)) return;
}

bool PackedWeights::pack(Place& place) {
    const Linear& w = place.matrix;
    std::byte* const to = pages_.data() + place.begin;
    for (int64_t first = 0; first < w.out; first += kPanel) {
        if (stop_) return false;
        pack_panel(w, first, to + w.dtype->size(first * w.in));
    }
    place.panels.store(to, std::memory_order_release);
    return true;
}

}  // namespace headlight
