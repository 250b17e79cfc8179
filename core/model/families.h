// Tabulates the model families; core/model/README.md says how to add one.
#pragma once

#include <span>
#include <string>

#include "model/loading/binder.h"
#include "model/loading/config_reader.h"

namespace headlight {

/// Bounds the context where positions set no limit (ALiBi, relative).
inline constexpr int kNoLongestText = 1 << 15;

/// Describes one family of checkpoints: how to read its config and bind its tensors.
struct Family {
    const char* model_type;  // "gpt2"
    const char* name;        // "GPT-2"
    Result<ModelConfig> (*read_config)(const Json& root, const std::string& file);
    Result<ModelWeights> (*bind_weights)(WeightStore& store, const ModelConfig& config);
};

std::span<const Family> families();

const Family* find_family(const std::string& model_type);

/// Returns "GPT-2, …", for messages.
std::string family_list();

// One file per family, or per group of families with the same layers, defines these rows.
extern const Family kGpt2, kGptNeox, kLlama, kMistral, kQwen2, kQwen3, kGemma, kGemma2, kPhi, kOpt, kBloom;
extern const Family kBert, kDistilBert, kRoberta, kXlmRoberta, kCamembert, kElectra, kAlbert, kModernBert;
extern const Family kMarian, kBart, kT5, kMt5;
extern const Family kVit;

}  // namespace headlight
