// The weights of a model laid out once for the kernels, beside the file that they come from.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "model/linear.h"

namespace headlight {

/// Copies of matrices of single values, [panel][in][kPanel] (Linear::packed). A thread of its own makes them,
/// one after another, and leaves the processor to everything else; products are the same bits before,
/// meanwhile and after. Encoded weights stay as they are: few bytes are read where they lie.
class PackedWeights {
public:
    /// Gives each matrix a place, and equal ones the same; nothing is copied yet. The bytes that they point
    /// to must live as long as this, and this as long as any copy of them multiplies.
    explicit PackedWeights(const std::vector<Linear*>& matrices);
    /// Ends the thread within a panel.
    ~PackedWeights();
    PackedWeights(const PackedWeights&) = delete;
    PackedWeights& operator=(const PackedWeights&) = delete;

    int64_t bytes() const { return bytes_; }
    /// Whether memory has room for copies of so many bytes: as much again stays free.
    static bool fits(int64_t bytes);

    /// Begins, the first time. Where memory or threads have run out, matrices stay as they are.
    void start();
    /// Returns when what start() began has ended.
    void wait();

private:
    struct Place {
        Place(const Linear& w, int64_t at) : matrix(w), begin(at) {}
        Linear matrix;
        int64_t begin;  // in pages_
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
