// Station "Implicit attention": where a head attends, and what the output depends on.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ImplicitState {
    int after = kMaxLayers;  // layer whose output is differentiated; the last if there are fewer
    static constexpr int kMaxLayers = 63;

    void visit(ControlVisitor& v);
};

/// Returns the head and word of telling_look; of a vision model, the class token, which the answer rests on.
std::optional<TellingCell> telling_nudge(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool);

Result<Page> implicit_page(const StationInput& input, const ImplicitState& state, ThreadPool& pool);

}  // namespace headlight::learn
