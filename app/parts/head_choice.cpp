// Names the selected head, and lets the user choose another.
#include <algorithm>

#include "base/cast.h"
#include "model/heads.h"
#include "parts/controls.h"

namespace headlight {

std::string head_legend(const ModelConfig& c, AttentionHead head) {
    constexpr const char* kWhere[] = {"layer ", "encoder layer ", "decoder layer ",
                                      "cross-attention of decoder layer "};
    const AttentionBlock block = c.block(head.block);
    return head_name(c, head) + ": " + row_of(kWhere, block.kind) + std::to_string(block.layer) + ", head " +
           std::to_string(head.head);
}

AttentionHead chosen_head(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    const int block = std::clamp(s.session.selection.block, 0, c.blocks() - 1);
    return {block, std::clamp(s.session.selection.head, 0, c.heads(block) - 1)};
}

void choose_head(Scene& s, Toolbar& bar, const std::string& view) {
    const ModelConfig& c = s.model()->config;
    const AttentionHead now = chosen_head(s);
    const std::string layer = bar.labels ? "" : "layer ", head = bar.labels ? "" : "head ";
    std::vector<std::string> blocks, heads;
    for (int b = 0; b < c.blocks(); ++b) blocks.push_back(layer + block_name(c, b));
    for (int h = 0; h < c.heads(now.block); ++h) heads.push_back(head + std::to_string(h));
    if (const int b = bar.choice("Layer", view + "/layer", blocks, now.block); b >= 0) s.select_block(b);
    if (const int h = bar.choice("Head", view + "/head", heads, now.head); h >= 0) s.select(now.block, h);
}

}  // namespace headlight
