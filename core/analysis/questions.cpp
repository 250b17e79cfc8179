#include "analysis/questions.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

namespace {

int clamped(int value, int count) { return std::clamp(value, 0, std::max(0, count - 1)); }
int stack_size(const Trace& t, int stack) { return t.request.inputs[stack].size(); }

void fit(LinksWanted& w, const Trace& t) { w.block = clamped(w.block, t.config().blocks()); }
void fit(StepsWanted& w, const Trace& t) {
    w.block = clamped(w.block, t.config().blocks());
    w.head = clamped(w.head, t.config().heads(w.block));
    w.query = clamped(w.query, t.query_count(w.block));
}
void fit(DeltaMapsWanted& w, const Trace& t) { w.stack = clamped(w.stack, isize(t.config().stacks)); }
void fit(DeltaSplitWanted& w, const Trace& t) {
    w.block = clamped(w.block, t.config().blocks());
    w.query = clamped(w.query, t.query_count(w.block));
    w.head = std::min(w.head, t.config().heads(w.block) - 1);
}
void fit(ProjectionWanted& w, const Trace& t) {
    w.stack = clamped(w.stack, isize(t.config().stacks));
    w.block = std::min(w.block, t.config().blocks() - 1);
}
void fit(LensWanted& w, const Trace& t) {
    w.first = clamped(w.first, t.output().size());
    w.count = std::clamp(w.count, 1, t.output().size() - w.first);
}
void fit(AttributionWanted& w, const Trace& t) { w.position = clamped(w.position, t.output().size()); }
void fit(IncludedHeads& w, const Trace& t) { w.stack = clamped(w.stack, isize(t.config().stacks)); }
void fit(GraphWanted& w, const Trace& t) { fit(w.included, t); }
void fit(RolloutWanted& w, const Trace& t) {
    fit(w.included, t);
    w.token = clamped(w.token, stack_size(t, w.included.stack));
}
void fit(HeadMapWanted&, const Trace&) {}
void fit(RandomStatisticsWanted&, const Trace&) {}
void fit(HeadPairWanted& w, const Trace& t) {
    w.block = clamped(w.block, t.config().blocks());
    w.head = clamped(w.head, t.config().heads(w.block));
}
void fit(DeltaPairWanted& w, const Trace& t) { w.stack = clamped(w.stack, isize(t.config().stacks)); }
void fit(PredictionPairWanted&, const Trace&) {}
void fit(MovedWanted&, const Trace&) {}
void fit(StagesWanted&, const Trace&) {}
void fit(WordAlignmentWanted& w, const Trace& t) {
    w.block = clamped(w.block, t.config().blocks());
    w.heads.erase(std::remove_if(w.heads.begin(), w.heads.end(),
                                 [&](int head) { return head >= t.config().heads(w.block); }),
                  w.heads.end());
}
void fit(PositionsWanted& w, const Trace& t) {
    w.stack = clamped(w.stack, isize(t.config().stacks));
    w.layer = clamped(w.layer, t.config().stacks[w.stack].layers);
    w.head = clamped(w.head, t.config().stacks[w.stack].heads);
}
void fit(LayerPatternsWanted& w, const Trace& t) { w.head = std::min(w.head, t.config().max_heads() - 1); }

}  // namespace

namespace {
int stack_of(const Shown& shown, int block) { return shown.trace->config().block(block).stack; }
int shown_stack(const Shown& shown) { return stack_of(shown, shown.block); }
}  // namespace

bool fits(const LinksWanted& w, const Shown& shown) { return w.block == shown.block; }
bool fits(const StepsWanted& w, const Shown& shown) { return w.block == shown.block && w.head == shown.head; }
bool fits(const DeltaMapsWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const DeltaSplitWanted& w, const Shown& shown) {
    return stack_of(shown, w.block) == shown_stack(shown);
}
bool fits(const ProjectionWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const GraphWanted& w, const Shown& shown) { return w.included.stack == shown_stack(shown); }
bool fits(const RolloutWanted& w, const Shown& shown) { return w.included.stack == shown_stack(shown); }
bool fits(const HeadPairWanted& w, const Shown& shown) {
    return w.block == shown.block && w.head == shown.head;
}
bool fits(const DeltaPairWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const WordAlignmentWanted& w, const Shown& shown) { return w.block == shown.block; }

Question fitted(const Question& question, const Trace& trace) {
    Question out = question;
    std::visit([&](auto& q) { fit(q, trace); }, out);
    return out;
}

}  // namespace headlight
