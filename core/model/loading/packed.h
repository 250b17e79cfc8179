// Packs a model's weights once for the kernels, beside the mapped file.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "model/linear.h"

namespace headlight {

/// Copies matrices of single values to [panel][in][kPanel] (Linear::packed), one after another on a
/// low-priority thread. Products are the same bits before, during and after. Leaves encoded weights in place:
/// they are few bytes to read.
class PackedWeights {
public:
    /// Reserves space for each matrix, shared by equal ones; copies nothing yet. The bytes that they point to
    /// must outlive this, and this every copy of them that multiplies.
    explicit PackedWeights(const std::vector<Linear*>& matrices);
    /// Ends the thread within a panel.
    ~PackedWeights();
    PackedWeights(const PackedWeights&) = delete;
    PackedWeights& operator=(const PackedWeights&) = delete;

    int64_t bytes() const { return bytes_; }
    /// Returns whether memory has room for copies of this many bytes with as many left free.
    static bool fits(int64_t bytes);

    /// Starts packing, the first time. If memory or threads run out, the remaining matrices stay in place.
    void start();
    void wait();

private:
    struct Place {
        Place(const Linear& w, int64_t at) : matrix(w), begin(at) {}
        Linear matrix;
        int64_t begin;  // offset in pages_
        std::atomic<const std::byte*> panels{nullptr};
    };
    void pack_all();
    bool pack(Place& place);

    std::deque<Place> places_;
    int64_t bytes_ = 0;
    Pages pages_;
    std::atomic<bool> started_{false}, stop_{false};
    std::thread thread_;
};

}  // namespace headlight
