// Names blocks and heads, and reads their names.
#include "model/heads.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/quoted.h"

namespace headlight {

Capabilities Capabilities::of(ModelKind kind) {
    Capabilities can;
    can.continue_text = kind == ModelKind::decoder;
    can.fill_masks = can.read_pair = kind == ModelKind::encoder;
    can.write_target = kind == ModelKind::encoder_decoder;
    can.read_image = kind == ModelKind::vision;
    return can;
}

float AttentionSpec::score_scale() const { return scale > 0 ? scale : 1.0f / std::sqrt(float(d_head)); }

float AttentionSpec::query_scale(int position) const {
    return 1 + query_growth * std::log1p(float((position + growth_from) / growth_every));
}

BlockTable::BlockTable(const std::vector<StackConfig>& stacks) {
    const auto add = [&](const AttentionBlock& block, int heads) {
        blocks_.push_back(block);
        first_.push_back(first_.back() + heads);
    };
    first_.push_back(0);
    for (int s = 0; s < isize(stacks); ++s) {
        const StackConfig& stack = stacks[s];
        const AttentionKind self = isize(stacks) == 1 ? AttentionKind::blocks
                                   : s == 0           ? AttentionKind::encoder
                                                      : AttentionKind::decoder;
        for (int l = 0; l < stack.depth(); ++l) add({self, s, l, s}, stack.layers[l].attention.heads);
        for (int l = 0; (stack.cross() || stack.beside()) && l < stack.depth(); ++l)
            add({stack.cross() ? AttentionKind::cross : AttentionKind::beside, s, l,
                 stack.cross() ? stack.source : s},
                stack.layers[l].second->heads);
    }
}

const AttentionBlock& BlockTable::operator[](int block) const {
    HEADLIGHT_CHECK(block >= 0 && block < size());
    return blocks_[block];
}

int BlockTable::index(AttentionHead h) const {
    HEADLIGHT_CHECK(h.block >= 0 && h.block < size() && h.head >= 0 && h.head < heads(h.block));
    return first_[h.block] + h.head;
}

AttentionHead BlockTable::head(int index) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), index);
    const int block = narrow<int>(after - first_.begin()) - 1;
    HEADLIGHT_CHECK(block >= 0 && block < size());
    return {block, index - first_[block]};
}

std::vector<int> BlockTable::of_layer(int stack, int layer) const {
    std::vector<int> out;
    for (int b = 0; b < size(); ++b)
        if (blocks_[b].stack == stack && blocks_[b].layer == layer) out.push_back(b);
    return out;
}

const AttentionSpec& ModelConfig::attention(int block) const {
    const LayerSpec& layer = layer_of(block);
    return block_table[block].is_second() ? *layer.second : layer.attention;
}

int ModelConfig::layers() const {
    int count = 0;
    for (const auto& s : stacks) count += s.depth();
    return count;
}

int StackConfig::max_heads() const {
    int max = 0;
    for (const LayerSpec& layer : layers)
        max = std::max({max, layer.attention.heads, layer.second ? layer.second->heads : 0});
    return max;
}

int ModelConfig::max_heads() const {
    int max = 0;
    for (const StackConfig& stack : stacks) max = std::max(max, stack.max_heads());
    return max;
}

namespace {
/// Counts the products of one token with the matrices of one attention, in d_model.
double attention_products(const AttentionSpec& a, int d_model) {
    const double keys = a.makes_keys() ? double(a.kv_heads) * a.d_head : 0,
                 values = a.projects_values() ? double(a.kv_heads) * a.value_width() : 0,
                 read = double(a.heads) * a.d_head + keys + values, write = double(a.heads) * a.value_width();
    if (a.recurrence && a.recurrence->is_selective()) {
        const double heads = a.heads, states = a.recurrence->step_rank + 2.0 * a.d_head;
        return 3 * heads + heads * (states + a.recurrence->step_rank) / d_model;
    }
    if (!a.latent) return read + write;
    const double q = double(a.heads) * a.d_head, q_rank = a.latent->q_rank, kv_rank = a.latent->kv_rank,
                 up = kv_rank * a.heads * (a.latent->d_own(a.d_head) + a.value_width()) +
                      (a.latent->q_rank ? q_rank * q : 0.0);
    return (a.latent->q_rank ? q_rank : q) + kv_rank + a.latent->d_shared + up / d_model + write;
}
}  // namespace

double ModelConfig::products(int stack, int layers) const {
    double out = 0;
    for (int l = 0; l < layers; ++l) {
        const LayerSpec& layer = stacks[stack].layers[l];
        out += attention_products(layer.attention, d_model) +
               (layer.second ? attention_products(*layer.second, d_model) : 0.0) +
               (layer.embedding ? 3.0 * layer.embedding->width : 0.0) + 2.0 * layer.laurel_rank +
               (layer.mlp.gated ? 3.0 : 2.0) *
                   (layer.mlp.width +
                    (layer.mlp.experts ? double(layer.mlp.experts->used) * layer.mlp.experts->width : 0.0));
    }
    return out * d_model;
}

int ModelConfig::key_block(int block) const {
    const AttentionSpec& a = attention(block);
    return a.makes_keys() ? block : blocks_of(block_table[block].stack, a.source).front();
}

bool ModelConfig::norms_sums() const {
    return std::any_of(stacks.begin(), stacks.end(), [](const StackConfig& stack) {
        return std::any_of(stack.layers.begin(), stack.layers.end(),
                           [](const LayerSpec& layer) { return layer.norms_sum(); });
    });
}

bool ModelConfig::has_streams() const {
    return std::any_of(stacks.begin(), stacks.end(),
                       [](const StackConfig& stack) { return stack.streams.has_value(); });
}

bool ModelConfig::positions_depend_on_length(int tokens) const {
    return std::any_of(stacks.begin(), stacks.end(), [&](const StackConfig& stack) {
        return std::any_of(stack.layers.begin(), stack.layers.end(), [&](const LayerSpec& layer) {
            return layer.attention.rope.depends_on_length(tokens);
        });
    });
}

std::string per_stack(const ModelConfig& config, int AttentionSpec::*number) {
    std::string out;
    for (const StackConfig& stack : config.stacks) {
        int min = stack.layers.empty() ? 0 : stack.layers[0].attention.*number, max = min;
        for (const LayerSpec& layer : stack.layers) {
            min = std::min(min, layer.attention.*number);
            max = std::max(max, layer.attention.*number);
        }
        const std::string size = std::to_string(min) + (min == max ? "" : "–" + std::to_string(max));
        if (out != size) out += (out.empty() ? "" : " / ") + size;
    }
    return out;
}

namespace {
constexpr const char *kShown[] = {"", "enc", "dec", "cross", "mamba"},
                     *kSpelled[] = {"", "encoder", "decoder", "cross", "mamba"};

std::string block_text(const ModelConfig& config, int block, std::span<const char* const> kinds,
                       const char* between) {
    const AttentionBlock s = config.block(block);
    const std::string layer = std::to_string(s.layer);
    return s.kind == AttentionKind::blocks ? layer : row_of(kinds, s.kind) + std::string(between) + layer;
}
}  // namespace

std::string block_name(const ModelConfig& config, int block) {
    return block_text(config, block, kShown, " ");
}
std::string block_path(const ModelConfig& config, int block) {
    return block_text(config, block, kSpelled, ".");
}

Result<AttentionHead> parse_head(const ModelConfig& config, const std::string& text,
                                 const std::string& option) {
    const size_t dot = text.rfind('.');
    const std::string layer = text.substr(0, dot),
                      number = dot == std::string::npos ? "" : text.substr(dot + 1);
    int head = 0;
    const bool whole = read_number(number, head) && number[0] != '-';
    const int last = config.blocks() - 1;
    for (int block = 0; whole && block <= last; ++block)
        if (const std::string path = block_path(config, block);
            (path == layer || path == "decoder." + layer) && head < config.heads(block))
            return AttentionHead{block, head};
    return Error{"There is no head " + in_quotes(text) + ": heads go from " + head_path(config, 0, 0) +
                 " to " + head_path(config, last, config.heads(last) - 1) + "; correct " + option + "."};
}

std::string head_name(const ModelConfig& config, AttentionHead h) {
    return block_name(config, h.block) + "." + std::to_string(h.head);
}
std::string head_path(const ModelConfig& config, AttentionHead h) {
    return block_path(config, h.block) + "." + std::to_string(h.head);
}

const char* mixer_name(const AttentionSpec& spec) {
    using Kind = RecurrenceSpec::Kind;
    if (!spec.recurrence) return "attention";
    return spec.recurrence->kind == Kind::delta_rule    ? "delta net"
           : spec.recurrence->kind == Kind::state_space ? "state space"
           : spec.recurrence->kind == Kind::selective   ? "selective state space"
                                                        : "convolution";
}

Error no_scores(const ModelConfig& c, AttentionHead head) {
    return Error{"Head " + head_name(c, head) +
                 " mixes tokens without scores and softmax; choose a head of attention."};
}

}  // namespace headlight
