// Parses and spells patches and noise.
#include "model/interventions/patch_change.h"

#include "base/quoted.h"
#include "model/interventions/change_place.h"

namespace headlight {

namespace {

/// Returns whether a place suits the kind: a head, or a layer's self-attention block.
bool has_place(ChangeKind kind, const ModelConfig& c, const Change& change) {
    if (kind == ChangeKind::patch_head) return change.head >= 0;
    if (change.block < 0 || change.head >= 0) return false;
    return kind == ChangeKind::patch_attention || is_layer(c, change.block);
}

}  // namespace

bool is_patch(ChangeKind kind) {
    return kind == ChangeKind::patch_resid || kind == ChangeKind::patch_attention ||
           kind == ChangeKind::patch_mlp || kind == ChangeKind::patch_head;
}

Result<Change> parse_patch(ChangeKind kind, const ModelConfig& c, const std::string& text,
                           const std::string& rest) {
    Change change;
    change.kind = kind;
    const size_t equals = rest.find('=');
    std::string where = rest.substr(0, equals);
    if (equals != std::string::npos) change.from = rest.substr(equals + 1);
    const bool head = kind == ChangeKind::patch_head;
    const std::string name = change_row(kind).name, place = head ? "@L.H" : "@L";
    if (!take_place(c, where, change) || !has_place(kind, c, change))
        return unusable(text, "write " + name + ":POSITIONS" + place + "=TEXT with a " +
                                  (head ? "head" : "layer") + " that the model has.");
    if (!read_span(where, true, change.query, change.queries))
        return unusable(text,
                        "write the positions as 16, 3-5 for several, 16.. for 16 and later, * for all.");
    if (equals != std::string::npos && change.from.empty())
        return unusable(text,
                        "write the text that the values are of behind the =, or leave the = out for "
                        "the unchanged run.");
    return change;
}

std::string spell_patch(const ModelConfig& c, const Change& change) {
    return span_name(change.query, change.queries) + place_name(c, change) +
           (change.from.empty() ? "" : "=" + change.from);
}

std::string label_patch(ChangeKind kind, const ModelConfig& c, const Change& change,
                        const ChangeTokens& tokens) {
    const char* what = kind == ChangeKind::patch_resid       ? "resid_pre"
                       : kind == ChangeKind::patch_attention ? "attn_out"
                       : kind == ChangeKind::patch_mlp       ? "mlp_out"
                                                             : "z";
    return std::string("patch ") + what + " of " + span_label(tokens.queries, change.query, change.queries) +
           where(c, change);
}

Result<Change> parse_noise(const ModelConfig& c, const std::string& text, const std::string& rest) {
    Change change;
    change.kind = ChangeKind::noise;
    change.block = 0;
    const size_t equals = rest.find('=');
    int seed = 0;
    const bool seeded = equals == std::string::npos || (read_number(rest.substr(equals + 1), seed) &&
                                                        seed >= 0 && seed <= int(kLargestSeed));
    if (c.can.read_image) return unusable(text, "a picture has no tokens to add noise to.");
    if (!seeded || !read_span(rest.substr(0, equals), true, change.query, change.queries))
        return unusable(text, "write noise:3-5=SEED with tokens of the text and a seed up to 1048576.");
    change.value = float(seed);
    return change;
}

std::string spell_noise(const ModelConfig&, const Change& change) {
    const int seed = int(change.value);
    return span_name(change.query, change.queries) + (seed ? "=" + std::to_string(seed) : "");
}

std::string label_noise(const ModelConfig&, const Change& change, const ChangeTokens& tokens) {
    return "noise on " + span_label(tokens.queries, change.query, change.queries);
}

GivenRows::Part given_part(const Change& change) {
    return {change.query, change.queries, change.pattern, change.kind == ChangeKind::noise};
}

}  // namespace headlight
