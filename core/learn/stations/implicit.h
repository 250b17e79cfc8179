// Station "Implicit attention": what a head looks at, and what the output answers to.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ImplicitState {
    int after = kMaxLayers;  // the layer whose output is asked; the last where there are fewer
    static constexpr int kMaxLayers = 63;

    void visit(ControlVisitor& v);
};

Result<Page> implicit_page(const StationInput& input, const ImplicitState& state, ThreadPool& pool);

}  // namespace headlight::learn
