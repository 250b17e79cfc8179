// The small pictures of all heads, at the size that is drawn.
#pragma once

#include <vector>

#include "gpu/texture.h"

namespace headlight {

/// Square thumbnails side by side in one matrix. What a pixel shows is looked up once for all frames, because
/// a software renderer would look at every value under each pixel in each; much enlarged, a value covers
/// pixels as it is.
class Thumbnails {
public:
    struct Atlas {
        GLuint texture = 0;
        int t = 0;          // entries along a thumbnail
        float covered = 1;  // by a pixel, along a side
    };

    /// Takes [rows · t, columns · t] values.
    void set(Matrix values, int t);
    explicit operator bool() const { return t_ > 0; }
    /// For thumbnails of so many pixels along a side; valid until the second other size is asked for.
    Atlas at(float side) const;

private:
    struct Fitted {
        float side;
        Texture texture;
    };
    Matrix values_;
    int t_ = 0;
    mutable Texture whole_;
    mutable std::vector<Fitted> fitted_;  // the latest sizes: the list's and a view's
};

/// Thumbnails of t entries a side drawn on `side` pixels: what each pixel covers, its largest.
Matrix fit_thumbnails(const Matrix& values, int t, float side);

}  // namespace headlight
