// Catches the exceptions of the window's thread, in one place.
#pragma once

#include <functional>
#include <string>

#include "base/check.h"

namespace headlight {

/// Skips turns that throw, until too many do so in a row.
class Barrier {
public:
    /// Calls turn(), which returns whether the window is done. An exception goes to `report`, and the turn
    /// counts as idle; returns an error when turn after turn throws.
    Result<bool> pass(const std::function<Result<bool>()>& turn,
                      const std::function<void(const std::string&)>& report) {
        constexpr int kMaxFailures = 3;
        Result<bool> done = false;
        const Status whole = guarded([&] {
            done = turn();
            return success();
        });
        failed_ = whole ? 0 : failed_ + 1;
        if (whole) return done;
        report(whole.error().message);
        return failed_ < kMaxFailures ? Result<bool>(false) : whole.error();
    }

private:
    int failed_ = 0;  // consecutive turns
};

}  // namespace headlight
