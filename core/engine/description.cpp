// Reads a server's description of its model.
#include "engine/description.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/cast.h"
#include "base/memory.h"
#include "base/quoted.h"
#include "chat/files.h"
#include "model/loading/config.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

constexpr const char* kDescription = "The server's description of its model";
constexpr int kMaxLayers = 1000, kMaxHeads = 1000, kMaxWidth = 1 << 20, kMaxTokens = 1 << 20;
constexpr int64_t kMaxWeightBytes = int64_t{1} << 28;              // bytes that are fetched
constexpr int kMaxVocabulary = 1 << 28, kMaxTokensRead = 1 << 16;  // what a server reads at once

Error unknown(const std::string& what) { return of_other_version(std::string(kDescription) + " " + what); }

struct DescribedBlock {
    AttentionSpec spec;
    EngineRule rule;
};
/// By the name of their stack and whether they read another: the blocks of layers 0, 1, …
using DescribedBlocks = std::map<std::pair<std::string, bool>, std::map<int, DescribedBlock>>;

/// Splits "decoder.3.cross_attn".
struct Place {
    std::string stack;
    int layer = -1;
    bool cross = false;
};
Result<Place> read_place(const std::string& at) {
    Place out;
    const size_t first = at.find('.'), second = at.find('.', first == at.npos ? first : first + 1);
    if (second == at.npos) return unknown("names no layer by " + in_quotes(at));
    const std::string kind = at.substr(second + 1), number = at.substr(first + 1, second - first - 1);
    out.stack = at.substr(0, first);
    out.cross = kind == "cross_attn";
    const bool digits =
        !number.empty() && number.size() <= 4 && number.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || (kind != "attn" && !out.cross)) return unknown("names no layer by " + in_quotes(at));
    out.layer = std::stoi(number);
    return out;
}

Result<DescribedBlock> read_block(const Json& block) {
    DescribedBlock out;
    const auto size = [&](const char* key, int max, int fallback) -> Result<int> {
        TRY(const int64_t n, json_integer(block, key, fallback, 1, max, kDescription));
        return narrow<int>(n);
    };
    TRY(out.spec.heads, size("heads", kMaxHeads, 0));
    TRY(out.spec.kv_heads, size("kv_heads", kMaxHeads, out.spec.heads));
    TRY(out.spec.d_head, size("d_head", kMaxWidth, 1));
    TRY(out.spec.d_value, size("d_value", kMaxWidth, out.spec.d_head));
    if (out.spec.heads < 1 || out.spec.heads % out.spec.kv_heads)
        return unknown("has heads that cannot share keys evenly");
    const auto rule = block.find("rule");
    if (rule == block.end()) return unknown("has a block without a rule");
    TRY(out.rule, read_engine_rule(*rule));
    out.spec.window = out.rule.window;
    return out;
}

Result<DescribedBlocks> read_blocks(const Json& described) {
    DescribedBlocks out;
    TRY(const Json list, json_list(described, "blocks", kDescription));
    for (const Json& block : list) {
        if (!block.is_object()) return unknown("has a block that is not described");
        TRY(const std::string at, json_string(block, "at", "", kDescription));
        TRY(const Place place, read_place(at));
        TRY(DescribedBlock held, read_block(block));
        if (!out[{place.stack, place.cross}].emplace(place.layer, std::move(held)).second)
            return unknown("names " + in_quotes(at) + " twice");
    }
    if (out.empty()) return unknown("has no attention");
    for (const auto& [name, blocks] : out)
        if (isize(blocks) > kMaxLayers || blocks.rbegin()->first != isize(blocks) - 1)
            return unknown("does not number its layers 0, 1, …");
    return out;
}

/// Takes the blocks of one stack; `rules` gets theirs in the order of its layers.
Result<StackConfig> take_stack(DescribedBlocks& blocks, const std::string& name, int vocabulary,
                               bool reads_another, std::vector<EngineRule>& rules,
                               std::vector<EngineRule>& crossing) {
    StackConfig out;
    out.name = name;
    out.vocab = vocabulary;
    if (reads_another) out.source = 0;
    const auto self = blocks.find({name, false}), cross = blocks.find({name, true});
    if (self == blocks.end() || (cross != blocks.end()) != reads_another ||
        (reads_another && cross->second.size() != self->second.size()))
        return unknown("does not have the blocks of its kind");
    out.causal = self->second.begin()->second.rule.causal;
    for (auto& [number, block] : self->second) {
        LayerSpec& layer = out.layers.emplace_back();
        layer.attention = block.spec;
        layer.mlp.width = 1;  // its width is not said
        rules.push_back(block.rule);
        rules.back().says = block.rule.says && block.rule.causal == out.causal;
    }
    if (reads_another)
        for (auto& [number, block] : cross->second) {
            out.layers[static_cast<size_t>(number)].second = block.spec;
            crossing.push_back(block.rule);
        }
    return out;
}

/// Reads tokens of the model's own configuration, one number or a list of them.
std::vector<int> token_ids(const Json& config, const char* key, int vocabulary) {
    std::vector<int> out;
    const Json* held = json_find(config, or_null(key));
    for (const Json& one : !held ? Json::array() : held->is_array() ? *held : Json::array({*held}))
        if (one.is_number_unsigned() && one.get<uint64_t>() < static_cast<uint64_t>(vocabulary))
            out.push_back(narrow<int>(one.get<uint64_t>()));
    return out;
}

/// Reads the first of them.
int token_id(const Json& config, const char* key, int vocabulary, int fallback) {
    const std::vector<int> all = token_ids(config, key, vocabulary);
    return all.empty() ? fallback : all.front();
}

Status read_stacks(const Json& described, int vocabulary, ModelConfig& c, std::vector<EngineRule>& rules) {
    TRY(DescribedBlocks blocks, read_blocks(described));
    std::vector<EngineRule> crossing;
    const bool two = c.can.write_target;
    c.stacks.clear();
    for (const char* name : two ? std::vector{"encoder", "decoder"} : std::vector{"blocks"}) {
        TRY(StackConfig stack,
            take_stack(blocks, name, vocabulary, two && !c.stacks.empty(), rules, crossing));
        c.stacks.push_back(std::move(stack));
    }
    if (blocks.size() != (two ? 3 : 1)) return unknown("has more stacks than its kind");
    rules.insert(rules.end(), crossing.begin(), crossing.end());
    c.number_blocks();
    return success();
}

/// Reads what the model reads and writes.
Status read_kind(const Json& described, ModelConfig& c) {
    TRY(const std::string kind, json_string(described, or_null("kind"), "decoder", kDescription));
    constexpr std::string_view kKinds[] = {"decoder", "encoder", "encoder_decoder"};
    if (!contains(kKinds, kind)) return unknown("calls it " + in_quotes(kind));
    c.kind = kind == "encoder"   ? ModelKind::encoder
             : kind == "decoder" ? ModelKind::decoder
                                 : ModelKind::encoder_decoder;
    TRY(const std::string pictures, json_string(described, or_null("pictures"), "", kDescription));
    if (!pictures.empty() && pictures != "alone" && pictures != "beside")
        return unknown("reads pictures " + in_quotes(pictures));
    if (pictures == "alone") c.kind = ModelKind::vision;
    c.can = Capabilities::of(c.kind);
    c.can.add_image = pictures == "beside";
    return success();
}

Result<ModelConfig> read_config(const Json& described, std::vector<EngineRule>& rules) {
    ModelConfig c;
    TRY_STATUS(read_kind(described, c));
    TRY(c.family_name, json_string(described, "family", "model", kDescription));
    c.family_name = printable(shortened(c.family_name));
    const auto count = [&](const char* key, int max, int fallback) -> Result<int> {
        TRY(const int64_t n, json_integer(described, or_null(key), fallback, 1, max, kDescription));
        return narrow<int>(n);
    };
    TRY(c.d_model, count("d_model", kMaxWidth, 1));
    c.d_embed = c.d_model;
    int vocabulary = kMaxVocabulary;  // images have no table of tokens
    if (!c.can.read_image) {
        TRY(vocabulary, count("vocabulary", kMaxVocabulary, kMaxVocabulary));
    }
    TRY(const int64_t logits, json_integer(described, or_null("logits"), 0, 0, kMaxVocabulary, kDescription));
    c.vocab = c.can.read_image ? 0 : narrow<int>(logits);  // its classes have no names here
    TRY(c.context, count("positions", 1 << 30, kMaxTokensRead));
    c.context = std::min(c.context, kMaxTokensRead);
    c.token_types = c.can.read_pair ? 2 : 0;
    TRY(const Json config, json_object(described, or_null("config"), kDescription));
    c.start_id = token_id(config, "decoder_start_token_id", vocabulary, 0);
    c.end_id = token_id(config, "eos_token_id", vocabulary, -1);
    c.pad_id = token_id(config, "pad_token_id", vocabulary, -1);
    TRY(const int64_t mask, json_integer(described, or_null("mask"), -1, -1, vocabulary - 1, kDescription));
    c.mask_id = narrow<int>(mask);
    c.generation.eos_token_ids = described.contains("ends") ? token_ids(described, "ends", vocabulary)
                                                            : token_ids(config, "eos_token_id", vocabulary);
    c.generation.suppress_tokens = token_ids(config, "suppress_tokens", vocabulary);
    c.generation.forced_bos_token_id = token_id(config, "forced_bos_token_id", vocabulary, -1);
    TRY(const Json can, json_object(described, or_null("can"), kDescription));
    TRY(const bool positions, json_boolean(can, "positions", false, kDescription));
    c.positions = positions ? PositionScheme::rotary : PositionScheme::none;
    TRY_STATUS(read_stacks(described, vocabulary, c, rules));
    return c;
}

/// Opens the tokenizer that the server sends, for labels; without it labels are the server's spellings.
Result<std::shared_ptr<const Tokenizer>> read_tokenizer(const Frame& described) {
    const StoredTensor* file = described.find("tokenizer.json");
    if (!file || file->dtype->bytes != 1)
        return Error{"The server sends no tokenizer that Headlight can read."};
    return Tokenizer::parse({reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()},
                            "The server's tokenizer");
}

/// Reads the templates of conversations, which are written here and tokenized there.
Result<std::shared_ptr<const ChatTemplates>> read_chat(const Json& described) {
    TRY(const Json chat, json_object(described, or_null("chat"), kDescription));
    const Json* templates = json_find(chat, or_null("chat_template"));
    TRY(ChatTemplates out, parse_chat_templates(templates ? *templates : Json(), "The server's tokenizer"));
    TRY(const Json tokens, json_object(chat, or_null("special_tokens"), kDescription));
    for (const auto& [name, token] : tokens.items())
        if (token.is_string()) out.special_tokens[name] = token.get<std::string>();
    return std::make_shared<const ChatTemplates>(std::move(out));
}

/// Returns whether a configuration has the blocks that a server describes.
bool has_these_blocks(const ModelConfig& read, const ModelConfig& described) {
    if (read.blocks() != described.blocks() || read.d_model != described.d_model) return false;
    for (int block = 0; block < read.blocks(); ++block)
        if (read.heads(block) != described.heads(block) ||
            read.kv_heads(block) != described.kv_heads(block) ||
            tensors_at(read, block) != tensors_at(described, block))
            return false;
    return true;
}

/// Says why weights do not come, if they do not.
Result<OfferedWeights> read_offer(const Json& described, const ModelConfig& config) {
    OfferedWeights out;
    TRY(const Json offered, json_object(described, or_null("weights"), kDescription));
    TRY(const std::string refused, json_string(offered, or_null("refused"), "", kDescription));
    TRY(out.bytes, json_integer(offered, or_null("bytes"), 0, 0, int64_t{1} << 50, kDescription));
    TRY(out.version, json_integer(offered, or_null("version"), 0, 0, kMaxVersion, kDescription));
    TRY(const Json own, json_object(described, or_null("config"), kDescription));
    auto read = parse_config(own, kDescription);
    std::string why;
    if (out.bytes == 0)
        why = "the server sends none: " +
              (refused.empty() ? "it has no files of them" : printable(shortened(refused)));
    else if (out.bytes > kMaxWeightBytes)
        why = short_bytes(out.bytes) + " of them are not fetched; open the model from its files";
    else if (!read)
        why = "Headlight does not know how a model of family " + config.family_name + " uses them";
    else if (!has_these_blocks(*read, config))
        why = "the server shows other blocks of the model than Headlight; open it from its files";
    else
        out.read = *std::move(read);
    if (!why.empty()) out.withheld = "This needs the weights here, and " + why + ".";
    return out;
}

}  // namespace

Result<EngineRule> read_engine_rule(const Json& rule) {
    EngineRule out;
    if (!rule.is_object()) return unknown("has a rule that is not an object");
    TRY(out.says, json_boolean(rule, "says", false, kDescription));
    TRY(out.causal, json_boolean(rule, or_null("causal"), true, kDescription));
    TRY(const int64_t window, json_integer(rule, or_null("window"), 0, 0, int64_t{1} << 40, kDescription));
    out.window = window < kMaxTokens ? narrow<int>(window) : 0;
    TRY(const double scale, json_number(rule, or_null("scale"), 1, kDescription));
    TRY(const double cap, json_number(rule, or_null("cap"), 0, kDescription));
    out.scale = float(scale);
    out.cap = float(cap);
    if (!std::isfinite(out.scale) || !std::isfinite(out.cap))
        return unknown("has a scale that is not finite");
    return out;
}

bool are_alike(const ModelConfig& a, const ModelConfig& b) {
    bool out = a.kind == b.kind && has_these_blocks(a, b);
    for (int block = 0; out && block < a.blocks(); ++block)
        out = a.d_head(block) == b.d_head(block) && a.d_value(block) == b.d_value(block);
    return out;
}

Result<EngineDescription> read_description(const Frame& described) {
    EngineDescription out;
    out.model = std::make_shared<Model>();
    TRY(out.model->config, read_config(described.header, out.rules));
    TRY(const std::string name, json_string(described.header, or_null("name"), "model", kDescription));
    out.model->name = printable(shortened(name));
    if (name.starts_with('/') || name.starts_with('.'))  // a folder's
        out.model->name = printable(shortened(std::filesystem::path(name).filename().string()));
    out.model->tokenizer = read_tokenizer(described);
    if (out.model->tokenizer) out.model->chat = read_chat(described.header);
    TRY(const Json can, json_object(described.header, or_null("can"), kDescription));
    TRY(out.reuses, json_boolean(can, or_null("reuse"), false, kDescription));
    TRY(out.weights, read_offer(described.header, out.model->config));
    return out;
}

}  // namespace headlight
