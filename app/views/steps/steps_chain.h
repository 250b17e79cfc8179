// The whole block around one query: every vector from the residual stream and back to it.
#pragma once

#include "parts/side_panel.h"
#include "views/steps/steps.h"

namespace headlight {

/// The stages as strips, each where it stands in the block; under them how the chosen entry was made.
void draw_chain(Scene& scene, Rect area);
/// The arithmetic of the chosen entry, under an inspector's title.
void draw_chain_arithmetic(Scene& scene, Column& column, const Found<BlockChainRequest>& found);
/// The dimensions that make up most of the last strip.
void draw_products(Column& column, const std::vector<Strip>& strips);
/// What the chosen entry is made of, and how.
StripPanel chain_panel(const Found<BlockChainRequest>& found);

/// The same chain of all heads, a column for each.
void draw_heads_chain(Scene& scene, Rect area);

/// The stages, and what the chosen entry is made of; those of all heads.
std::vector<NumberTable> chain_numbers(const Found<BlockChainRequest>& found);
std::vector<NumberTable> heads_chain_numbers(const Found<HeadsChainRequest>& found);

}  // namespace headlight
