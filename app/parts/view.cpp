#include "parts/view.h"

namespace headlight {

bool reads_text(const Model& m) { return !m.config.can.read_image; }
const char* cannot_run(const Model& m) {
    return m.weights.stacks.empty() && !m.engine ? "A trace holds no weights, which this view needs."
                                                 : nullptr;
}
const char* no_weights(const Model& m) {
    if (!m.weights.stacks.empty()) return nullptr;
    return m.engine ? "This view needs the weights here; those of an engine are in another process."
                    : cannot_run(m);
}

}  // namespace headlight
