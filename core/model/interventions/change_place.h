// Reads and spells where a change acts: heads, layers, kinds of attention, cells.
#pragma once

#include <string>

#include "model/interventions/change.h"

namespace headlight {

/// Returns whether a change that names no block applies to this one.
bool within(Blocks blocks, const ModelConfig& config, int block);

/// Returns a layer's attention block, or −1: "3", "encoder.0", "cross.1".
int find_block(const ModelConfig& config, const std::string& layer);

/// Returns whether a block is its layer's first, so that its number identifies the layer too.
bool is_layer(const ModelConfig& config, int block);

/// Removes "@2.0", "@cross.0", "@encoder" or "@*" from the end; true if there was none or it exists.
bool take_place(const ModelConfig& config, std::string& text, Change& change);
/// Spells the place; "" for the usual blocks.
std::string place_name(const ModelConfig& config, const Change& change);

/// Reads "16>10"; with `several` also "3-5>9", "16..>0" and "*>0".
bool read_cells(const std::string& text, bool several, Change& change);
std::string cells_name(const Change& change);

/// Reads "16", or with `several` also "3-5", "16.." and "*", as first and count; span_name spells it.
bool read_span(const std::string& text, bool several, int& first, int& count);
std::string span_name(int first, int count);
/// Returns the last position that a span needs: its first, if it extends to the end.
inline int last_named(int first, int count) { return count == kToEnd ? first : first + count - 1; }

/// Labels for users: " in the decoder", " in 2.0"; "cat 3", "3–5", "16–", "all", with the labels of tokens.
std::string where(const ModelConfig& config, const Change& change);
std::string span_label(const std::vector<std::string>& labels, int first, int count);

/// Explains why a change cannot be read; `helps` says how to correct it.
Error unusable(const std::string& text, const std::string& helps);

/// Reads "off" or "shuffle:7", the value of a change of positions.
bool read_order(const std::string& text, float& value);
std::string order_name(float value);

}  // namespace headlight
