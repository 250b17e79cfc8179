// How a class of Hugging Face spells its rotary positions, in the precedence of transformers 5.
#pragma once

#include "model/loading/config_reader.h"

namespace headlight {

/// What a class reads beside rope_parameters, and how much of a head it can turn.
struct RopeKeys {
    JsonKey theta = "rope_theta";
    double usual_theta = 10000;
    JsonKey share = or_null("partial_rotary_factor");
    double usual_share = 1;
    enum Turns { whole_head, even_part, any_part } turns = whole_head;
    bool reads_layer_types = false;  // such a class takes rope_parameters for one object per kind of layer
};

/// Rotary positions of a class that has one kind of them: rope_scaling where it says anything, otherwise
/// rope_parameters, and of what is missing there the spellings of older files.
Rope read_rope(ConfigReader& r, const ModelConfig& config, const RopeKeys& keys = {});

/// The same of an object that holds all of it, rope_theta, rope_type and partial_rotary_factor too.
Rope read_rope_parameters(ConfigReader& r, const ModelConfig& config, const Json& parameters,
                          RopeKeys::Turns turns);

/// Puts root[key] under `name` where the object lacks it; `usual` where both do.
void complete_rope(ConfigReader& r, Json& parameters, const char* name, JsonKey key, double usual);

/// "rope_type", which older files call "type".
void complete_rope_type(Json& parameters);

}  // namespace headlight
