// Finds commands for the palette.
#pragma once

#include "session/commands/command.h"

namespace headlight {

/// A command with its words.
struct Offer {
    const Command* command = nullptr;
    std::string words;
    std::string label;              // "Theme: dark"
    const char* why_not = nullptr;  // why it is unavailable; null: available
    bool asks = false;              // needs more input: "Go to head LAYER.HEAD"
};

/// Rows that match the typed text, best first: each typed word starts a word of the label or name, occurs
/// within it, or its letters occur in order. A complete line ("head 2.0") comes first. Rows that do not apply
/// are left out; unavailable ones come last.
std::vector<Offer> palette_offers(std::span<const Command> table, const CommandContext& context,
                                  const std::string& typed);

}  // namespace headlight
