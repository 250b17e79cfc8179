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
    std::string also = "";          // the synonym that matched, where the name did not
};

/// A row by itself, as it is offered without its words.
Offer offer_of(const Command& row, const CommandContext& context);

/// Rows that match the typed text, best first: each typed word starts a word of the label, name or a synonym,
/// occurs within it, or its letters occur in order. A complete line ("head 2.0") comes first. Rows that do
/// not apply are left out; unavailable ones come last.
std::vector<Offer> palette_offers(std::span<const Command> table, const CommandContext& context,
                                  const std::string& typed);

}  // namespace headlight
