// Tabulates position schemes: how models encode positions.
#pragma once

#include <string>

#include "model/model.h"

namespace headlight {

struct PositionSchemeRow {
    PositionScheme scheme;
    const char* name;   // "rotary"
    const char* title;  // in the diagram of a model: "rotary positions turn q and k"
    std::string (*shape)(const ModelConfig& config, const StackConfig& stack);  // of its parameters
};

const PositionSchemeRow& position_scheme(PositionScheme scheme);

}  // namespace headlight
