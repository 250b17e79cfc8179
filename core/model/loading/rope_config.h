// Reads rotary positions from the config of a Hugging Face class, with the precedence of transformers 5.
#pragma once

#include "model/loading/config_reader.h"

namespace headlight {

/// Holds what a class reads outside rope_parameters, and how much of a head it can rotate.
struct RopeKeys {
    JsonKey theta = "rope_theta";
    double usual_theta = 10000;
    JsonKey share = or_null("partial_rotary_factor");
    double usual_share = 1;
    enum Rotated { whole_head, even_part, any_part } rotated = whole_head;
    bool reads_layer_types = false;  // the class expects one object per layer type in rope_parameters
};

/// Reads the rotary positions of a class that has one kind: from rope_scaling if set, else from
/// rope_parameters; missing entries from the spellings of older files.
Rope read_rope(ConfigReader& r, const ModelConfig& config, const RopeKeys& keys = {});

/// Reads them from one object that also holds rope_theta, rope_type and partial_rotary_factor.
Rope read_rope_parameters(ConfigReader& r, const ModelConfig& config, const Json& parameters,
                          RopeKeys::Rotated rotated);

/// Sets `name` in the object, if it is missing, to root[key], or to `usual` if that is missing too.
void complete_rope(ConfigReader& r, Json& parameters, const char* name, JsonKey key, double usual);

/// Sets "rope_type" from "type", its name in older files.
void complete_rope_type(Json& parameters);

}  // namespace headlight
