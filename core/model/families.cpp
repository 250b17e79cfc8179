// Lists the model families.
#include "model/families.h"

#include <algorithm>
#include <cctype>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

// clang-format off
const Family* const kFamilies[] = {
    &kGpt2,
    &kGptNeox,
    &kLlama,
    &kMistral,
    &kQwen2,
    &kQwen3,
    &kGemma,
    &kGemma2,
    &kPhi,
    &kOpt,
    &kBloom,
    &kBert,
    &kDistilBert,
    &kRoberta,
    &kXlmRoberta,
    &kCamembert,
    &kElectra,
    &kAlbert,
    &kModernBert,
    &kModernBertDecoder,
    &kMarian,
    &kBart,
    &kT5,
    &kMt5,
    &kVit,
    &kQwen3Next,
    &kQwen35,
    &kQwen35Moe,
    &kQwen35Whole,
    &kQwen35MoeWhole,
    &kOlmoHybrid,
    &kBamba,
    &kGraniteHybrid,
    &kFalconH1,
    &kMamba2,
    &kMamba,
    &kFalconMamba,
    &kJamba,
    &kNemotronH,
    &kLfm2,
    &kLfm2Moe,
    &kMixtral,
    &kQwen2Moe,
    &kQwen3Moe,
    &kOlmoe,
    &kGlm4Moe,
    &kDots1,
    &kMinimaxM2,
    &kPlBart,
    &kMBart,
    &kM2M100,
    &kPegasus,
    &kBigBirdPegasus,
    &kBlenderbot,
    &kBlenderbotSmall,
    &kMinistral,
    &kGemma3Text,
    &kGemma3,
    &kGemma3nText,
    &kGemma3n,
    &kGemma4Text,
    &kGemma4,
    &kVaultGemma,
    &kOlmo2,
    &kOlmo3,
    &kExaone4,
    &kGranite,
    &kSmolLm3,
    &kSeedOss,
    &kArcee,
    &kInternLm3,
    &kCwm,
    &kHyperClovaX,
    &kIQuestCoder,
    &kGlm,
    &kGlm4,
    &kHelium,
    &kErnie45,
    &kPhi3,
    &kCohere,
    &kCohere2,
    &kUmt5,
    &kErnie,
    &kData2VecText,
    &kIBert,
    &kRobertaPreLayerNorm,
    &kXlmRobertaXl,
    &kMegatronBert,
    &kRemBert,
    &kBertGeneration,
    &kRoFormer,
    &kMpnet,
    &kLongformer,
    &kBigBird,
    &kSqueezeBert,
    &kNomicBert,
    &kJinaEmbeddings,
    &kGte,
    &kEuroBert,
    &kEsm,
    &kMvp,
    &kMinistral3,
    &kHunyuan,
    &kNanochat,
    &kGptBigCode,
    &kOpenAiGpt,
    &kGptNeo,
    &kGptj,
    &kCodegen,
    &kFalcon,
    &kMpt,
    &kBioGpt,
    &kXglm,
    &kCtrl,
    &kStarcoder2,
    &kNemotron,
    &kJais2,
    &kPersimmon,
    &kStableLm,
    &kOlmo,
    &kDeepseekV2,
    &kDeepseekV3,
    &kDeepseekV32,
    &kGlmMoeDsa,
    &kGlm4MoeLite,
    &kSarvamMla,
    &kAxk1,
    &kYoutu,
    &kMinicpm3,
    &kFsmt,
    &kLed,
    &kLongT5,
    &kSwitch,
    &kT5Gemma,
    &kSeamless,
    &kSeamless2,
    &kEncoderDecoder,
    &kTrOcr,
    &kWhisper,
    &kEmu3Text,
    &kEmu3,
    &kGotOcr2,
    &kFuyu,
    &kPhi4Multimodal,
    &kMistral3,
    &kLlava,
    &kExaone,
    &kMllamaText,
    &kMllama,
    &kMoshi,
    &kGit,
    &kLayoutLm,
    &kTapas,
    &kRocBert,
    &kModernVBert,
    &kGptNeoxJapanese,
    &kApertus,
    &kApertus1p5,
    &kGptOss,
    &kFlint,
    &kGraniteSwa,
    &kGraniteMoe,
    &kGraniteMoeShared,
    &kGraniteMoeSwa,
    &kAfmoe,
    &kLaguna,
    &kMellum,
    &kLlama4Text,
    &kLlama4,
    &kExaoneMoe,
    &kSolarOpen,
    &kSarvamMoe,
    &kHyV3,
    &kErnie45Moe,
    &kFlexOlmo,
    &kAriaText,
    &kKolibri,
    &kHunyuanMoe,
    &kCohere2Moe,
    &kPhiMoe,
    &kDeberta,
    &kDebertaV2,
    &kXlm,
    &kFlaubert,
    &kLuke,
    &kEsmc,
    &kDinov2,
    &kDinov2Registers,
};
// clang-format on

}  // namespace

std::span<const Family* const> families() { return kFamilies; }

const Family* find_family(const std::string& model_type) {
    for (const Family* f : families())
        if (model_type == f->model_type) return f;
    return nullptr;
}

namespace {

/// Joins names in the order of their letters, each once.
std::string listed(std::vector<std::string> names) {
    const auto letters = [](std::string name) {
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        return name;
    };
    std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return std::pair(letters(a), a) < std::pair(letters(b), b);
    });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

}  // namespace

std::string family_list() {
    std::vector<std::string> names;
    for (const Family* f : families()) names.push_back(f->name);
    const std::vector<std::string> all = names;  // "Gemma 3" stands for "Gemma 3 (text part)" too
    std::erase_if(names, [&](const std::string& name) {
        const size_t part = name.find(" (text part)");
        return part != std::string::npos && contains(all, name.substr(0, part));
    });
    return listed(std::move(names));
}

Result<const Family*> gguf_family(const Gguf& file, const std::string& name) {
    const Json& architecture = file.value("general.architecture");
    if (!architecture.is_string())
        return Error{name +
                     " does not say its general.architecture; convert the model with a current "
                     "converter."};
    for (const Family* f : families())
        for (const char* own : {f->gguf.name, f->gguf.also})
            if (*own && architecture == own) return f;
    return Error{name + ": the architecture " + in_quotes(architecture.get<std::string>()) +
                 " is not one that Headlight opens from GGUF; it opens " + gguf_list() + "."};
}

std::string gguf_list() {
    std::vector<std::string> names;
    for (const Family* f : families())
        for (const char* own : {f->gguf.name, f->gguf.also})
            if (*own) names.emplace_back(own);
    return listed(std::move(names));
}

}  // namespace headlight
