#include "gpu/thumbnails.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {
constexpr double kMaxFitted = 4e6;  // values: 16 MB

/// Returns the larger of two weights, or of two entries of a mixing matrix the one farther from 0.
float stronger_entry(float a, float b) {
    const auto size = [](float v) {
        return v >= kSignedEntry ? kSignedEntry + std::abs(v - kSignedEntry - 0.5f) : v;
    };
    return size(b) > size(a) ? b : a;
}
}  // namespace

Matrix fit_thumbnails(const Matrix& values, int t, float side) {
    HEADLIGHT_CHECK(t > 0 && side > 0 && values.rows() % t == 0 && values.cols() % t == 0);
    const int pixels = int(std::ceil(side)), down = narrow<int>(values.rows() / t),
              across = narrow<int>(values.cols() / t);
    const float covered = float(t) / side;
    const auto first = [&](int pixel) { return std::min(int(float(pixel) * covered), t - 1); };
    const auto count = [&](int pixel) {
        return std::min(int(float(pixel + 1) * covered - 1e-3f), t - 1) - first(pixel) + 1;
    };
    Matrix wide(values.rows(), Index{across} * pixels), out(Index{down} * pixels, wide.cols());
    for (int head = 0; head < across; ++head)
        for (int i = 0; i < pixels; ++i) {
            const auto covers = values.middleCols(Index{head} * t + first(i), count(i));
            for (Index r = 0; r < covers.rows(); ++r)
                wide(r, Index{head} * pixels + i) = covers.row(r).redux(&stronger_entry);
        }
    for (int layer = 0; layer < down; ++layer)
        for (int i = 0; i < pixels; ++i) {
            const auto covers = wide.middleRows(Index{layer} * t + first(i), count(i));
            for (Index c = 0; c < covers.cols(); ++c)
                out(Index{layer} * pixels + i, c) = covers.col(c).redux(&stronger_entry);
        }
    return out;
}

void Thumbnails::set(Matrix values, int t, const Matrix& sinks) {
    values_ = std::move(values);
    t_ = t;
    sinks_ = sinks.size() ? Texture::of_values({&sinks, 1}) : Texture();
    fitted_.clear();
    whole_.reset();
}

Thumbnails::Atlas Thumbnails::at(float side) const {
    const double growth = std::ceil(double(side)) / t_;
    if (growth * double(std::max(values_.rows(), values_.cols())) > Texture::most_side() ||
        growth * growth * double(values_.size()) > kMaxFitted) {
        if (!whole_) whole_ = Texture::of_values({&values_, 1});
        return {whole_.id(), t_, float(t_) / side, sinks_.id(), t_};
    }
    auto found =
        std::find_if(fitted_.begin(), fitted_.end(), [&](const Fitted& f) { return f.side == side; });
    if (found == fitted_.end()) {
        if (fitted_.size() == 2) fitted_.erase(fitted_.begin());
        const Matrix pixels = fit_thumbnails(values_, t_, side);
        found = fitted_.insert(fitted_.end(), {side, Texture::of_values({&pixels, 1})});
    }
    return {found->texture.id(), int(std::ceil(side)), 1, sinks_.id(), t_};
}

}  // namespace headlight
