// Names blocks and heads, and reads their names.
#include "model/heads.h"

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

float ModelConfig::score_scale(const StackConfig& stack, int layer) const {
    const float base = scale > 0 ? scale : 1.0f / std::sqrt(float(stack.d_head));
    return scale_by_layer ? base / float(layer + 1) : base;
}

int ModelConfig::layers() const {
    int count = 0;
    for (const auto& s : stacks) count += s.layers;
    return count;
}

int ModelConfig::blocks() const { return layers() + (decoder().cross ? decoder().layers : 0); }

int ModelConfig::max_heads() const {
    int max = 0;
    for (const auto& s : stacks) max = std::max(max, s.heads);
    return max;
}

int ModelConfig::head_index(AttentionHead h) const {
    const int first = std::min(h.block, stacks.front().layers);  // later blocks have the second stack's heads
    return first * stacks.front().heads + (h.block - first) * stacks.back().heads + h.head;
}

AttentionHead ModelConfig::head_at(int index) const {
    const int layers = stacks.front().layers, before = layers * stacks.front().heads;
    if (index < before) return {index / stacks.front().heads, index % stacks.front().heads};
    return {layers + (index - before) / stacks.back().heads, (index - before) % stacks.back().heads};
}

std::vector<int> ModelConfig::blocks_of(int stack, int layer) const {
    const StackConfig& s = stacks[stack];
    const int self = layer + (stack > 0 ? stacks[0].layers : 0);
    return s.cross ? std::vector{self, self + s.layers} : std::vector{self};
}

AttentionBlock ModelConfig::block(int index) const {
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
constexpr const char *kShown[] = {"", "enc", "dec", "cross"},
                     *kSpelled[] = {"", "encoder", "decoder", "cross"};

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

}  // namespace headlight
