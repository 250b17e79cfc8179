// Tabulates the tokenizer classes and chooses one.
#include "tokenizer/classes.h"

#include <algorithm>

namespace headlight {

namespace {

constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kEnd = "<|endoftext|>";

Json byte_level(bool prefix, bool use_regex) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", prefix},
            {"trim_offsets", true},
            {"use_regex", use_regex}};
}
Json metaspace(const char* scheme, bool cut) {
    return {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", cut}};
}
Json sequence(const char* list, Json steps) { return {{"type", "Sequence"}, {list, std::move(steps)}}; }
Json precompiled(const Json& charsmap) {
    return {{"type", "Precompiled"}, {"precompiled_charsmap", charsmap}};
}

Result<Json> gpt2_steps(const TokenizerFolder& folder, const Json&) {
    TRY(const bool prefix, folder.flag("add_prefix_space", false));
    return Json{{"pre_tokenizer", byte_level(prefix, true)}};
}

Result<Json> neox_steps(const TokenizerFolder& folder, const Json& charsmap) {
    TRY(Json steps, gpt2_steps(folder, charsmap));
    steps["normalizer"] = {{"type", "NFC"}};
    return steps;
}

Result<Json> qwen2_steps(const TokenizerFolder& folder, const Json&) {
    TRY(const bool prefix, folder.flag(or_null("add_prefix_space"), false));
    const Json cut{{"type", "Split"},
                   {"pattern", {{"Regex", kQwen2Pattern}}},
                   {"behavior", "Isolated"},
                   {"invert", false}};
    return Json{{"normalizer", {{"type", "NFC"}}},
                {"pre_tokenizer", sequence("pretokenizers", Json::array({cut, byte_level(prefix, false)}))}};
}

Result<Json> bert_steps(const TokenizerFolder& folder, const Json&) {
    TRY(const bool lower, folder.flag("do_lower_case", true));
    TRY(const bool chinese, folder.flag("tokenize_chinese_chars", true));
    TRY(const bool accents, folder.flag(or_null("strip_accents"), lower));
    const std::string unknown = folder.token("unk_token") ? folder.token("unk_token")->content : "[UNK]";
    return Json{{"normalizer",
                 {{"type", "BertNormalizer"},
                  {"clean_text", true},
                  {"handle_chinese_chars", chinese},
                  {"strip_accents", accents},
                  {"lowercase", lower}}},
                {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                {"model", {{"unk_token", unknown}}}};
}

Result<Json> llama_steps(const TokenizerFolder& folder, const Json&) {
    TRY(const bool prefix, folder.flag(or_null("add_prefix_space"), true));
    TRY(const bool legacy, folder.flag(or_null("legacy"), false));
    const char* scheme = !prefix ? "never" : legacy ? "always" : "first";
    return Json{{"pre_tokenizer", metaspace(scheme, false)},
                {"model", {{"fuse_unk", true}, {"byte_fallback", true}}}};
}

Result<Json> code_llama_steps(const TokenizerFolder& folder, const Json&) {
    TRY(const bool prefix, folder.flag(or_null("add_prefix_space"), true));
    const std::string unknown = folder.token("unk_token") ? folder.token("unk_token")->content : "<unk>";
    return Json{{"pre_tokenizer", metaspace(prefix ? "first" : "never", false)},
                {"model", {{"fuse_unk", true}, {"byte_fallback", true}, {"unk_token", unknown}}}};
}

Result<Json> gemma_steps(const TokenizerFolder& folder, const Json&) {
    const std::string unknown = folder.token("unk_token") ? folder.token("unk_token")->content : "<unk>";
    return Json{{"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}},
                {"pre_tokenizer",
                 {{"type", "Split"},
                  {"pattern", {{"String", " "}}},
                  {"behavior", "MergedWithPrevious"},
                  {"invert", false}}},
                {"model", {{"fuse_unk", true}, {"byte_fallback", true}, {"unk_token", unknown}}}};
}

/// Takes each residue apart: a protein has no words. Letters that stand for none are unknown together.
Result<Json> esm_steps(const TokenizerFolder& folder, const Json&) {
    const std::string unknown = folder.token("unk_token") ? folder.token("unk_token")->content : "<unk>";
    const Json residues{{"type", "Split"},
                        {"pattern", {{"Regex", R"([LAGVSERTIDPKQNFYMHWCXBUZO.\-]|<null_1>)"}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    return Json{
        {"pre_tokenizer", sequence("pretokenizers", Json::array({{{"type", "WhitespaceSplit"}}, residues}))},
        {"model", {{"unk_token", unknown}}}};
}

/// Splits at white space and puts a space before each word.
Json words_apart(bool prefix) {
    return sequence("pretokenizers", Json::array({{{"type", "WhitespaceSplit"}},
                                                  metaspace(prefix ? "always" : "never", true)}));
}

Result<Json> t5_steps(const TokenizerFolder&, const Json& charsmap) {
    Json steps{{"pre_tokenizer", words_apart(true)}, {"model", {{"unk_id", 2}}}};
    if (!charsmap.is_null()) steps["normalizer"] = precompiled(charsmap);
    return steps;
}

Result<Json> xlm_roberta_steps(const TokenizerFolder& folder, const Json& charsmap) {
    TRY(const bool prefix, folder.flag("add_prefix_space", true));
    Json steps{{"pre_tokenizer", words_apart(prefix)}, {"model", {{"unk_id", 3}}}};
    if (!charsmap.is_null()) steps["normalizer"] = precompiled(charsmap);
    return steps;
}

Result<Json> albert_steps(const TokenizerFolder& folder, const Json& charsmap) {
    TRY(const bool prefix, folder.flag("add_prefix_space", true));
    TRY(const bool accents, folder.flag("keep_accents", false));
    TRY(const bool lower, folder.flag("do_lower_case", true));
    const auto quote = [](const char* sign) {
        return Json{{"type", "Replace"}, {"pattern", {{"String", sign}}}, {"content", "\""}};
    };
    Json steps = Json::array({quote("``"), quote("''")});
    if (!accents) {
        steps.push_back({{"type", "NFKD"}});
        steps.push_back({{"type", "StripAccents"}});
    }
    if (lower) steps.push_back({{"type", "Lowercase"}});
    if (!charsmap.is_null()) steps.push_back(precompiled(charsmap));
    return Json{{"normalizer", sequence("normalizers", std::move(steps))},
                {"pre_tokenizer", words_apart(prefix)},
                {"model", {{"unk_id", 1}}}};
}

constexpr std::array<const char*, 7> kNoSpecials{}, kGpt2{kEnd, kEnd, kEnd},
    kRoberta{"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    kBert{nullptr, nullptr, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}, kLlama{"<s>", "</s>", "<unk>"},
    kT5{nullptr, "</s>", "<unk>", nullptr, "<pad>"}, kQwen2{nullptr, kEnd, kEnd, nullptr, kEnd},
    kNeox{kEnd, kEnd, kEnd, nullptr, "<|padding|>"},
    kAlbert{"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"},
    kGemma{"<bos>", "<eos>", "<unk>", nullptr, "<pad>", nullptr, "<mask>"},
    kEsm{nullptr, "<eos>", "<unk>", nullptr, "<pad>", "<cls>", "<mask>"};
constexpr const char *kPieces = "spiece.model", *kBpeModel = "sentencepiece.bpe.model",
                     *kModel = "tokenizer.model";

constexpr TokenizerClass kClasses[] = {
    {kBackend, "", kModel, kNoSpecials, Around::by_flags, nullptr},
    {"MarianTokenizer", "", "source.spm", kNoSpecials, Around::by_flags, nullptr},
    {"GPT2Tokenizer", "BPE", "vocab.json", kGpt2, Around::by_flags, gpt2_steps},
    {"CodeGenTokenizer", "BPE", "vocab.json", kGpt2, Around::by_flags, gpt2_steps},
    {"RobertaTokenizer", "BPE", "vocab.json", kRoberta, Around::roberta, gpt2_steps},
    {"Qwen2Tokenizer", "BPE", "vocab.json", kQwen2, Around::by_flags, qwen2_steps},
    {"GPTNeoXTokenizer", "BPE", "vocab.json", kNeox, Around::flags_alone, neox_steps},
    {"BertTokenizer", "WordPiece", "vocab.txt", kBert, Around::bert, bert_steps},
    {"LlamaTokenizer", "BPE", kModel, kLlama, Around::by_flags, llama_steps},
    {"CodeLlamaTokenizer", "BPE", kModel, kLlama, Around::by_flags, code_llama_steps},
    {"GemmaTokenizer", "BPE", kModel, kGemma, Around::by_flags, gemma_steps},
    {"T5Tokenizer", "Unigram", kPieces, kT5, Around::t5, t5_steps},
    {"XLMRobertaTokenizer", "Unigram", kBpeModel, kRoberta, Around::xlm_roberta, xlm_roberta_steps},
    {"CamembertTokenizer", "Unigram", kBpeModel, kRoberta, Around::xlm_roberta, xlm_roberta_steps},
    {"AlbertTokenizer", "Unigram", kPieces, kAlbert, Around::albert, albert_steps},
    {"EsmTokenizer", "WordPiece", "vocab.txt", kEsm, Around::esm, esm_steps},
};

struct NamePair {
    std::string_view key, value;
};

/// Lists other names of classes.
constexpr NamePair kOtherNames[] = {
    {"PreTrainedTokenizer", kBackend},
    {"PythonBackend", kBackend},
    {"BloomTokenizer", kBackend},
    {"Phi3Tokenizer", "LlamaTokenizer"},
    {"BartTokenizer", "RobertaTokenizer"},
    {"LongformerTokenizer", "RobertaTokenizer"},
    {"LEDTokenizer", "RobertaTokenizer"},
    {"MvpTokenizer", "RobertaTokenizer"},
    {"DistilBertTokenizer", "BertTokenizer"},
    {"ElectraTokenizer", "BertTokenizer"},
    {"MobileBertTokenizer", "BertTokenizer"},
    {"LxmertTokenizer", "BertTokenizer"},
    {"SqueezeBertTokenizer", "BertTokenizer"},
};

/// Lists the classes of model types; for those in kMistaken they count whatever the files say.
constexpr NamePair kOfModels[] = {
    {"gpt2", "GPT2Tokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"phi", "GPT2Tokenizer"},
    {"gpt_neox", "GPTNeoXTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},
    {"bert", "BertTokenizer"},
    {"distilbert", "BertTokenizer"},
    {"electra", "BertTokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"bart", "RobertaTokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"albert", "AlbertTokenizer"},
    {"t5", "T5Tokenizer"},
    {"mt5", "T5Tokenizer"},
    {"marian", "MarianTokenizer"},
    {"mistral", kBackend},
    {"modernbert", kBackend},
};
constexpr std::string_view kMistaken[] = {"qwen2", "modernbert"};
/// Lists model types without their own class.
constexpr std::string_view kWithoutClass[] = {"llama", "bloom"};

template <class Table>
std::string_view look_up(const Table& table, std::string_view key) {
    const auto* at =
        std::find_if(std::begin(table), std::end(table), [&](const NamePair& p) { return p.key == key; });
    return at == std::end(table) ? std::string_view() : at->value;
}

std::string_view without_fast(std::string_view name) {
    return name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
}

bool holds_byte_level(const Json& value) {
    if (value.is_string()) return value == "ByteLevel";
    if (!value.is_structured()) return false;
    return std::any_of(value.begin(), value.end(), holds_byte_level);
}

/// Returns whether the normalizer, pre-tokenizer, … of tokenizer.json name ByteLevel.
bool is_byte_level(const Json& described) {
    if (!described.is_object()) return false;
    for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
        if (described.contains(key) && holds_byte_level(described[key])) return true;
    return false;
}

}  // namespace

const TokenizerClass* tokenizer_class(std::string_view name) {
    const auto* at = std::find_if(std::begin(kClasses), std::end(kClasses),
                                  [&](const TokenizerClass& c) { return name == c.name; });
    return at == std::end(kClasses) ? nullptr : at;
}

std::string resolve_class(std::string_view name) {
    const std::string_view plain = without_fast(name);
    const std::string_view other = look_up(kOtherNames, plain);
    return std::string(other.empty() ? plain : other);
}

std::string choose_class(const TokenizerFolder& folder) {
    const std::string& said = folder.class_name.empty() ? folder.model_class : folder.class_name;
    const std::string_view own = look_up(kOfModels, folder.model_type);
    const auto among = [&](const auto& list) {
        return std::find(std::begin(list), std::end(list), folder.model_type) != std::end(list);
    };
    if (said.empty()) return own.empty() && among(kWithoutClass) ? kBackend : std::string(own);
    const std::string known = resolve_class(said);
    if (!folder.own_code) {
        if (without_fast(said) == "LlamaTokenizer" && !among(kMistaken) && is_byte_level(folder.described))
            return kBackend;
        if (!own.empty() && own != without_fast(said)) {
            if (own == kBackend) return kBackend;
            return among(kMistaken) ? std::string(own) : known;
        }
    }
    return known;
}

}  // namespace headlight
