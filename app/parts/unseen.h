// Names the strongest keys that a long text hides: "↑ 0 In 0.994".
#pragma once

#include <functional>
#include <vector>

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

inline constexpr float kUnseenLine = 24, kLeastMarked = 100;  // height of a line of marks; of a view with two

struct UnseenKey {
    int key;
    float weight;
};

/// Returns the strongest keys of [begin, end), strongest first; none whose weight is negligible.
std::vector<UnseenKey> strongest_keys(const std::function<float(int)>& weight, int begin, int end);

/// Draws a mark of each key that fits in a line; returns the clicked key, or −1.
int draw_unseen(Scene& scene, Rect line, const std::string& arrow, const std::vector<UnseenKey>& keys);

}  // namespace headlight
