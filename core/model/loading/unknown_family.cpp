// Finds in a configuration what Headlight does not compute.
#include "model/loading/unknown_family.h"

#include <algorithm>
#include <vector>

#include "base/quoted.h"

namespace headlight {

namespace {

/// Names a structure by the keys of configurations that have it (transformers 5.24).
struct Structure {
    const char* name;
    std::vector<const char*> keys;
};

const std::vector<Structure>& structures() {
    static const std::vector<Structure> all{
        {"state spaces",
         {"mamba_d_state", "mamba_n_heads", "ssm_state_size", "state_size", "d_state", "mamba_d_conv"}},
        {"linear attention", {"linear_num_value_heads", "linear_key_head_dim", "linear_attn_config"}},
        {"recurrent layers", {"lru_width", "rescale_every", "slstm_at", "decay_low_rank_dim"}},
        {"short convolutions", {"conv_L_cache", "conv_kernel_size"}},
        {"attention to chosen blocks",
         {"block_size", "attention_window", "index_topk", "num_buckets_per_dim"}},
        {"several residual streams (AltUp)", {"altup_num_inputs"}},
        {"images or sounds beside text", {"vision_config", "audio_config", "image_token_id", "mel_bins"}},
        {"spectrograms", {"num_mel_bins"}},
    };
    return all;
}

bool mentions(const Json& root, const Structure& structure) {
    return std::any_of(structure.keys.begin(), structure.keys.end(), [&](const char* key) {
        const auto it = root.find(key);
        return it != root.end() && !it->is_null() && *it != 0 && *it != false;
    });
}

}  // namespace

Error unknown_family(const Json& root, const std::string& type, const std::string& name) {
    std::string needs;
    const Json* part = json_find(root, or_null("text_config"));
    const Json text = part && part->is_object() ? *part : Json::object();
    for (const Structure& structure : structures())
        if (mentions(root, structure) || mentions(text, structure))
            needs += (needs.empty() ? "" : ", ") + std::string(structure.name);
    return Error{
        name + ": the model_type " + in_quotes(shortened(type)) +
        (needs.empty() ? " is not one that Headlight computes"
                       : " needs " + needs + ", which Headlight does not compute") +
        "; run it in Python, record it with headlight.trace(model, tokenizer, text), and open that trace."};
}

}  // namespace headlight
