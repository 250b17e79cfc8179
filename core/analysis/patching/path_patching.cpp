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

Change given(ChangeKind kind, AttentionHead at, std::shared_ptr<const Matrix> values) {
    Change out;
    out.kind = kind;
    out.block = at.block;
    out.head = at.head;
    out.query = 0;
    out.queries = kToEnd;
    out.pattern = std::move(values);
    return out;
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

}  // namespace

bool reads_later(const ModelConfig& config, AttentionHead sender, AttentionHead receiver) {
    return config.block(sender.block).stack == config.block(receiver.block).stack &&
           comes_after(config, receiver.block, sender.block);
}

PathCuts::PathCuts(const Trace& clean, const Metric& metric, ThreadPool& pool, const CancelFlag* cancel)
    : clean_(clean),
      metric_(metric),
      pool_(pool),
      cancel_(cancel),
      values_(evaluate(metric, clean, clean, pool)),
      outputs_(static_cast<size_t>(clean.config().blocks())) {}

const std::shared_ptr<const Matrix>& PathCuts::clean_output(int block) {
    auto& out = outputs_[size_t(block)];
    if (!out) out = std::make_shared<const Matrix>(clean_.attn_out(block, pool_));
    return out;
}

/// Cuts the sender from the stream: its z is 0, and each later attention block adds its clean output.
void PathCuts::cut(AttentionHead sender, Changes& changes) {
    changes.push_back(zeroed(sender));
    for (int block = 0; block < clean_.config().blocks(); ++block)
        if (comes_after(clean_.config(), block, sender.block))
            changes.push_back(given(ChangeKind::patch_attention, {block, -1}, clean_output(block)));
}

/// [n, d_value]: the receiver's z where the named part of its input comes from the cut run.
Matrix PathCuts::received(const Trace& cut, const PathReceiver& to) {
    const int block = to.head.block, n = clean_.query_count(block);
    const auto from = [&](ReadPart part) -> const AttentionActivations& {
        return to.part == ReadPart::all || to.part == part ? cut.attention(block) : clean_.attention(block);
    };
    const Index width = clean_.config().d_value(block);
    Matrix z(n, clean_.config().heads(block) * width);
    attend(pool_, clean_.rule(block), from(ReadPart::queries).q, from(ReadPart::keys).k,
           from(ReadPart::values).v, 0, z);
    return z.middleCols(to.head.head * width, width);
}

/// Makes `count` requests, a few at a time, and returns the effect of each.
template <class Make>
Result<std::vector<float>> PathCuts::effects_of(int count, const Make& make) {
    return guarded([&]() -> Result<std::vector<float>> {
        const CancelScope scope(pool_, cancel_);
        std::vector<float> out;
        const int together = passes_together(clean_, std::max(1, count));
        for (int at = 0; at < count; at += together) {
            std::vector<TraceRequest> runs;
            for (int i = at; i < std::min(count, at + together); ++i) {
                runs.push_back({clean_.request, &clean_});
                make(i, runs.back().request.intervention.changes);
            }
            TRY(const auto traces, run_traces(clean_.model, std::move(runs), pool_, cancel_));
            for (const auto& trace : traces)
                out.push_back(values_.value - evaluate(metric_, *trace, clean_, pool_).value);
        }
        return out;
    });
}

Result<std::vector<float>> PathCuts::direct_effects(std::span<const AttentionHead> senders) {
    return effects_of(isize(senders), [&](int i, Changes& changes) { cut(senders[i], changes); });
}

Result<std::vector<float>> PathCuts::effects_through(AttentionHead sender,
                                                     std::span<const PathReceiver> receivers) {
    ForwardRequest request = clean_.request;
    cut(sender, request.intervention.changes);
    TRY(const auto lacks, run_trace(clean_.model, std::move(request), pool_, cancel_, &clean_));
    return effects_of(isize(receivers), [&](int i, Changes& changes) {
        auto z = std::make_shared<const Matrix>(received(*lacks, receivers[i]));
        changes.push_back(given(ChangeKind::patch_head, receivers[i].head, std::move(z)));
    });
}

Result<std::vector<float>> PathCuts::token_effects(std::span<const TokenPath> paths) {
    return effects_of(isize(paths), [&](int i, Changes& changes) { changes.push_back(masked(paths[i])); });
}

Result<MetricValues> PathCuts::without_heads(std::span<const AttentionHead> heads, Ablate which) {
    ForwardRequest request = clean_.request;
    for (int i = 0; i < clean_.config().head_count(); ++i) {
        const AttentionHead head = clean_.config().head_at(i);
        const bool listed = contains(heads, head);
        if (listed == (which == Ablate::listed)) request.intervention.changes.push_back(zeroed(head));
    }
    TRY(const auto run, run_trace(clean_.model, std::move(request), pool_, cancel_, &clean_));
    return evaluate(metric_, *run, clean_, pool_);
}

}  // namespace headlight
