// Checks changes against a model's layers, heads and widths.
#include "model/interventions/check_changes.h"

#include "model/interventions/change_place.h"
#include "model/interventions/patch_change.h"

namespace headlight {

namespace {

/// Says which place a kind of change must name: none, a stack, a head, an attention block, or its layer's.
enum class Named { anything, stack, head, block, layer };

Named named_by(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::positions:
            return Named::stack;
        case ChangeKind::freeze:
        case ChangeKind::patch_head:
            return Named::head;
        case ChangeKind::skip_attention:
        case ChangeKind::patch_attention:
            return Named::block;
        case ChangeKind::skip_mlp:
        case ChangeKind::ablate_expert:
        case ChangeKind::patch_mlp:
        case ChangeKind::patch_resid:
        case ChangeKind::noise:
            return Named::layer;
        default:
            return Named::anything;
    }
}

bool names_mlp(ChangeKind kind) { return kind == ChangeKind::skip_mlp || kind == ChangeKind::patch_mlp; }

bool has_blocks(const ModelConfig& c, const Change& change) {
    for (int block = 0; block < c.blocks(); ++block)
        if (change.concerns(c, block)) return true;
    return false;
}

/// Returns whether the model has the block and the head of a change.
bool has_place(const ModelConfig& c, const Change& change) {
    if (change.block < -1 || change.block >= c.blocks() || !has_blocks(c, change)) return false;
    const int heads = change.block < 0 ? c.max_heads() : c.heads(change.block);
    if (change.head < -1 || change.head >= heads) return false;
    switch (named_by(change.kind)) {
        case Named::anything:
            return true;
        case Named::stack:
            return change.block < 0 && change.blocks != Blocks::cross && c.positions != PositionScheme::none;
        case Named::head:
            return change.block >= 0 && change.head >= 0;
        case Named::block:
            return change.block >= 0;
        case Named::layer:
            return change.block >= 0 && is_layer(c, change.block) &&
                   !(names_mlp(change.kind) && c.layer_of(change.block).mlp.none());
    }
    return false;
}

bool has_span(int first, int count) { return first >= 0 && count >= 1; }

/// Returns whether a change of scores, or of what softmax makes of them, names a block that has them; one
/// that names no block is of those that do.
bool has_softmax(const ModelConfig& c, const Change& change) {
    constexpr ChangeKind kNeed[] = {ChangeKind::score, ChangeKind::temperature, ChangeKind::uniform,
                                    ChangeKind::hard};
    if (!contains(kNeed, change.kind)) return true;
    for (int block = 0; block < c.blocks(); ++block)
        if (change.concerns(c, block) && !c.attention(block).recurrence) return true;
    return false;
}

/// Returns whether a change names its positions, if its kind needs them.
bool has_positions(const Change& change) {
    const bool cells = change.paints() || change.kind == ChangeKind::score;
    const bool rows = cells || is_patch(change.kind) || change.kind == ChangeKind::noise;
    return (!rows || has_span(change.query, change.queries)) && (!cells || has_span(change.key, change.keys));
}

/// Returns whether the rows of a change are as wide as those that they replace.
bool has_width(const ModelConfig& c, const Change& change) {
    if (!change.pattern || change.kind == ChangeKind::freeze) return true;
    return change.pattern->cols() ==
           (change.kind == ChangeKind::patch_head ? c.d_value(change.block) : c.d_model);
}

/// Returns whether the layer has the expert that a change names.
bool has_expert(const ModelConfig& c, const Change& change) {
    if (change.kind != ChangeKind::ablate_expert) return true;
    const auto& experts = c.layer_of(change.block).mlp.experts;
    return experts && change.value >= 0 && change.value < float(experts->count);
}

const char* misfit(const ModelConfig& c, const Change& change) {
    if (change.kind == ChangeKind::noise && (c.can.read_image || change.block != 0))
        return "needs token embeddings";
    if (change.kind == ChangeKind::noise && c.has_streams())
        return "needs a single stream of token embeddings";
    if (!has_place(c, change)) return "names a place";
    if (!has_softmax(c, change)) return "needs a softmax at a place";
    if (!has_expert(c, change)) return "names an expert";
    if (!has_positions(change)) return "names positions";
    return has_width(c, change) ? nullptr : "brings rows of a width";
}

}  // namespace

Status check_changes(const Model& model, const Intervention& intervention) {
    for (const Change& change : intervention.changes)
        if (const char* what = misfit(model.config, change))
            return Error{std::string("The change ") + change_row(change.kind).name + " " + what + " that " +
                         model.name + " does not have; take it out, or open the model that it was made for."};
    return success();
}

}  // namespace headlight
