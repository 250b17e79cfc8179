// Measures patching maps cell by cell.
#include "analysis/patching/patch_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "analysis/patching/patch_cells.h"
#include "analysis/patching/patch_estimate.h"
#include "base/cast.h"
#include "base/quoted.h"
#include "model/interventions/patch_change.h"

namespace headlight {

std::span<const PatchPartRow> patch_parts() {
    static constexpr std::array<PatchPartRow, 11> kTable{{
        {PatchPart::resid_pre, "resid_pre", "layer input", ChangeKind::patch_resid,
         "a layer's input, at one position"},
        {PatchPart::attn_out, "attn_out", "attention output", ChangeKind::patch_attention,
         "what a layer's attention adds, at one position"},
        {PatchPart::mlp_out, "mlp_out", "MLP output", ChangeKind::patch_mlp,
         "what a layer's MLP adds, at one position"},
        {PatchPart::heads, "heads", "heads", ChangeKind::patch_head, "z of a head at all positions", true},
        {PatchPart::head, "head", "head", ChangeKind::patch_head, "z of one head, at one position"},
        {PatchPart::resid_mid, "resid_mid", "before the MLP", ChangeKind::patch_attention,
         "the residual stream between attention and MLP, at one position", false, false},
        {PatchPart::heads_by_position, "heads-by-position", "heads by position", ChangeKind::patch_head,
         "z of a head, at one position"},
        {PatchPart::q, "q", "queries", ChangeKind::freeze, "a head's queries, at all positions", true, false},
        {PatchPart::k, "k", "keys", ChangeKind::freeze, "the keys that a head reads, at all positions", true,
         false},
        {PatchPart::v, "v", "values", ChangeKind::patch_head,
         "the values that a head reads, at all positions", true, false},
        {PatchPart::pattern, "pattern", "patterns", ChangeKind::freeze, "a head's pattern, in all rows", true,
         false},
    }};
    return kTable;
}

namespace {

constexpr float kNotMeasured = std::numeric_limits<float>::quiet_NaN();

struct PatchCell {
    int row, column;
};

/// Orders every eighth cell of every eighth row first, then every fourth, …, each once, so that exact values
/// soon appear everywhere beside the estimates.
std::vector<PatchCell> coarse_to_fine(const PatchMap& map, const Trace& corrupted) {
    constexpr int kCoarsest = 8;
    std::vector<PatchCell> out;
    for (int step = kCoarsest; step > 0; step /= 2)
        for (int row = 0; row < isize(map.blocks); row += step)
            for (int column = 0; column < map.columns(corrupted, row); column += step)
                if (step == kCoarsest || row % (2 * step) || column % (2 * step))
                    out.push_back({row, column});
    return out;
}

/// Describes where two texts of one stack diverge, for users.
std::string parting(const Trace& clean, const Trace& corrupted, int stack) {
    const std::vector<int>&a = clean.request.inputs[stack].ids, &b = corrupted.request.inputs[stack].ids;
    const int at = narrow<int>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const auto token = [&](const Trace& t) {
        const auto labels = token_labels(t, stack);
        return at < isize(labels) ? in_quotes(labels[at]) : std::string("the end");
    };
    return "they first differ at token " + std::to_string(at) + " (" + token(clean) + " and " +
           token(corrupted) + ")";
}

Status check_alike(const Trace& clean, const Trace& corrupted) {
    if (clean.model != corrupted.model)
        return Error{"Patching needs two runs of one model; take both texts through the same one."};
    if (!clean.can_run())
        return Error{"A trace holds no weights, so nothing can be patched in it; open the model."};
    for (int stack = 0; stack < isize(clean.request.inputs); ++stack) {
        const int a = clean.request.inputs[stack].size(), b = corrupted.request.inputs[stack].size();
        if (a != b)
            return Error{"The clean text has " + counted_tokens(a) + ", the corrupted one " +
                         counted_tokens(b) + "; " + parting(clean, corrupted, stack) +
                         "; give both the same number of tokens."};
    }
    return success();
}

/// Patches align two texts token by token, which means something only if they differ in few of them.
std::string no_frame(const Trace& clean, const Trace& corrupted) {
    constexpr int kLeastFrame = 2;
    for (int stack = 0; stack < isize(clean.request.inputs); ++stack) {
        const std::vector<int>&a = clean.request.inputs[stack].ids, &b = corrupted.request.inputs[stack].ids;
        if (a == b) continue;
        const auto ends = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin() +
                          (std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first - a.rbegin());
        int equal = 0;
        for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
        if (ends >= kLeastFrame && 2 * equal >= isize(a)) continue;
        return "The two texts agree in only " + std::to_string(equal) + " of " + counted_tokens(isize(a)) +
               ", so the map mixes unrelated sentences: change only the words that change the answer.";
    }
    return "";
}

/// Returns whether a row of a map stands for a block.
bool has_row(PatchPart part, const ModelConfig& c, int block) {
    switch (part) {
        case PatchPart::resid_pre:
        case PatchPart::mlp_out:
            return !c.block(block).is_second();
        case PatchPart::resid_mid: {
            const AttentionBlock at = c.block(block);
            return block == c.blocks_of(at.stack, at.layer).back();
        }
        default:
            return true;
    }
}

/// Lists the rows: a block each, or each head of a block.
void add_rows(PatchMap& map, const ModelConfig& c) {
    if (map.asked.part == PatchPart::head) {
        map.blocks = {map.asked.head.block};
        map.heads = {map.asked.head.head};
        return;
    }
    for (int block = 0; block < c.blocks(); ++block) {
        if (!has_row(map.asked.part, c, block)) continue;
        const bool apart = map.asked.part == PatchPart::heads_by_position;
        for (int head = 0; head < (apart ? c.heads(block) : 1); ++head) {
            map.blocks.push_back(block);
            if (apart) map.heads.push_back(head);
        }
    }
}

float normalized(const PatchMap& map, const MetricValues& m) {
    constexpr float kNoMinusZero = 0;
    return (m.value - map.corrupted.value) / (map.clean.value - map.corrupted.value) + kNoMinusZero;
}

}  // namespace

int PatchMap::columns(const Trace& run, int row) const {
    if (!by_head()) return run.query_count(blocks[row]);
    const bool of_scores = asked.part != PatchPart::heads;  // a recurrence has none
    return of_scores && run.is_mixing(blocks[row]) ? 0 : run.config().heads(blocks[row]);
}

std::string patch_row_label(const PatchMap& map, const ModelConfig& c, int row) {
    return map.heads.empty() ? block_name(c, map.blocks[row])
                             : head_name(c, {map.blocks[row], map.heads[row]});
}

float PatchMap::shown(int row, int column) const {
    const float exact = values(row, column);
    return std::isnan(exact) && estimates.size() ? estimates(row, column) : exact;
}

Change patch_of(const PatchMap& map, int row, int column) {
    Change out;
    out.kind = patch_part(map.asked.part).change;
    out.block = map.blocks[row];
    out.query = map.by_head() ? 0 : column;
    out.queries = map.by_head() ? kToEnd : 1;
    if (map.by_head()) out.head = column;
    if (!map.heads.empty()) out.head = map.heads[row];
    return out;
}

Result<PatchMap> empty_patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                                 ThreadPool& pool) {
    constexpr float kEqual = 1e-5f;  // float32 difference between two runs of one prompt
    PatchMap map;
    map.asked = request;
    TRY(map.asked.metric, resolved(request.metric, clean, pool));
    TRY_STATUS(check_alike(clean, corrupted));
    TRY_STATUS(check_patch_part(request.part, clean.config()));
    const Metric& metric = map.asked.metric;
    const Vector own = logits_at(clean, metric.position, pool);
    map.clean = evaluate(metric, own, own);
    map.corrupted = evaluate(metric, logits_at(corrupted, metric.position, pool), own);
    const float reach = std::max({1.0f, std::abs(map.clean.value), std::abs(map.corrupted.value)});
    if (!(std::abs(map.clean.value - map.corrupted.value) > kEqual * reach))
        return Error{metric_label(*clean.model, metric) + " is " + decimals(double(map.clean.value), 3) +
                     " in both runs, so patching has nothing to restore; choose another "
                     "metric, or texts that differ in it."};
    map.warning = no_frame(clean, corrupted);
    add_rows(map, clean.config());
    int widest = 0;
    for (int row = 0; row < isize(map.blocks); ++row) {
        widest = std::max(widest, map.columns(corrupted, row));
        map.cells += map.columns(corrupted, row);
    }
    map.values.setConstant(isize(map.blocks), widest, kNotMeasured);
    return map;
}

namespace {

void measure(const Matrix& logits, std::span<const PatchCell> cells, const Vector& clean, PatchMap& map) {
    for (int i = 0; i < isize(cells); ++i)
        map.values(cells[i].row, cells[i].column) =
            normalized(map, evaluate(map.asked.metric, logits.row(i).transpose(), clean));
    map.done += isize(cells);
}

}  // namespace

Result<PatchMap> patch_map(const Trace& clean, const Trace& corrupted, const PatchRequest& request,
                           ThreadPool& pool, const CancelFlag* cancel,
                           const std::function<void(const PatchMap&)>& seen, const PatchMap* known) {
    constexpr size_t kTogether = 16;  // passes: each weight is read once for so many
    TRY(PatchMap map, empty_patch_map(clean, corrupted, request, pool));
    if (known && known->asked == map.asked && known->blocks == map.blocks && known->cells == map.cells)
        std::tie(map.values, map.done) = std::tie(known->values, known->done);
    if (auto estimated = patch_estimates(map, clean, corrupted, pool, cancel))
        map.estimates = *std::move(estimated);
    else if (estimated.error().cancelled)  // after another failure the exact values remain
        return estimated.error();
    if (seen) seen(map);
    const Vector own = logits_at(clean, map.asked.metric.position, pool);
    auto cells = coarse_to_fine(map, corrupted);
    std::erase_if(cells,
                  [&](const PatchCell& cell) { return !std::isnan(map.values(cell.row, cell.column)); });
    const size_t together = passes_together(corrupted, kTogether);
    PatchCells source(clean, corrupted, pool, cancel);
    for (size_t at = 0; at < cells.size(); at += together) {
        if (stopped(cancel)) return cancelled();
        const auto some = std::span(cells).subspan(at, std::min(together, cells.size() - at));
        std::vector<Intervention> patched;
        for (const PatchCell& cell : some) {
            TRY(Change patch, source.change(map, cell.row, cell.column));
            patched.push_back(corrupted.request.intervention);
            patched.back().changes.push_back(std::move(patch));
        }
        TRY(const Matrix logits, logits_under(corrupted, patched, map.asked.metric.position, pool, cancel));
        measure(logits, some, own, map);
        if (seen) seen(map);
    }
    return map;
}

void PatchMapRequest::clamp_to(const Trace& trace) {
    patch.head.block = nearest_block(trace, patch.head.block);
    patch.head.head = nearest_head(trace, patch.head.block, patch.head.head);
}

bool has_patch_runs(const Runs& runs, bool from_other) { return from_other ? runs.other : runs.own; }

ForwardRequest without_patches(ForwardRequest request) {
    std::erase_if(request.intervention.changes, [](const Change& c) { return is_patch(c.kind); });
    return request;
}

Result<PatchMapFound> answer_patch_map(const Runs& runs, const PatchMapRequest& w, ThreadPool& pool,
                                       const CancelFlag* cancel) {
    PatchMapFound out;
    if (!has_patch_runs(runs, w.from_other)) return out;
    const Trace& own = runs.own ? *runs.own : runs.shown;
    ForwardRequest request = without_patches(w.from_other ? own.request : runs.shown.request);
    TRY(const auto corrupted, run_trace(runs.shown.model, std::move(request), pool, cancel, &runs.shown));
    auto map = patch_map(w.from_other ? *runs.other : own, *corrupted, w.patch, pool, cancel);
    if (!map && map.error().cancelled) return map.error();
    if (map)
        out.map = *std::move(map);
    else
        out.refusal = map.error().message;
    return out;
}

std::vector<NumberTable> patch_numbers(const PatchMap& map, const Trace& corrupted) {
    const ModelConfig& c = corrupted.config();
    const Index columns = map.values.cols();
    std::vector<std::string> rows, tokens;
    for (int row = 0; row < isize(map.blocks); ++row) rows.push_back(patch_row_label(map, c, row));
    if (!map.by_head() && c.stacks.size() == 1) tokens = token_labels(corrupted, 0);
    if (isize(tokens) != columns) tokens = counted(columns);
    const std::string part = map.asked.part == PatchPart::head ? "head " + head_name(c, map.asked.head)
                                                               : patch_part(map.asked.part).word;
    std::vector<NumberTable> out;
    const auto add = [&](const std::string& name, const Matrix& values) {
        out.push_back({name, map.heads.empty() ? "layer" : "head", map.by_head() ? "head" : "position", rows,
                       tokens, values});
        out.back().beside = out.size() > 1;
    };
    if (map.done > 0) add(part, map.values);
    if (map.estimates.size()) add(part + " estimated", map.estimates);
    out.push_back({.name = "metric",
                   .rows_are = "metric",
                   .columns_are = "run",
                   .rows = {metric_name(*corrupted.model, map.asked.metric)},
                   .columns = {"clean", "corrupted"},
                   .values = Eigen::RowVector2f(map.clean.value, map.corrupted.value),
                   .beside = true});
    return out;
}

}  // namespace headlight
