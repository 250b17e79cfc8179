// Tabulates the pre-tokenizers of GGUF files.
#include "tokenizer/gguf_splits.h"

#include <algorithm>
#include <iterator>

#include "tokenizer/pre_tokenizer.h"

namespace headlight {

namespace {

using Patterns = std::span<const char* const>;

// clang-format off
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define SIGNS R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define LETTERS R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CASED(ending) R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" ending R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" ending
constexpr const char
    *kLlama3 = CONTRACTIONS "|" LETTERS R"(|\p{N}{1,3})" SIGNS SPACES,
    *kQwen2Split = CONTRACTIONS "|" LETTERS R"(|\p{N})" SIGNS SPACES,
    *kQwen35 = CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" SPACES,
    *kUfakzeka = LETTERS R"(|\p{N})" SIGNS SPACES,
    *kTekken = CASED("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES,
    *kGpt4o = CASED(CONTRACTIONS "?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES,
    *kYoutu = CASED(CONTRACTIONS "?") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES,
    *kBailing = R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
    *kSeedCoder = CONTRACTIONS "|" LETTERS R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)" SPACES,
    *kExaoneMoe = CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)",
    *kJais2 = CONTRACTIONS "|" LETTERS R"(|\p{N}{1,3})" SIGNS R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})",
    *kMiniCpm5 = CONTRACTIONS "|" LETTERS R"(|\p{N}+)" SIGNS SPACES,
    *kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)",
    *kDeepSeek3 = R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" SPACES;
// clang-format on

constexpr const char *kDigit = R"(\p{N})", *kThreeDigits = R"(\p{N}{1,3})", *kTriples = "[0-9][0-9][0-9]",
                     *kCjk = "[一-龥\u3040-ゟ゠-ヿ]+", *kIdeographs = "[一-龥ࠀ-一가-\uD7FF]+",
                     *kLines = R"([^\n]+|[\n]+)";
constexpr const char* kGpt2Row[] = {kGpt2Pattern};
constexpr const char* kDefaultRow[] = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Pattern, R"(\p{N}+)", kTriples};
constexpr const char* kFalconRow[] = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Pattern, kTriples};
constexpr const char* kDigitsRow[] = {kDigit, kGpt2Pattern};
constexpr const char* kLlama3Row[] = {kLlama3};
constexpr const char* kQwen2Row[] = {kQwen2Split};
constexpr const char* kQwen35Row[] = {kQwen35};
constexpr const char* kUfakzekaRow[] = {kUfakzeka};
constexpr const char* kTekkenRow[] = {kTekken};
constexpr const char* kGpt4oRow[] = {kGpt4o};
constexpr const char* kTinyAyaRow[] = {R"(\d{1,3}(?=(?:\d{3})*\b))", kGpt4o};
constexpr const char* kYoutuRow[] = {
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]"
    "+",
    kYoutu};
constexpr const char* kBailingRow[] = {kBailing};
constexpr const char* kSeedCoderRow[] = {kSeedCoder};
constexpr const char* kExaoneMoeRow[] = {kExaoneMoe};
constexpr const char* kJais2Row[] = {kJais2};
constexpr const char* kMiniCpm5Row[] = {kThreeDigits, kMiniCpm5};
constexpr const char* kBloomRow[] = {kBloom};
constexpr const char* kVikingRow[] = {kBloom, kDigit};
constexpr const char* kDeepSeek3Row[] = {kThreeDigits, kCjk, kDeepSeek3};
constexpr const char* kDeepSeekCoderRow[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kIdeographs,
                                             kDigit};
constexpr const char* kLagunaRow[] = {kLines, kQwen2Split};

/// Lists names in one string, between spaces.
struct NamedRow {
    std::string_view names;
    SplitRow row;
};
constexpr NamedRow kRows[] = {
    {" default ", {kDefaultRow}},
    {" llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano ",
     {.patterns = kLlama3Row, .begin = true, .whole_words = true}},
    {" smaug-bpe dbrx glm4 chatglm-bpe ", {kLlama3Row}},
    {" qwen2 deepseek-r1-qwen kormo f2llmv2 megrez ", {.patterns = kQwen2Row, .composed = true}},
    {" stablelm2 hunyuan solar-open grok-2 ", {kQwen2Row}},
    {" qwen35 ", {.patterns = kQwen35Row, .composed = true}},
    {" ufakzeka ", {kUfakzekaRow}},
    {" gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert exaone4 mpt "
     "olmo jais "
     "trillion granite-docling jina-v1-en jina-v2-code roberta-bpe ",
     {kGpt2Row}},
    {" starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 ", {kDigitsRow}},
    {" falcon ", {kFalconRow}},
    {" deepseek-coder ", {kDeepSeekCoderRow}},
    {" deepseek-v3 hunyuan-dense joyai-llm hy_v4 ", {kDeepSeek3Row}},
    {" poro-chat bloom gpt3-finnish ", {kBloomRow}},
    {" viking ", {kVikingRow}},
    {" tekken ", {.patterns = kTekkenRow, .begin = true, .whole_words = true}},
    {" gpt-4o llama4 kanana2 talkie minimax-m2 ", {kGpt4oRow}},
    {" tiny_aya cohere2moe ", {kTinyAyaRow}},
    {" youtu ", {.patterns = kYoutuRow, .whole_words = true}},
    {" bailingmoe bailingmoe2 llada-moe ", {kBailingRow}},
    {" seed-coder ", {kSeedCoderRow}},
    {" exaone-moe ", {kExaoneMoeRow}},
    {" jais-2 ", {kJais2Row}},
    {" minicpm5 ", {.patterns = kMiniCpm5Row, .whole_words = true}},
    {" laguna ", {kLagunaRow}},
};

}  // namespace

const SplitRow* split_named(std::string_view name) {
    if (name.empty() || name.find(' ') != std::string_view::npos) return nullptr;
    const std::string between = " " + std::string(name) + " ";
    const auto* at = std::find_if(std::begin(kRows), std::end(kRows), [&](const NamedRow& r) {
        return r.names.find(between) != std::string_view::npos;
    });
    return at == std::end(kRows) ? nullptr : &at->row;
}

}  // namespace headlight
