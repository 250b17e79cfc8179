#include "parts/view.h"

namespace headlight {

bool reads_text(const Model& m) { return !m.config.can.read_image; }
const char* no_weights(const Model& m) {
    return m.weights.stacks.empty() ? "A trace holds no weights, which this view needs." : nullptr;
}

}  // namespace headlight
