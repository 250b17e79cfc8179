// Reads and spells the place of a change.
#include "model/interventions/change_place.h"

#include <tuple>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr std::pair<Blocks, const char*> kBlocks[] = {
    {Blocks::encoder, "encoder"}, {Blocks::decoder, "decoder"}, {Blocks::cross, "cross"}, {Blocks::all, "*"}};

/// Reads "3.5", "cross.0.2", "3", "cross.0", "cross" or "*"; returns false if the model has no such place.
bool read_place(const ModelConfig& c, const std::string& text, Change& change) {
    for (const auto& [blocks, name] : kBlocks) {
        if (text != name) continue;
        change.blocks = blocks;
        for (int block = 0; block < c.blocks(); ++block)
            if (within(blocks, c, block)) return true;
        return false;
    }
    change.block = find_block(c, text);
    if (change.block >= 0) return true;
    const auto head = parse_head(c, text, "");
    if (!head) return false;
    std::tie(change.block, change.head) = std::pair{head->block, head->head};
    return true;
}

/// Reads a position in a text, below a million.
bool read_position(const std::string& text, int& position) {
    return read_number(text, position) && text[0] != '-' && position < 1'000'000;
}

}  // namespace

bool read_span(const std::string& text, bool several, int& first, int& count) {
    if (read_position(text, first)) return true;
    if (!several) return false;
    const bool open = text.size() > 2 && text.compare(text.size() - 2, 2, "..") == 0;
    if (open || text == "*") {
        first = 0;
        count = kToEnd;
        return text == "*" || read_position(text.substr(0, text.size() - 2), first);
    }
    const size_t dash = text.find('-');
    int last = 0;
    if (dash == std::string::npos || !read_position(text.substr(0, dash), first) ||
        !read_position(text.substr(dash + 1), last) || last < first)
        return false;
    count = last - first + 1;
    return true;
}

std::string span_name(int first, int count) {
    if (count == kToEnd) return first == 0 ? "*" : std::to_string(first) + "..";
    return std::to_string(first) + (count > 1 ? "-" + std::to_string(first + count - 1) : "");
}

std::string where(const ModelConfig& c, const Change& change) {
    constexpr const char* kPlaces[] = {"", " in the encoder", " in the decoder", " in cross", " everywhere"};
    if (change.block < 0) return row_of(kPlaces, change.blocks);
    return " in " + (change.head < 0 ? block_name(c, change.block) : head_name(c, change.block, change.head));
}

std::string span_label(const std::vector<std::string>& labels, int first, int count) {
    const std::string number = std::to_string(first);
    if (count == kToEnd) return first == 0 ? "all" : number + "–";
    if (count > 1) return number + "–" + std::to_string(first + count - 1);
    return first >= 0 && first < isize(labels) ? labels[first] + " " + number : "#" + number;
}

Error unusable(const std::string& text, const std::string& helps) {
    return {"The change " + in_quotes(text) + " cannot be used; " + helps};
}

bool within(Blocks blocks, const ModelConfig& c, int block) {
    const AttentionKind kind = c.block(block).kind;
    switch (blocks) {
        case Blocks::usual:
            return kind != AttentionKind::cross;
        case Blocks::encoder:
            return kind == AttentionKind::encoder;
        case Blocks::decoder:
            return kind == AttentionKind::decoder;
        case Blocks::cross:
            return kind == AttentionKind::cross;
        case Blocks::all:
            return true;
    }
    return false;
}

int find_block(const ModelConfig& c, const std::string& layer) {
    for (int block = 0; block < c.blocks(); ++block)
        if (const std::string path = block_path(c, block); path == layer || path == "decoder." + layer)
            return block;
    return -1;
}

bool is_layer(const ModelConfig& c, int block) { return !c.block(block).is_second(); }

bool take_place(const ModelConfig& c, std::string& text, Change& change) {
    const size_t at = text.find('@');
    if (at == std::string::npos) return true;
    const bool read = read_place(c, text.substr(at + 1), change);
    text.erase(at);
    return read;
}

std::string place_name(const ModelConfig& c, const Change& change) {
    if (change.block >= 0)
        return "@" +
               (change.head < 0 ? block_path(c, change.block) : head_path(c, change.block, change.head));
    for (const auto& [blocks, name] : kBlocks)
        if (blocks == change.blocks) return std::string("@") + name;
    return "";
}

bool read_cells(const std::string& text, bool several, Change& change) {
    const size_t arrow = text.find('>');
    return arrow != std::string::npos &&
           read_span(text.substr(0, arrow), several, change.query, change.queries) &&
           read_span(text.substr(arrow + 1), several, change.key, change.keys);
}

bool read_order(const std::string& text, float& value) {
    const std::string shuffle = "shuffle:";
    int seed = -1;
    if (text.rfind(shuffle, 0) == 0 &&
        (!read_number(text.substr(shuffle.size()), seed) || seed < 0 || seed > int(kLargestSeed)))
        return false;
    value = text == "off" ? kNoPositions : float(seed);
    return seed >= 0 || text == "off";
}

std::string order_name(float value) {
    return value == kNoPositions ? "off" : "shuffle:" + std::to_string(int(value));
}

std::string cells_name(const Change& change) {
    return span_name(change.query, change.queries) + ">" + span_name(change.key, change.keys);
}

}  // namespace headlight
