// What the palette offers for what was typed.
#pragma once

#include "session/commands/command.h"

namespace headlight {

/// A command with the words that it would be carried out with.
struct Offer {
    const Command* command = nullptr;
    std::string words;
    std::string label;              // "Theme: dark"
    const char* why_not = nullptr;  // why it cannot be done now; null: it can
    bool asks = false;              // what it needs is still to be typed: "Go to head LAYER.HEAD"
};

/// The rows of the table that fit what was typed, best first: each typed word is the beginning of a word of
/// the label or name, or stands within it, or its letters stand in it one after another. A whole line ("head
/// 2.0") comes first. Rows that just do not apply are left out; those that cannot be done now come last.
std::vector<Offer> palette_offers(std::span<const Command> table, const CommandContext& context,
                                  const std::string& typed);

}  // namespace headlight
