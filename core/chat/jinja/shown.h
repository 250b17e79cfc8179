// Writes values as text: as Python's str(), repr() and json.dumps() do.
#pragma once

#include <optional>

#include "chat/jinja/value.h"

namespace headlight::jinja {

/// Returns repr() of a float.
std::string float_text(double value);

/// Returns str(value); a text is itself.
Text shown(Budget& budget, const Value& value);
void add_repr(Budget& budget, TextBuilder& out, const Value& value);
std::string quoted_repr(std::string_view text);

struct JsonStyle {
    bool ascii = false, sorted = false;
    std::optional<std::string> indent;
    Text item_end = Text(", "), key_end = Text(": ");
};
/// Returns json.dumps(value). What a container adds (brackets, commas) has the container's origin.
Text json_of(Budget& budget, const Value& value, const JsonStyle& style);

}  // namespace headlight::jinja
