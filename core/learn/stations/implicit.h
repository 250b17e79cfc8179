// Station "Implicit attention": where a head attends, and what the output depends on.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ImplicitState {
    int after = kMaxLayers;  // layer whose output is differentiated; the last if there are fewer
    static constexpr int kMaxLayers = 63;

    void visit(ControlVisitor& v);
};

Result<Page> implicit_page(const StationInput& input, const ImplicitState& state, ThreadPool& pool);

}  // namespace headlight::learn
