#include "model/change.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "base/quoted.h"

namespace headlight {

namespace {

constexpr ChangeRow kAblations[] = {{ChangeKind::zero, "zero", "its z is 0"},
                                    {ChangeKind::mean, "mean", "its z is the mean over the positions"},
                                    {ChangeKind::uniform, "uniform", "it attends to all allowed keys alike"},
                                    {ChangeKind::hard, "hard", "it attends to its strongest key alone"},
                                    {ChangeKind::keep, "keep", "the other heads of its layer are removed"}};

constexpr std::pair<Blocks, const char*> kBlocks[] = {
    {Blocks::encoder, "encoder"}, {Blocks::decoder, "decoder"}, {Blocks::cross, "cross"}, {Blocks::all, "*"}};

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

Error unusable(const std::string& text, const std::string& helps) {
    return Error{"The change " + in_quotes(text) + " cannot be used; " + helps};
}

/// The number of a layer's attention block, or −1: "3", "encoder.0", "cross.1".
int find_block(const ModelConfig& c, const std::string& layer) {
    for (int block = 0; block < c.blocks(); ++block)
        if (const std::string path = block_path(c, block); path == layer || path == "decoder." + layer)
            return block;
    return -1;
}

/// Where a change is: "3.5", "cross.0.2", "3", "cross.0", "cross", "*"; false where there is no such place.
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

std::string place_name(const ModelConfig& c, const Change& change) {
    if (change.block >= 0)
        return "@" +
               (change.head < 0 ? block_path(c, change.block) : head_path(c, change.block, change.head));
    for (const auto& [blocks, name] : kBlocks)
        if (blocks == change.blocks) return std::string("@") + name;
    return "";
}

/// Takes "@L.H" off the end; true where there is none or the place exists.
bool take_place(const ModelConfig& c, std::string& text, Change& change) {
    const size_t at = text.find('@');
    if (at == std::string::npos) return true;
    const bool read = read_place(c, text.substr(at + 1), change);
    text.erase(at);
    return read;
}

std::string short_number(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
}

template <class Number>
bool read_number(const std::string& text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Of a position in a text, below a million.
bool read_position(const std::string& text, int& position) {
    return read_number(text, position) && text[0] != '-' && position < 1'000'000;
}

/// "16", or where several may be named "3-5", "16.." and "*" too: the first and how many.
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

bool read_pair(const std::string& text, bool several, Change& change) {
    const size_t arrow = text.find('>');
    return arrow != std::string::npos &&
           read_span(text.substr(0, arrow), several, change.query, change.queries) &&
           read_span(text.substr(arrow + 1), several, change.key, change.keys);
}

std::string span_name(int first, int count) {
    if (count == kToEnd) return first == 0 ? "*" : std::to_string(first) + "..";
    return std::to_string(first) + (count > 1 ? "-" + std::to_string(first + count - 1) : "");
}

}  // namespace

bool Change::concerns(const ModelConfig& c, int of_block) const {
    if (block >= 0) return block == of_block;
    return within(kind == ChangeKind::temperature && blocks == Blocks::usual ? Blocks::all : blocks, c,
                  of_block);
}

bool Change::concerns(const ModelConfig& c, int of_block, int of_head) const {
    if (!concerns(c, of_block)) return false;
    return kind == ChangeKind::keep ? head != of_head : head < 0 || head == of_head;
}

std::span<const ChangeRow> ablations() { return kAblations; }

Result<Change> parse_ablation(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string how = colon == std::string::npos ? "zero" : text.substr(colon + 1);
    TRY(const AttentionHead place, parse_head(c, text.substr(0, colon), "--ablate"));
    Change change;
    std::tie(change.block, change.head) = std::pair{place.block, place.head};
    for (const ChangeRow& row : kAblations)
        if (how == row.name) {
            change.kind = row.kind;
            return change;
        }
    return unusable(text, "write zero, mean, uniform, hard or keep behind the colon.");
}

Result<float> parse_temperature(const std::string& text) {
    float value = 0;
    if (read_number(text, value) &&
        (value == 0 || (value >= kMinTemperature && (value <= kLargestScore || std::isinf(value)))))
        return value;
    return Error{"The temperature of attention " + in_quotes(text) +
                 " cannot be used; write 0 (hard), a number from 1e-6 to 1e30, or inf (uniform)."};
}

namespace {

constexpr const char* kNoPlace =
    "there is no such place behind the @: write a head (@2.0), a layer (@2), a kind (@encoder, @decoder, "
    "@cross) that the model has, or @*.";
constexpr const char* kEveryKind =
    "write ablate:L.H:mean, temperature:0.5, mask:16>10@L.H, unmask:3-5>9, score:16>10@L.H=4.5, "
    "freeze:L.H=TEXT, skip-attention:L or skip-mlp:L.";

Result<Change> parse_skip(const ModelConfig& c, const std::string& text, ChangeKind kind,
                          const std::string& layer) {
    Change change;
    change.kind = kind;
    change.block = find_block(c, layer);
    if (change.block < 0) return unusable(text, "there is no such layer.");
    return change;
}

Result<Change> parse_freeze(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::freeze;
    const size_t equals = rest.find('=');
    const auto place = parse_head(c, rest.substr(0, equals), "--change");
    if (equals == std::string::npos || equals + 1 == rest.size() || !place)
        return unusable(text, "write freeze:L.H=TEXT with a head that the model has.");
    change.from = rest.substr(equals + 1);
    std::tie(change.block, change.head) = std::pair{place->block, place->head};
    return change;
}

Result<Change> parse_score(const ModelConfig& c, const std::string& text, std::string rest) {
    Change change;
    change.kind = ChangeKind::score;
    const size_t equals = rest.find('=');
    const bool number = equals != std::string::npos && read_number(rest.substr(equals + 1), change.value) &&
                        std::abs(change.value) <= kLargestScore;
    if (!number) return unusable(text, "write score:QUERY>KEY@L.H=NUMBER with a number from -1e30 to 1e30.");
    rest.erase(equals);
    if (!take_place(c, rest, change)) return unusable(text, kNoPlace);
    if (!read_pair(rest, false, change)) return unusable(text, "write score:QUERY>KEY@L.H=NUMBER.");
    return change;
}

Result<Change> parse_painted(const ModelConfig& c, const std::string& text, ChangeKind kind,
                             std::string rest) {
    Change change;
    change.kind = kind;
    if (!take_place(c, rest, change)) return unusable(text, kNoPlace);
    if (!read_pair(rest, true, change))
        return unusable(text,
                        "write QUERY>KEY: 16>10, 3-5>9 for several, 16..>0 for 16 and later, *>0 for all.");
    return change;
}

}  // namespace

Result<Change> parse_change(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (name == "ablate") return parse_ablation(c, rest);
    if (name == "skip-attention") return parse_skip(c, text, ChangeKind::skip_attention, rest);
    if (name == "skip-mlp") return parse_skip(c, text, ChangeKind::skip_mlp, rest);
    if (name == "freeze") return parse_freeze(c, text, rest);
    if (name == "score") return parse_score(c, text, rest);
    if (name == "mask" || name == "forbid") return parse_painted(c, text, ChangeKind::forbid, rest);
    if (name == "unmask" || name == "allow") return parse_painted(c, text, ChangeKind::allow, rest);
    if (name != "temperature") return unusable(text, kEveryKind);
    Change change;
    change.kind = ChangeKind::temperature;
    if (!take_place(c, rest, change)) return unusable(text, kNoPlace);
    if (change.blocks == Blocks::all) change.blocks = Blocks::usual;
    TRY(change.value, parse_temperature(rest));
    return change;
}

std::string change_name(const ModelConfig& c, const Change& change) {
    const std::string pair =
        span_name(change.query, change.queries) + ">" + span_name(change.key, change.keys);
    switch (change.kind) {
        case ChangeKind::temperature:
            return "temperature:" + short_number(change.value) + place_name(c, change);
        case ChangeKind::forbid:
            return "mask:" + pair + place_name(c, change);
        case ChangeKind::allow:
            return "unmask:" + pair + place_name(c, change);
        case ChangeKind::score:
            return "score:" + pair + place_name(c, change) + "=" + short_number(change.value);
        case ChangeKind::freeze:
            return "freeze:" + head_path(c, change.block, change.head) + "=" + change.from;
        case ChangeKind::skip_attention:
            return "skip-attention:" + block_path(c, change.block);
        case ChangeKind::skip_mlp:
            return "skip-mlp:" + block_path(c, change.block);
        default:
            break;
    }
    for (const ChangeRow& row : kAblations)
        if (row.kind == change.kind)
            return "ablate:" + head_path(c, change.block, change.head) + ":" + row.name;
    return "";
}

}  // namespace headlight
