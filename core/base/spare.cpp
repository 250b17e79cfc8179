// Recycles the memory of matrices.
#include "base/spare.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace headlight {

namespace {

constexpr int64_t kMaxSpare = 256 << 20, kWorthIt = 64 << 10;

int64_t bytes_of(Index entries) { return entries * static_cast<int64_t>(sizeof(float)); }

/// Ordered oldest first.
struct Spares {
    std::mutex mutex;
    std::vector<Matrix> matrices;
    int64_t bytes = 0;
};

/// Never destroyed: threads may outlive main().
Spares& spares() {
    static Spares& all = *new Spares;
    return all;
}

#ifdef HEADLIGHT_SANITIZED  // sanitizers must see uses of freed memory
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

}  // namespace

Matrix spare_matrix(Index rows, Index cols) {
    Matrix out;
    if (bytes_of(rows * cols) >= kWorthIt) {
        Spares& s = spares();
        std::lock_guard lock(s.mutex);
        const auto found = std::find_if(s.matrices.rbegin(), s.matrices.rend(),
                                        [&](const Matrix& m) { return m.size() == rows * cols; });
        if (found != s.matrices.rend()) {
            out = std::move(*found);
            s.matrices.erase(std::next(found).base());
            s.bytes -= bytes_of(out.size());
        }
    }
    out.resize(rows, cols);
    return out;
}

void leave_spare(Matrix&& matrix) noexcept {
    Matrix left = std::move(matrix);
    const int64_t bytes = bytes_of(left.size());
    if (!kKeeps || bytes < kWorthIt || bytes > kMaxSpare) return;
    Spares& s = spares();
    std::lock_guard lock(s.mutex);
    try {
        s.matrices.push_back(std::move(left));
    } catch (const std::bad_alloc&) {
        return;
    }
    s.bytes += bytes;
    size_t old = 0;
    for (; s.bytes > kMaxSpare; ++old) s.bytes -= bytes_of(s.matrices[old].size());
    s.matrices.erase(s.matrices.begin(), s.matrices.begin() + static_cast<std::ptrdiff_t>(old));
}

int64_t free_spares() noexcept {
    Spares& s = spares();
    std::lock_guard lock(s.mutex);
    const int64_t bytes = s.bytes;
    s.matrices.clear();
    s.bytes = 0;
    return bytes;
}

}  // namespace headlight
