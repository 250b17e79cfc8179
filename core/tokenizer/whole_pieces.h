// Pieces that are taken whole wherever they stand in a text: a model may define thousands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// Puts them in the order that longest_piece_at looks them up in; empty ones go.
void order_pieces(std::vector<std::string>& pieces);

/// The longest that a text begins with, or null. Only those with its first byte are met.
const std::string* longest_piece_at(const std::vector<std::string>& ordered, std::string_view text);

}  // namespace headlight
