// Defines the table of changes: how each kind is parsed, spelled, labeled and applied.
#include "model/interventions/change.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/attention.h"
#include "model/interventions/change_place.h"
#include "model/interventions/patch_change.h"

namespace headlight {

namespace {

constexpr const char* kNoPlace =
    "there is no such place behind the @: write a head (@2.0), a layer (@2), a kind (@encoder, @decoder, "
    "@cross) that the model has, or @*.";
constexpr const char* kEveryKind =
    "write ablate:L.H:mean, temperature:0.5, mask:16>10@L.H, unmask:3-5>9, score:16>10@L.H=4.5, "
    "freeze:L.H=TEXT, skip-attention:L, skip-mlp:L, ablate-expert:L.E, positions:off, "
    "positions:shuffle:SEED, "
    "patch-resid:16@L=TEXT, patch-head:16@L.H=TEXT or noise:3-5=SEED.";

std::string short_number(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", double(value));
    return text;
}

// ---- Parses the text after the colon.
template <ChangeKind kind>
Result<Change> parse_ablated(const ModelConfig& c, const std::string&, const std::string& rest) {
    TRY(const AttentionHead head, parse_head(c, rest, "--ablate"));
    Change change;
    change.kind = kind;
    std::tie(change.block, change.head) = std::pair{head.block, head.head};
    return change;
}

template <ChangeKind kind>
Result<Change> parse_skip(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    std::tie(change.kind, change.block) = std::pair{kind, find_block(c, rest)};
    const bool there = change.block >= 0 && (kind != ChangeKind::skip_mlp || is_layer(c, change.block));
    if (!there) return unusable(text, "there is no such layer.");
    return change;
}

/// Returns the experts of a block's layer; 0: it has none.
int experts_of(const ModelConfig& c, int block) {
    const auto& experts = c.layer_of(block).mlp.experts;
    return experts && is_layer(c, block) ? experts->count : 0;
}

Result<Change> parse_expert(const ModelConfig& c, const std::string& text, const std::string& rest) {
    const size_t dot = rest.rfind('.');
    Change change;
    change.kind = ChangeKind::ablate_expert;
    change.block = dot == std::string::npos ? -1 : find_block(c, rest.substr(0, dot));
    const int experts = change.block < 0 ? 0 : experts_of(c, change.block);
    if (experts == 0) return unusable(text, "write ablate-expert:L.E with a layer that has experts.");
    const bool number = read_number(rest.substr(dot + 1), change.value) &&
                        change.value == std::floor(change.value) && change.value >= 0 &&
                        change.value < float(experts);
    if (!number)
        return unusable(text, "experts of this layer go from 0 to " + std::to_string(experts - 1) + ".");
    return change;
}

Result<Change> parse_freeze(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::freeze;
    const size_t equals = rest.find('=');
    const auto head = parse_head(c, rest.substr(0, equals), "--change");
    if (equals == std::string::npos || equals + 1 == rest.size() || !head)
        return unusable(text, "write freeze:L.H=TEXT with a head that the model has.");
    change.from = rest.substr(equals + 1);
    std::tie(change.block, change.head) = std::pair{head->block, head->head};
    return change;
}

Result<Change> parse_score(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::score;
    const size_t equals = rest.find('=');
    const bool number = equals != std::string::npos && read_number(rest.substr(equals + 1), change.value) &&
                        std::abs(change.value) <= kLargestScore;
    if (!number) return unusable(text, "write score:QUERY>KEY@L.H=NUMBER with a number from -1e30 to 1e30.");
    std::string cells = rest.substr(0, equals);
    if (!take_place(c, cells, change)) return unusable(text, kNoPlace);
    if (!read_cells(cells, false, change)) return unusable(text, "write score:QUERY>KEY@L.H=NUMBER.");
    return change;
}

template <ChangeKind kind>
Result<Change> parse_painted(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = kind;
    std::string cells = rest;
    if (!take_place(c, cells, change)) return unusable(text, kNoPlace);
    if (!read_cells(cells, true, change))
        return unusable(text,
                        "write QUERY>KEY: 16>10, 3-5>9 for several, 16..>0 for 16 and later, *>0 for all.");
    return change;
}

Result<Change> parse_tempered(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::temperature;
    std::string number = rest;
    if (!take_place(c, number, change)) return unusable(text, kNoPlace);
    if (change.blocks == Blocks::all) change.blocks = Blocks::usual;
    TRY(change.value, parse_temperature(number));
    return change;
}

Result<Change> parse_positions(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::positions;
    std::string order = rest;
    if (c.positions == PositionScheme::none)
        return unusable(text, "this model knows no positions; open another one.");
    if (!take_place(c, order, change) || change.block >= 0 || change.blocks == Blocks::cross)
        return unusable(text, "positions are a whole text's: write @encoder or @decoder, or no place.");
    if (!read_order(order, change.value))
        return unusable(text, "write positions:off, or positions:shuffle:SEED with a seed up to 1048576.");
    return change;
}

// ---- Spells changes as --change reads them.
std::string spell_ablated(const ModelConfig& c, const Change& change) {
    return head_path(c, change.block, change.head);
}
std::string spell_block(const ModelConfig& c, const Change& change) { return block_path(c, change.block); }
std::string spell_expert(const ModelConfig& c, const Change& change) {
    return block_path(c, change.block) + "." + std::to_string(int(change.value));
}
std::string spell_painted(const ModelConfig& c, const Change& change) {
    return cells_name(change) + place_name(c, change);
}
std::string spell_score(const ModelConfig& c, const Change& change) {
    return cells_name(change) + place_name(c, change) + "=" + short_number(change.value);
}
std::string spell_tempered(const ModelConfig& c, const Change& change) {
    return short_number(change.value) + place_name(c, change);
}
std::string spell_freeze(const ModelConfig& c, const Change& change) {
    return head_path(c, change.block, change.head) + "=" + change.from;
}

std::string spell_positions(const ModelConfig& c, const Change& change) {
    return order_name(change.value) + place_name(c, change);
}

// ---- Labels changes for users.
std::string cells_label(const ModelConfig& c, const Change& change, const ChangeTokens& tokens) {
    return span_label(tokens.queries, change.query, change.queries) + " → " +
           span_label(tokens.keys, change.key, change.keys) + where(c, change);
}

template <ChangeKind kind>
std::string label_ablated(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return head_name(c, change.block, change.head) + " " + change_row(kind).name;
}
std::string label_keep(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "keep only " + head_name(c, change.block, change.head);
}
std::string label_tempered(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "temperature " + decimals(double(change.value), 2) + where(c, change);
}
std::string label_mask(const ModelConfig& c, const Change& change, const ChangeTokens& tokens) {
    return "mask " + cells_label(c, change, tokens);
}
std::string label_unmask(const ModelConfig& c, const Change& change, const ChangeTokens& tokens) {
    return "unmask " + cells_label(c, change, tokens);
}
std::string label_score(const ModelConfig& c, const Change& change, const ChangeTokens& tokens) {
    return cells_label(c, change, tokens) + " = " + decimals(double(change.value), 2);
}
std::string label_freeze(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    const bool long_text = change.from.size() > 24;
    return "pattern" + where(c, change) + " of “" + change.from.substr(0, 24) + (long_text ? "…”" : "”");
}
std::string label_skip_attention(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "skip attention " + block_name(c, change.block);
}
std::string label_skip_mlp(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "skip MLP " + block_name(c, change.block);
}
std::string label_expert(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "expert " + block_name(c, change.block) + "." + std::to_string(int(change.value)) + " off";
}
std::string label_positions(const ModelConfig& c, const Change& change, const ChangeTokens&) {
    return "positions " + order_name(change.value) + where(c, change);
}

// ---- Applies changes to a head's rule.
void make_zero(const Change&, const MaskPlan&, HeadRule& head) { head.z = HeadRule::Z::zero; }
void make_mean(const Change&, const MaskPlan&, HeadRule& head) { head.z = HeadRule::Z::mean; }
void make_uniform(const Change&, const MaskPlan&, HeadRule& head) {
    head.temperature = std::numeric_limits<float>::infinity();
}
void make_hard(const Change&, const MaskPlan&, HeadRule& head) { head.temperature = 0; }
void temper(const Change& change, const MaskPlan&, HeadRule& head) { head.temperature = change.value; }
void freeze(const Change& change, const MaskPlan&, HeadRule& head) { head.frozen = change.pattern; }
void give_z(const Change& change, const MaskPlan&, HeadRule& head) {
    head.given_z.parts.push_back(given_part(change));
}
void edit_score(const Change& change, const MaskPlan& mask, HeadRule& head) {
    const bool on_grid =
        change.query >= 0 && change.query < isize(mask.visible) && change.key >= 0 && change.key < mask.keys;
    if (on_grid) head.scores.push_back({change.query, change.key, change.value});
}

using Kind = ChangeKind;
using Target = ChangeTarget;

// Follows the order of ChangeKind; the rows that ablate a head come first.
constexpr ChangeRow kChanges[] = {
    {Kind::zero, Target::head, "zero", "its z is 0", true, parse_ablated<Kind::zero>, spell_ablated,
     label_ablated<Kind::zero>, make_zero, false},
    {Kind::mean, Target::head, "mean", "its z is the mean over the positions", true,
     parse_ablated<Kind::mean>, spell_ablated, label_ablated<Kind::mean>, make_mean, true},
    {Kind::uniform, Target::head, "uniform", "it attends to all allowed keys alike", true,
     parse_ablated<Kind::uniform>, spell_ablated, label_ablated<Kind::uniform>, make_uniform, false},
    {Kind::hard, Target::head, "hard", "it attends to its strongest key alone", true,
     parse_ablated<Kind::hard>, spell_ablated, label_ablated<Kind::hard>, make_hard, false},
    {Kind::keep, Target::head, "keep", "the other heads of its layer are removed", true,
     parse_ablated<Kind::keep>, spell_ablated, label_keep, make_zero, false},
    {Kind::temperature, Target::head, "temperature", "scores are divided by it before the softmax", false,
     parse_tempered, spell_tempered, label_tempered, temper, false},
    {Kind::mask, Target::cells, "mask", "these queries do not see these keys", false,
     parse_painted<Kind::mask>, spell_painted, label_mask, nullptr, false},
    {Kind::unmask, Target::cells, "unmask", "these queries see these keys", false,
     parse_painted<Kind::unmask>, spell_painted, label_unmask, nullptr, false},
    {Kind::score, Target::head, "score", "a score is replaced", false, parse_score, spell_score, label_score,
     edit_score, false},
    {Kind::freeze, Target::head, "freeze", "its pattern is that of another text", false, parse_freeze,
     spell_freeze, label_freeze, freeze, false},
    {Kind::skip_attention, Target::attention, "skip-attention", "the block adds nothing", false,
     parse_skip<Kind::skip_attention>, spell_block, label_skip_attention, nullptr, false},
    {Kind::skip_mlp, Target::mlp, "skip-mlp", "the layer's MLP adds nothing", false,
     parse_skip<Kind::skip_mlp>, spell_block, label_skip_mlp, nullptr, false},
    {Kind::ablate_expert, Target::expert, "ablate-expert", "what this expert adds is left out", false,
     parse_expert, spell_expert, label_expert, nullptr, false},
    {Kind::positions, Target::positions, "positions", "positions are removed, or reordered", false,
     parse_positions, spell_positions, label_positions, nullptr, false},
    {Kind::patch_resid, Target::rows, "patch-resid", "the layer's input there is that of another text", false,
     parse_patch<Kind::patch_resid>, spell_patch, label_patch<Kind::patch_resid>, nullptr, false},
    {Kind::patch_attention, Target::rows, "patch-attention",
     "what the block adds there is that of another text", false, parse_patch<Kind::patch_attention>,
     spell_patch, label_patch<Kind::patch_attention>, nullptr, false},
    {Kind::patch_mlp, Target::rows, "patch-mlp", "what the layer's MLP adds there is that of another text",
     false, parse_patch<Kind::patch_mlp>, spell_patch, label_patch<Kind::patch_mlp>, nullptr, false},
    {Kind::patch_head, Target::head, "patch-head", "its z there is that of another text", false,
     parse_patch<Kind::patch_head>, spell_patch, label_patch<Kind::patch_head>, give_z, false},
    {Kind::noise, Target::rows, "noise", "noise is added to these tokens' embeddings", false, parse_noise,
     spell_noise, label_noise, nullptr, false},
};

}  // namespace

std::span<const ChangeRow> change_rows() { return kChanges; }
const ChangeRow& change_row(ChangeKind kind) { return row_of(kChanges, kind); }

std::span<const ChangeRow> ablations() {
    size_t count = 0;
    while (kChanges[count].ablates) ++count;
    return std::span(kChanges).first(count);
}

bool Change::paints() const { return change_row(kind).target == ChangeTarget::cells; }

bool Change::concerns(const ModelConfig& c, int of_block) const {
    if (block >= 0) return block == of_block;
    return within(kind == ChangeKind::temperature && blocks == Blocks::usual ? Blocks::all : blocks, c,
                  of_block);
}

bool Change::concerns(const ModelConfig& c, int of_block, int of_head) const {
    if (!concerns(c, of_block)) return false;
    return kind == ChangeKind::keep ? head != of_head : head < 0 || head == of_head;
}

Result<float> parse_temperature(const std::string& text) {
    float value = 0;
    if (read_number(text, value) &&
        (value == 0 || (value >= kMinTemperature && (value <= kLargestScore || std::isinf(value)))))
        return value;
    return Error{"The temperature of attention " + in_quotes(text) +
                 " cannot be used; write 0 (hard), a number from 1e-6 to 1e30, or inf (uniform)."};
}

Result<Change> parse_ablation(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string how = colon == std::string::npos ? "zero" : text.substr(colon + 1);
    TRY_STATUS(parse_head(c, text.substr(0, colon), "--ablate"));
    for (const ChangeRow& row : ablations())
        if (how == row.name) return row.parse(c, text, text.substr(0, colon));
    return unusable(text, "write zero, mean, uniform, hard or keep behind the colon.");
}

Result<Change> parse_change(const ModelConfig& c, const std::string& text) {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon),
                      rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (name == "ablate") return parse_ablation(c, rest);
    for (const ChangeRow& row : kChanges)
        if (!row.ablates && name == row.name) return row.parse(c, text, rest);
    return unusable(text, kEveryKind);
}

std::string change_name(const ModelConfig& c, const Change& change) {
    const ChangeRow& row = change_row(change.kind);
    const std::string spelled = row.spell(c, change);
    return row.ablates ? "ablate:" + spelled + ":" + row.name : row.name + (":" + spelled);
}

std::string change_label(const ModelConfig& c, const Change& change, const ChangeTokens& tokens) {
    return change_row(change.kind).label(c, change, tokens);
}

}  // namespace headlight
