// Describes how to reproduce a figure.
#include "figure/methods.h"

#include "base/cast.h"

namespace headlight {

namespace {

/// Spells the first of the active interventions as options do.
std::string interventions_of(const Trace& trace) {
    constexpr int kMaxNamed = 4;
    const auto& changes = trace.request.intervention.changes;
    if (changes.empty()) return "No interventions.";
    std::string out;
    for (int i = 0; i < std::min(isize(changes), kMaxNamed); ++i)
        out += (i ? ", " : "Interventions: ") + change_name(trace.config(), changes[i]);
    const int more = isize(changes) - kMaxNamed;
    return out + (more > 0 ? " and " + std::to_string(more) + " more." : ".");
}

}  // namespace

std::string methods_caption(const Trace& trace, const std::string& shown) {
    const std::string what = trace.model->name + (shown.empty() ? "" : ", " + shown);
    return what + ". Mask: " + trace.request.intervention.mask.label() + ". " + interventions_of(trace) +
           " Headlight " HEADLIGHT_VERSION ".";
}

}  // namespace headlight
