#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace headlight {

namespace {
constexpr int kWidth = 32;
constexpr auto kPause = std::chrono::milliseconds(100);
}  // namespace

Progress::Progress(int total, bool quiet)
    : total_(std::max(total, 1)), shown_(!quiet && total > 1 && isatty(STDERR_FILENO)) {}

Progress::~Progress() {
    if (shown_) std::fprintf(stderr, "\r%*s\r", kWidth + 24, "");
}

void Progress::step() {
    const int done = ++done_;
    if (!shown_) return;
    std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < kPause && done < total_) return;
    drawn_ = now;
    draw(done);
}

void Progress::draw(int done) {
    const int filled = kWidth * done / total_;
    std::string bar(filled, '#');
    bar.resize(kWidth, '.');
    std::fprintf(stderr, "\r[%s] %d of %d", bar.c_str(), done, total_);
    std::fflush(stderr);
}

}  // namespace headlight
