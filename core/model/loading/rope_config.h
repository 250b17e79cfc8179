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
    int usual_original = 0;          // of original_max_position_embeddings, in classes that have it; 0: none
    bool reads_head_dim = true;      // false: the class sets head_dim itself (latent attention)
    bool longrope = false;           // the class knows no other scaling, and calls it "su" and "yarn" too
};

/// Reads the rotary positions of a class that has one kind: from rope_scaling if set, else from
/// rope_parameters; missing entries from the spellings of older files.
Rope read_rope(ConfigReader& r, const ModelConfig& config, int d_head, const RopeKeys& keys = {});

/// Reads those of one kind of layer ("full_attention" or "sliding_attention") of a class that rotates them
/// differently: from its entry of rope_parameters; scaled: rope_scaling applies to this kind.
Rope read_rope_of_kind(ConfigReader& r, const ModelConfig& config, int d_head, const char* kind,
                       const RopeKeys& keys, bool scaled);

}  // namespace headlight
