// The table of position schemes: how models know where a token stands.
#pragma once

#include <string>

#include "model/model.h"

namespace headlight {

struct PositionSchemeRow {
    PositionScheme scheme;
    const char* name;   // "rotary"
    const char* title;  // in the diagram of a model: "rotary positions turn q and k"
    std::string (*shape)(const ModelConfig& config, const StackConfig& stack);  // of what it holds
};

const PositionSchemeRow& position_scheme(PositionScheme scheme);

}  // namespace headlight
