#include "parts/view.h"

#include "model/engine.h"

namespace headlight {

bool reads_text(const Model& m) { return !m.config.can.read_image; }
const char* cannot_run(const Model& m) {
    return m.weights.stacks.empty() && !m.engine ? "A trace holds no weights, which this view needs."
                                                 : nullptr;
}
const char* no_weights(const Model& m) {
    if (weights_come(m)) return nullptr;
    return m.engine ? m.engine->withheld().c_str() : cannot_run(m);
}

}  // namespace headlight
