// Numbers by which objects are recognized.
#pragma once

#include <atomic>
#include <cstdint>

namespace headlight {

/// A number that no other object of this run has, a copy included. What was made from an object is recognized
/// by it; by its address it is not, which another object may have later.
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
