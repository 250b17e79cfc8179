// Restores the changes that a trace file records.
#include "trace/recorded_changes.h"

#include <algorithm>
#include <array>
#include <string>

#include "model/interventions/patch_change.h"

namespace headlight {

namespace {

constexpr std::array kKinds{ChangeKind::zero,           ChangeKind::mean,        ChangeKind::keep,
                            ChangeKind::skip_attention, ChangeKind::patch_resid, ChangeKind::patch_attention,
                            ChangeKind::patch_head};

bool is_noted(ChangeKind kind) { return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end(); }

/// Returns whether a spelled change may be of one of these kinds.
bool may_be_noted(const std::string& text) {
    const std::string name = text.substr(0, text.find(':'));
    return name == "ablate" || std::any_of(kKinds.begin(), kKinds.end(),
                                           [&](ChangeKind kind) { return name == change_row(kind).name; });
}

/// Records which rows were replaced, without their values.
GivenRows::Part rows_of(const Change& change, int rows) {
    Change known = change;
    known.pattern = std::make_shared<const Matrix>(rows, 0);
    return given_part(known);
}

}  // namespace

Result<std::vector<Change>> recorded_changes(const TraceReader& in, const ModelConfig& config) {
    std::vector<Change> out;
    TRY(const Json list, in.metadata("changes"));
    if (list.is_null()) return out;
    if (!list.is_array()) return in.error("its changes are not a list; record the trace again.");
    for (const Json& text : list) {
        if (!text.is_string())
            return in.error("its changes are not spelled as --change reads them; record the trace again.");
        if (!may_be_noted(text.get<std::string>())) continue;
        const auto change = parse_change(config, text.get<std::string>());
        if (!change) return in.error(change.error().message);
        if (is_noted(change->kind)) out.push_back(*change);
    }
    return out;
}

void note_changes(const std::vector<Change>& changes, const ModelConfig& config, int block, int queries,
                  AttentionRule& rule) {
    for (const Change& change : changes) {
        if (change.kind == ChangeKind::patch_resid || !change.concerns(config, block)) continue;
        if (change.kind == ChangeKind::skip_attention) rule.skipped = true;
        if (change.kind == ChangeKind::patch_attention)
            rule.given_out.parts.push_back(rows_of(change, queries));
        if (change_row(change.kind).target != ChangeTarget::head) continue;
        if (rule.changed.empty()) rule.changed.resize(static_cast<size_t>(rule.heads));
        for (int head = 0; head < rule.heads; ++head) {
            HeadRule& mine = rule.changed[static_cast<size_t>(head)];
            if (!change.concerns(config, block, head)) continue;
            if (change.kind == ChangeKind::patch_head)
                mine.given_z.parts.push_back(rows_of(change, queries));
            else
                mine.z = change.kind == ChangeKind::mean ? HeadRule::Z::mean : HeadRule::Z::zero;
        }
    }
}

void note_changes(const std::vector<Change>& changes, int block, int tokens, LayerChanges& layer) {
    for (const Change& change : changes)
        if (change.kind == ChangeKind::patch_resid && change.block == block)
            layer.resid_pre.parts.push_back(rows_of(change, tokens));
}

}  // namespace headlight
