// Draws the whole block around one query: every vector from the residual stream and back to it.
#pragma once

#include "parts/side_panel.h"
#include "views/steps/steps.h"

namespace headlight {

/// Draws the stages as strips in the block's order, and below them how the chosen entry is computed.
void draw_chain(Scene& scene, Rect area);
/// Writes the arithmetic of the chosen entry into the inspector.
void draw_chain_arithmetic(Scene& scene, SidePanel& column, const Found<BlockChainRequest>& found);
/// Lists the largest dimensions of the last strip.
void draw_products(SidePanel& column, const std::vector<Strip>& strips);
/// Returns the vectors that make the chosen entry.
StripPanel chain_panel(const Found<BlockChainRequest>& found);

/// Draws the chain of all heads, one column per head.
void draw_heads_chain(Scene& scene, Rect area);

std::vector<NumberTable> chain_numbers(const Found<BlockChainRequest>& found);
std::vector<NumberTable> heads_chain_numbers(const Found<HeadsChainRequest>& found);

}  // namespace headlight
