#include "model/config.h"

#include <algorithm>
#include <cmath>

#include "io/mapped_file.h"
#include "model/families.h"

namespace headlight {

float ModelConfig::score_scale(const StackConfig& stack, int layer) const {
    const float base = scale > 0 ? scale : 1.0f / std::sqrt(static_cast<float>(stack.d_head));
    return scale_by_layer ? base / static_cast<float>(layer + 1) : base;
}

int ModelConfig::layers() const {
    int count = 0;
    for (const auto& s : stacks) count += s.layers;
    return count;
}

int ModelConfig::sites() const { return layers() + (decoder().cross ? decoder().layers : 0); }

int ModelConfig::max_heads() const {
    int most = 0;
    for (const auto& s : stacks) most = std::max(most, s.heads);
    return most;
}

size_t ModelConfig::head_index(int site, int head) const {
    const int first = std::min(site, stacks.front().layers);  // the blocks behind them have the second stack's heads
    return static_cast<size_t>(first * stacks.front().heads + (site - first) * stacks.back().heads + head);
}

AttentionHead ModelConfig::head_at(size_t index) const {
    const int layers = stacks.front().layers, before = layers * stacks.front().heads, i = static_cast<int>(index);
    if (i < before) return {i / stacks.front().heads, i % stacks.front().heads};
    return {layers + (i - before) / stacks.back().heads, (i - before) % stacks.back().heads};
}

std::vector<int> ModelConfig::sites_of(int stack, int layer) const {
    const StackConfig& s = stacks[static_cast<size_t>(stack)];
    const int self = layer + (stack > 0 ? stacks[0].layers : 0);
    return s.cross ? std::vector{self, self + s.layers} : std::vector{self};
}

AttentionSite ModelConfig::site(int index) const {
    if (stacks.size() == 1) return {AttentionKind::blocks, 0, index};
    if (index < stacks[0].layers) return {AttentionKind::encoder, 0, index};
    index -= stacks[0].layers;
    if (index < stacks[1].layers) return {AttentionKind::decoder, 1, index};
    return {AttentionKind::cross, 1, index - stacks[1].layers};
}

std::string per_stack(const ModelConfig& config, int StackConfig::*number) {
    const int first = config.stacks.front().*number, last = config.stacks.back().*number;
    return std::to_string(first) + (first == last ? "" : " / " + std::to_string(last));
}

namespace {
std::string site_text(const ModelConfig& config, int site, const char* between) {
    constexpr const char* kKinds[] = {"", "encoder", "decoder", "cross"};
    const AttentionSite s = config.site(site);
    const std::string layer = std::to_string(s.layer);
    return s.kind == AttentionKind::blocks ? layer : kKinds[static_cast<int>(s.kind)] + std::string(between) + layer;
}
}  // namespace

std::string site_name(const ModelConfig& config, int site) { return site_text(config, site, " "); }
std::string site_path(const ModelConfig& config, int site) { return site_text(config, site, "."); }
std::string head_name(const ModelConfig& config, int site, int head) { return site_name(config, site) + "." + std::to_string(head); }
std::string head_path(const ModelConfig& config, int site, int head) { return site_path(config, site) + "." + std::to_string(head); }

Result<ModelConfig> parse_config(const Json& root, const std::string& name) {
    if (!root.is_object()) return Error{name + " is not a model configuration; download it again."};
    TRY(const std::string type, json_string(root, "model_type", "", name));
    if (type.empty()) return Error{name + " does not say its model_type; add it, \"gpt2\" for example."};
    const Family* family = find_family(type);
    if (!family) return Error{name + ": the model_type \"" + type.substr(0, 40) + "\" is not one that Headlight opens; it opens " + family_list() + "."};
    TRY(ModelConfig config, family->read_config(root, name));
    config.family = family->model_type;
    config.family_name = family->name;
    TRY(const int64_t padding, json_integer(root, "pad_token_id", -1, -1, 1 << 23, name));
    config.pad_id = static_cast<int>(padding);
    if (config.end_id >= 0) config.writing.ends = {config.end_id};
    TRY_STATUS(parse_writing_rules(root, name, config.writing));
    return config;
}

namespace {

constexpr int64_t kMostIds = 1 << 23;
constexpr size_t kMostRules = 1 << 16;

/// Ids of an entry that is one id or a list of them; lists inside it count where they hold a single id.
Status read_ids(const Json& root, const char* key, const std::string& name, std::vector<int>& out) {
    const auto it = root.find(key);
    if (it == root.end() || it->is_null()) return success();
    const Error wrong{name + ": \"" + key + "\" must hold ids of tokens; download it again."};
    const Json list = it->is_array() ? *it : Json::array({*it});
    if (list.size() > kMostRules) return wrong;
    out.clear();
    for (const Json& entry : list) {
        if (entry.is_array() && entry.size() != 1) continue;  // a forbidden phrase
        const Json& id = entry.is_array() ? entry[0] : entry;
        if (!id.is_number_integer() || id.get<int64_t>() >= kMostIds) return wrong;
        if (id.get<int64_t>() >= 0) out.push_back(id.get<int>());
    }
    return success();
}

}  // namespace

Status parse_writing_rules(const Json& root, const std::string& name, WritingRules& rules) {
    if (!root.is_object()) return Error{name + " must be an object; download it again."};
    std::vector<int> first, suppressed;
    TRY_STATUS(read_ids(root, "eos_token_id", name, rules.ends));
    TRY_STATUS(read_ids(root, "bad_words_ids", name, rules.banned));
    TRY_STATUS(read_ids(root, "suppress_tokens", name, suppressed));
    TRY_STATUS(read_ids(root, "forced_bos_token_id", name, first));
    rules.banned.insert(rules.banned.end(), suppressed.begin(), suppressed.end());
    if (!first.empty()) rules.first = first[0];
    return success();
}

Status parse_preprocessor(const Json& root, const std::string& name, VisionConfig& vision) {
    if (!root.is_object()) return Error{name + " describes no pictures; download it again."};
    const auto triple = [&](const char* key, std::array<float, 3>& out, bool divisor) -> Status {
        const auto it = root.find(key);
        if (it == root.end() || it->is_null()) return success();
        if (!it->is_array() || it->size() != 3) return Error{name + ": \"" + key + "\" must be three numbers; download it again."};
        for (size_t i = 0; i < 3; ++i) {
            if (!(*it)[i].is_number() || (divisor && (*it)[i].get<float>() <= 0)) return Error{name + ": \"" + key + "\" must be three numbers, larger than 0 for a deviation; download it again."};
            out[i] = (*it)[i].get<float>();
        }
        return success();
    };
    TRY_STATUS(triple("image_mean", vision.mean, false));
    TRY_STATUS(triple("image_std", vision.deviation, true));
    TRY(const int64_t filter, json_integer(root, "resample", 2, 0, 5, name));
    vision.resampling = filter == 3 ? Resampling::bicubic : Resampling::bilinear;
    TRY(const bool rescales, json_boolean(root, "do_rescale", true, name));
    TRY(const double rescale, json_number(root, "rescale_factor", 1.0 / 255, name));
    TRY(const bool normalizes, json_boolean(root, "do_normalize", true, name));
    vision.rescale = rescales ? static_cast<float>(rescale) : 1.0f;
    if (!normalizes) {
        vision.mean = {0, 0, 0};
        vision.deviation = {1, 1, 1};
    }
    return success();
}

Result<ModelConfig> read_config(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / "config.json", ignored))
        return Error{display_path(folder) + " has no config.json; choose the folder that holds a model's config.json and safetensors."};
    TRY(const Json root, read_json(folder / "config.json"));
    TRY(ModelConfig config, parse_config(root, display_path(folder / "config.json")));
    const auto writing = folder / "generation_config.json";
    if (std::filesystem::exists(writing, ignored)) {
        TRY(const Json rules, read_json(writing));
        TRY_STATUS(parse_writing_rules(rules, display_path(writing), config.writing));
    }
    const auto pictures = folder / "preprocessor_config.json";
    if (config.kind == ModelKind::vision && std::filesystem::exists(pictures, ignored)) {
        TRY(const Json description, read_json(pictures));
        TRY_STATUS(parse_preprocessor(description, display_path(pictures), config.vision));
    }
    return config;
}

}  // namespace headlight
