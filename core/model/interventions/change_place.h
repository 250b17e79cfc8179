// Where a change acts, as the command line spells it: heads, layers, kinds of attention, cells.
#pragma once

#include <charconv>
#include <string>

#include "model/interventions/change.h"

namespace headlight {

/// Whether a block is one of those that a change without a block of its own concerns.
bool within(Blocks blocks, const ModelConfig& config, int block);

/// The number of a layer's attention block, or −1: "3", "encoder.0", "cross.1".
int find_block(const ModelConfig& config, const std::string& layer);

/// Whether a block is a layer's own attention, so that its number stands for the layer too.
bool is_layer(const ModelConfig& config, int block);

/// Takes "@2.0", "@cross.0", "@encoder" or "@*" off the end; true where there is none or the place exists.
bool take_place(const ModelConfig& config, std::string& text, Change& change);
/// The same place, spelled; "" for the usual blocks.
std::string place_name(const ModelConfig& config, const Change& change);

/// "16>10"; where several rows and columns may be named "3-5>9", "16..>0" and "*>0" too.
bool read_cells(const std::string& text, bool several, Change& change);
std::string cells_name(const Change& change);

/// "16", or where several may be named "3-5", "16.." and "*" too: the first and how many; and their name.
bool read_span(const std::string& text, bool several, int& first, int& count);
std::string span_name(int first, int count);
/// The last position that must be there for a span: its first, where it goes on as a text is written.
inline int last_named(int first, int count) { return count == kToEnd ? first : first + count - 1; }

/// As people read it: " in the decoder", " in 2.0"; "cat 3", "3–5", "16–", "all", with the labels of tokens.
std::string where(const ModelConfig& config, const Change& change);
std::string span_label(const std::vector<std::string>& labels, int first, int count);

/// Why a change cannot be read, and what helps.
Error unusable(const std::string& text, const std::string& helps);

/// "off" or "shuffle:7": the value of a change of positions.
bool read_order(const std::string& text, float& value);
std::string order_name(float value);

/// The whole text is one number.
template <class Number>
bool read_number(const std::string& text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace headlight
