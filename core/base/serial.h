// Identifies objects by serial numbers.
#pragma once

#include <atomic>
#include <cstdint>

namespace headlight {

/// Gives each object of this run a unique number, copies included. Identifies what was made from an object;
/// its address would not, because a later object may reuse it.
class Serial {
public:
    Serial() = default;
    Serial(const Serial&) {}
    Serial& operator=(const Serial&) {
        value_ = next();
        return *this;
    }
    uint64_t value() const { return value_; }

private:
    static uint64_t next() {
        static std::atomic<uint64_t> last = 0;
        return ++last;
    }
    uint64_t value_ = next();  // from 1
};

}  // namespace headlight
