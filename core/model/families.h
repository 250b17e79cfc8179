// Tabulates the model families; core/model/README.md says how to add one.
#pragma once

#include <span>
#include <string>

#include "model/loading/binder.h"
#include "model/loading/config_reader.h"
#include "model/loading/gguf_names.h"

namespace headlight {

/// Bounds the context where positions set no limit (ALiBi, relative).
inline constexpr int kNoLongestText = 1 << 15;

/// Describes one family of checkpoints: how to read its config, and how its tensors are called.
struct Family {
    const char* model_type;  // "gpt2"
    const char* name;        // "GPT-2"
    Result<ModelConfig> (*read_config)(const Json& root, const std::string& file);
    TensorNames tensors;
    GgufForm gguf = {};
};

std::span<const Family* const> families();

const Family* find_family(const std::string& model_type);

/// Returns "GPT-2, …", for messages.
std::string family_list();

/// Returns the family of a GGUF file, by its general.architecture.
Result<const Family*> gguf_family(const Gguf& file, const std::string& name);
/// Returns "gpt2, llama, …": the architectures opened from GGUF, for messages and documents.
std::string gguf_list();

// One file per family, or per group of families with the same layers, defines these rows.
extern const Family kGpt2, kGptNeox, kLlama, kMistral, kQwen2, kQwen3, kGemma, kGemma2, kPhi, kOpt, kBloom;
extern const Family kGemma4Text, kGemma4, kGemma3nText, kGemma3n;
extern const Family kGemma3Text, kGemma3, kVaultGemma, kOlmo2, kOlmo3, kExaone4, kGranite, kHyperClovaX;
extern const Family kSmolLm3, kSeedOss, kInternLm3, kIQuestCoder, kArcee, kGlm, kGlm4, kHelium, kErnie45;
extern const Family kPhi3, kMinistral, kMinistral3, kCwm, kCohere, kCohere2, kHunyuan, kNanochat;
extern const Family kGptBigCode, kOpenAiGpt, kGptNeo, kGptj, kCodegen, kFalcon, kMpt, kBioGpt, kCtrl, kXglm,
    kModernBertDecoder, kBertGeneration;
extern const Family kStarcoder2, kNemotron, kJais2, kPersimmon, kStableLm, kOlmo;
extern const Family kBert, kDistilBert, kRoberta, kXlmRoberta, kCamembert, kElectra, kAlbert, kModernBert;
extern const Family kErnie, kData2VecText, kIBert, kRobertaPreLayerNorm, kXlmRobertaXl, kMegatronBert,
    kRemBert;
extern const Family kRoFormer, kMpnet, kLongformer, kBigBird, kSqueezeBert;
extern const Family kNomicBert, kJinaEmbeddings, kGte, kEuroBert, kEsm;
extern const Family kDeberta, kDebertaV2, kXlm, kFlaubert, kLuke, kEsmc, kDinov2, kDinov2Registers;
extern const Family kMarian, kBart, kPlBart, kMBart, kM2M100, kPegasus, kBigBirdPegasus;
extern const Family kBlenderbot, kBlenderbotSmall, kMvp;
extern const Family kT5, kMt5, kUmt5;
extern const Family kFsmt, kLed, kLongT5, kSwitch, kT5Gemma, kSeamless, kSeamless2, kEncoderDecoder;
extern const Family kTrOcr, kWhisper;
extern const Family kEmu3Text, kEmu3, kGotOcr2, kFuyu, kPhi4Multimodal, kMistral3, kLlava, kExaone,
    kMllamaText, kMllama, kMoshi;
extern const Family kGit, kLayoutLm, kTapas, kRocBert, kModernVBert, kGptNeoxJapanese, kApertus, kApertus1p5;
extern const Family kVit;
extern const Family kDeepseekV2, kDeepseekV3, kDeepseekV32, kGlmMoeDsa, kGlm4MoeLite, kSarvamMla, kAxk1,
    kYoutu, kMinicpm3;
extern const Family kGptOss, kFlint, kGraniteSwa, kGraniteMoe, kGraniteMoeShared, kGraniteMoeSwa, kPhiMoe;
extern const Family kAfmoe, kLaguna, kMellum, kLlama4, kLlama4Text, kExaoneMoe, kSolarOpen, kSarvamMoe, kHyV3,
    kErnie45Moe, kFlexOlmo, kAriaText, kKolibri, kHunyuanMoe, kCohere2Moe;
extern const Family kQwen3Next, kQwen35, kQwen35Moe, kQwen35Whole, kQwen35MoeWhole, kOlmoHybrid, kBamba,
    kGraniteHybrid, kMamba2, kNemotronH, kLfm2, kLfm2Moe, kMamba, kFalconMamba, kJamba, kFalconH1;
extern const Family kMixtral, kQwen2Moe, kQwen3Moe, kOlmoe, kGlm4Moe, kDots1, kMinimaxM2;

}  // namespace headlight
