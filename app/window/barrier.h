// The one barrier of the window's thread.
#pragma once

#include <functional>
#include <string>

#include "base/check.h"

namespace headlight {

/// Turns that throw are given up one by one, until too many do so in a row.
class Barrier {
public:
    /// turn(), which returns whether the window is done. What it throws becomes what `told` is called with,
    /// and the turn counts as one that did nothing; an error where turn after turn throws.
    Result<bool> pass(const std::function<Result<bool>()>& turn,
                      const std::function<void(const std::string&)>& told) {
        constexpr int kMaxFailures = 3;
        Result<bool> done = false;
        const Status whole = guarded([&] {
            done = turn();
            return success();
        });
        failed_ = whole ? 0 : failed_ + 1;
        if (whole) return done;
        told(whole.error().message);
        return failed_ < kMaxFailures ? Result<bool>(false) : whole.error();
    }

private:
    int failed_ = 0;  // turns, one after another
};

}  // namespace headlight
