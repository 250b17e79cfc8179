#include "window/pointer.h"

namespace headlight {

void PointerEvents::move(double x, double y) {
    const bool joins = !events_.empty() &&
                       events_.back().down == (events_.size() > 1 ? events_[events_.size() - 2] : seen_).down;
    last_.x = float(x);
    last_.y = float(y);
    if (joins)
        events_.back() = last_;
    else
        events_.push_back(last_);
}

void PointerEvents::press(int button, bool down) {
    if (button < 0 || button >= int(last_.down.size()) || last_.down[button] == down) return;
    last_.down[button] = down;
    events_.push_back(last_);
    ++changes_;
}

std::optional<PointerState> PointerEvents::next() {
    if (events_.empty()) return std::nullopt;
    changes_seen_ += seen_.down != events_.front().down;
    seen_ = events_.front();
    events_.pop_front();
    return seen_;
}

}  // namespace headlight
