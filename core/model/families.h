// The table of model families: the only place to add one. How: core/model/README.md.
#pragma once

#include <span>
#include <string>

#include "model/loading/binder.h"
#include "model/loading/config_reader.h"

namespace headlight {

/// The context where positions set no longest text (ALiBi, relative ones).
inline constexpr int kNoLongestText = 1 << 15;

/// One family of checkpoints: how its config is spelled and what its tensors are called.
struct Family {
    const char* model_type;  // "gpt2"
    const char* name;        // "GPT-2"
    Result<ModelConfig> (*read_config)(const Json& root, const std::string& file);
    Result<ModelWeights> (*bind_weights)(WeightStore& store, const ModelConfig& config);
};

std::span<const Family> families();

/// The family of a model_type, or nullptr.
const Family* find_family(const std::string& model_type);

/// "GPT-2, …", for messages.
std::string family_list();

// One file per family, or per group of families with the same layers; each defines its rows.
extern const Family kGpt2, kGptNeox, kLlama, kMistral, kQwen2, kQwen3, kGemma, kGemma2, kPhi, kOpt, kBloom;
extern const Family kBert, kDistilBert, kRoberta, kXlmRoberta, kCamembert, kElectra, kAlbert, kModernBert;
extern const Family kMarian, kBart, kT5, kMt5;
extern const Family kVit;

}  // namespace headlight
