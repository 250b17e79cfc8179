#include "analysis/patching/path_patching.h"

#include <algorithm>

#include "analysis/patching/patch.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// Orders blocks as a pass computes them: by stack, then layer, self-attention before cross-attention.
bool comes_after(const ModelConfig& c, int block, int of) {
    const AttentionBlock a = c.block(of), b = c.block(block);
    if (a.stack != b.stack) return b.stack > a.stack;
    if (a.layer != b.layer) return b.layer > a.layer;
    return a.kind != AttentionKind::cross && b.kind == AttentionKind::cross;
}

Change zeroed(AttentionHead head) {
    Change out;
    out.kind = ChangeKind::zero;
    out.block = head.block;
    out.head = head.head;
    return out;
}

Change given(ChangeKind kind, AttentionHead at, Matrix values) {
    Change out;
    out.kind = kind;
    out.block = at.block;
    out.head = at.head;
    out.query = 0;
    out.queries = kToEnd;
    out.pattern = std::make_shared<const Matrix>(std::move(values));
    return out;
}

/// Cuts the sender from the stream: its z is 0, and each later attention block adds its clean output.
void cut(const Trace& clean, AttentionHead sender, std::vector<Change>& changes, ThreadPool& pool) {
    changes.push_back(zeroed(sender));
    for (int block = 0; block < clean.config().blocks(); ++block)
        if (comes_after(clean.config(), block, sender.block))
            changes.push_back(given(ChangeKind::patch_attention, {block, -1}, clean.attn_out(block, pool)));
}

/// [n, d_head]: the receiver's z where the named part of its input comes from the cut run.
Matrix received(const Trace& clean, const Trace& cut, const PathReceiver& to, ThreadPool& pool) {
    const int block = to.head.block, n = clean.query_count(block);
    const auto from = [&](ReadPart part) -> const AttentionActivations& {
        return to.part == ReadPart::all || to.part == part ? cut.attention(block) : clean.attention(block);
    };
    Matrix z(n, clean.attention(block).q.cols());
    attend(pool, clean.rule(block), from(ReadPart::queries).q, from(ReadPart::keys).k,
           from(ReadPart::values).v, 0, z);
    const Index width = clean.config().d_head(block);
    return z.middleCols(to.head.head * width, width);
}

Change masked(const TokenPath& path) {
    Change out;
    out.kind = ChangeKind::mask;
    out.block = path.head.block;
    out.head = path.head.head;
    out.query = 0;
    out.queries = kToEnd;
    out.key = path.token;
    return out;
}

/// Makes `count` requests, a few at a time, and returns the effect of each.
template <class Make>
Result<std::vector<float>> effects_of(const Trace& clean, const Metric& metric, int count, const Make& make,
                                      ThreadPool& pool, const CancelFlag* cancel) {
    return guarded([&]() -> Result<std::vector<float>> {
        const CancelScope scope(pool, cancel);
        const float value = evaluate(metric, clean, clean, pool).value;
        std::vector<float> out;
        const int together = passes_together(clean, std::max(1, count));
        for (int at = 0; at < count; at += together) {
            std::vector<TraceRequest> runs;
            for (int i = at; i < std::min(count, at + together); ++i) {
                runs.push_back({clean.request, &clean});
                make(i, runs.back().request.intervention.changes);
            }
            TRY(const auto traces, run_traces(clean.model, std::move(runs), pool, cancel));
            for (const auto& trace : traces)
                out.push_back(value - evaluate(metric, *trace, clean, pool).value);
        }
        return out;
    });
}

}  // namespace

bool reads_later(const ModelConfig& config, AttentionHead sender, AttentionHead receiver) {
    return config.block(sender.block).stack == config.block(receiver.block).stack &&
           comes_after(config, receiver.block, sender.block);
}

Result<std::vector<float>> direct_effects(const Trace& clean, const Metric& metric,
                                          std::span<const AttentionHead> senders, ThreadPool& pool,
                                          const CancelFlag* cancel) {
    const auto make = [&](int i, std::vector<Change>& changes) { cut(clean, senders[i], changes, pool); };
    return effects_of(clean, metric, isize(senders), make, pool, cancel);
}

Result<std::vector<float>> ablation_effects(const Trace& clean, const Metric& metric,
                                            std::span<const AttentionHead> heads, ThreadPool& pool,
                                            const CancelFlag* cancel) {
    const auto make = [&](int i, std::vector<Change>& changes) { changes.push_back(zeroed(heads[i])); };
    return effects_of(clean, metric, isize(heads), make, pool, cancel);
}

Result<std::vector<float>> effects_through(const Trace& clean, const Metric& metric, AttentionHead sender,
                                           std::span<const PathReceiver> receivers, ThreadPool& pool,
                                           const CancelFlag* cancel) {
    ForwardRequest request = clean.request;
    cut(clean, sender, request.intervention.changes, pool);
    TRY(const auto lacks, run_trace(clean.model, std::move(request), pool, cancel, &clean));
    const auto make = [&](int i, std::vector<Change>& changes) {
        const PathReceiver& to = receivers[i];
        changes.push_back(given(ChangeKind::patch_head, to.head, received(clean, *lacks, to, pool)));
    };
    return effects_of(clean, metric, isize(receivers), make, pool, cancel);
}

Result<std::vector<float>> token_effects(const Trace& clean, const Metric& metric,
                                         std::span<const TokenPath> paths, ThreadPool& pool,
                                         const CancelFlag* cancel) {
    const auto make = [&](int i, std::vector<Change>& changes) { changes.push_back(masked(paths[i])); };
    return effects_of(clean, metric, isize(paths), make, pool, cancel);
}

Result<std::shared_ptr<const Trace>> without_heads(const Trace& clean, std::span<const AttentionHead> heads,
                                                   Ablate which, ThreadPool& pool, const CancelFlag* cancel) {
    ForwardRequest request = clean.request;
    for (int i = 0; i < clean.config().head_count(); ++i) {
        const AttentionHead head = clean.config().head_at(i);
        const bool listed = std::find(heads.begin(), heads.end(), head) != heads.end();
        if (listed == (which == Ablate::listed)) request.intervention.changes.push_back(zeroed(head));
    }
    return run_trace(clean.model, std::move(request), pool, cancel, &clean);
}

}  // namespace headlight
