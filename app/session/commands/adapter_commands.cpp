// Commands of the adapter on the open model: its strength.
#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "hub/adapted.h"
#include "model/loading/adapter.h"
#include "session/commands/commands.h"

namespace headlight {

namespace {

constexpr float kStep = 0.1f;

const char* needs_adapter(const CommandContext& c) {
    if (!c.model()) return needs_model(c);
    return c.model()->adapter ? nullptr : kNoAdapter;
}

/// Applies to its key too: without an adapter the key does nothing.
const char* has_adapter(const CommandContext& c) {
    return c.model() && c.model()->adapter ? needs_adapter(c) : "";
}

Status set_strength(CommandContext& c, const std::string& words) {
    TRY(const double strength, number_within("adapter", words, kLeastStrength, kLargestStrength, false));
    choose_strength(c.session, float(std::round(strength * 100) / 100));
    return success();
}

/// Moves to the next tenth.
void step_strength(CommandContext& c, float by) {
    const float now = strength_of(c.session, *c.model());
    const float next = std::round((now + by) / kStep) * kStep;
    choose_strength(c.session, std::clamp(std::round(next * 100) / 100, kLeastStrength, kLargestStrength));
}

}  // namespace

float strength_of(const Session& session, const Model& model) {
    const Document& d = session.document;
    const auto wanted = split_strength(d.wanted.path);
    const bool same = d.wanted.path == d.open.path || only_strength_differs(d.wanted.path, d.open.path);
    return wanted && same ? wanted->second : model.adapter->info().strength;
}

std::vector<Command> adapter_commands() {
    return in_group(
        "Intervene",
        {also_called("LoRA, PEFT, fine-tuning",
                     row({"adapter STRENGTH", "Set the adapter’s strength",
                          "the adapter at another strength: 0 is the model alone, 1 as trained"},
                         set_strength, needs_adapter)),
         row(
             {"weaken adapter", "Weaken the adapter", "the adapter weaker, or stronger, by 0.1", "["},
             [](CommandContext& c) { step_strength(c, -kStep); }, has_adapter),
         row(
             {"strengthen adapter", "Strengthen the adapter", "the adapter weaker, or stronger, by 0.1", "]"},
             [](CommandContext& c) { step_strength(c, kStep); }, has_adapter)});
}

}  // namespace headlight
