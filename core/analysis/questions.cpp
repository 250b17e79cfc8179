#include "analysis/questions.h"

#include <algorithm>

namespace headlight {

namespace {

int near(int value, int count) { return std::clamp(value, 0, std::max(0, count - 1)); }
int stack_size(const Trace& t, int stack) { return t.request.inputs[static_cast<size_t>(stack)].size(); }

void fit(LinksWanted& w, const Trace& t) { w.site = near(w.site, t.config().sites()); }
void fit(StepsWanted& w, const Trace& t) {
    w.site = near(w.site, t.config().sites());
    w.head = near(w.head, t.config().heads(w.site));
    w.query = near(w.query, t.query_count(w.site));
}
void fit(DeltaMapsWanted& w, const Trace& t) {
    w.stack = near(w.stack, static_cast<int>(t.config().stacks.size()));
}
void fit(DeltaSplitWanted& w, const Trace& t) {
    w.site = near(w.site, t.config().sites());
    w.query = near(w.query, t.query_count(w.site));
    w.head = std::min(w.head, t.config().heads(w.site) - 1);
}
void fit(ProjectionWanted& w, const Trace& t) {
    w.stack = near(w.stack, static_cast<int>(t.config().stacks.size()));
    w.site = std::min(w.site, t.config().sites() - 1);
}
void fit(LensWanted& w, const Trace& t) {
    w.first = near(w.first, t.output().size());
    w.count = std::clamp(w.count, 1, t.output().size() - w.first);
}
void fit(AttributionWanted& w, const Trace& t) { w.position = near(w.position, t.output().size()); }
void fit(Carriers& w, const Trace& t) { w.stack = near(w.stack, static_cast<int>(t.config().stacks.size())); }
void fit(GraphWanted& w, const Trace& t) { fit(w.carriers, t); }
void fit(OriginsWanted& w, const Trace& t) {
    fit(w.carriers, t);
    w.token = near(w.token, stack_size(t, w.carriers.stack));
}
void fit(HeadMapWanted&, const Trace&) {}
void fit(RandomStatisticsWanted&, const Trace&) {}
void fit(HeadPairWanted& w, const Trace& t) {
    w.site = near(w.site, t.config().sites());
    w.head = near(w.head, t.config().heads(w.site));
}
void fit(DeltaPairWanted& w, const Trace& t) {
    w.stack = near(w.stack, static_cast<int>(t.config().stacks.size()));
}
void fit(PredictionPairWanted&, const Trace&) {}
void fit(MovedWanted&, const Trace&) {}
void fit(StagesWanted&, const Trace&) {}
void fit(WordAlignmentWanted& w, const Trace& t) {
    w.site = near(w.site, t.config().sites());
    w.heads.erase(std::remove_if(w.heads.begin(), w.heads.end(),
                                 [&](int head) { return head >= t.config().heads(w.site); }),
                  w.heads.end());
}
void fit(PositionsWanted& w, const Trace& t) {
    w.stack = near(w.stack, static_cast<int>(t.config().stacks.size()));
    w.layer = near(w.layer, t.config().stacks[static_cast<size_t>(w.stack)].layers);
    w.head = near(w.head, t.config().stacks[static_cast<size_t>(w.stack)].heads);
}
void fit(LayerPatternsWanted& w, const Trace& t) { w.head = std::min(w.head, t.config().max_heads() - 1); }

}  // namespace

namespace {
int stack_of(const Shown& shown, int site) { return shown.trace->config().site(site).stack; }
int shown_stack(const Shown& shown) { return stack_of(shown, shown.site); }
}  // namespace

bool fits(const LinksWanted& w, const Shown& shown) { return w.site == shown.site; }
bool fits(const StepsWanted& w, const Shown& shown) { return w.site == shown.site && w.head == shown.head; }
bool fits(const DeltaMapsWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const DeltaSplitWanted& w, const Shown& shown) {
    return stack_of(shown, w.site) == shown_stack(shown);
}
bool fits(const ProjectionWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const GraphWanted& w, const Shown& shown) { return w.carriers.stack == shown_stack(shown); }
bool fits(const OriginsWanted& w, const Shown& shown) { return w.carriers.stack == shown_stack(shown); }
bool fits(const HeadPairWanted& w, const Shown& shown) {
    return w.site == shown.site && w.head == shown.head;
}
bool fits(const DeltaPairWanted& w, const Shown& shown) { return w.stack == shown_stack(shown); }
bool fits(const WordAlignmentWanted& w, const Shown& shown) { return w.site == shown.site; }

Question fitted(const Question& question, const Trace& trace) {
    Question out = question;
    std::visit([&](auto& q) { fit(q, trace); }, out);
    return out;
}

}  // namespace headlight
