// Thumbnails of all heads, at their size on screen.
#pragma once

#include <vector>

#include "gpu/texture.h"

namespace headlight {

/// Added to an entry of a mixing matrix's thumbnail, which is a place 0 … 1 in the colors of signed values.
inline constexpr float kSignedEntry = 2;

/// Square thumbnails side by side in one matrix. Precomputes what each pixel shows, so that a software
/// renderer need not look at every value in each frame; values much enlarged are drawn directly.
class Thumbnails {
public:
    struct Atlas {
        GLuint texture = 0;
        int t = 0;          // entries along a thumbnail
        float covered = 1;  // per pixel, along a side
        GLuint sinks = 0;   // of every query; 0: no head has a sink
        int queries = 0;    // of a thumbnail, in `sinks`
    };

    /// Takes [rows · t, columns · t] values, and [rows · t, columns] weights of sinks, negative where a head
    /// has none; empty: no head has one.
    void set(Matrix values, int t, const Matrix& sinks);
    explicit operator bool() const { return t_ > 0; }
    bool has_sinks() const { return bool(sinks_); }
    /// For thumbnails of this many pixels a side; valid until two other sizes are requested.
    Atlas at(float side) const;

private:
    struct Fitted {
        float side;
        Texture texture;
    };
    Matrix values_;
    int t_ = 0;
    Texture sinks_;
    mutable Texture whole_;
    mutable std::vector<Fitted> fitted_;  // recent sizes: the list's and a view's
};

/// Thumbnails of t entries a side on `side` pixels: the maximum of what each pixel covers.
Matrix fit_thumbnails(const Matrix& values, int t, float side);

}  // namespace headlight
