// Computes the station "Follow a word".
#include "learn/follow/follow.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/stations/first_head.h"
#include "model/heads.h"

namespace headlight::learn {

void FollowState::visit(ControlVisitor& v) { v.played("step", "Step", step, 1, kFollowSteps + kStoryStops); }

namespace {

constexpr const char* kNeedsModel =
    "This station follows a word through a model; open the built-in story model, and type a sentence.";

/// Returns the allowed keys with a column: all, or those with the most weight, and the query itself.
std::vector<int> shown_keys(const headlight::Steps& steps, int self) {
    std::vector<int> order(steps.keys.size());
    std::iota(order.begin(), order.end(), 0);
    if (isize(order) <= kMaxColumns) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return steps.keys[a].weight > steps.keys[b].weight; });
    const bool has_self =
        std::find(order.begin(), order.begin() + kMaxColumns, self) != order.begin() + kMaxColumns;
    order.resize(kMaxColumns);
    if (self >= 0 && !has_self) order.back() = self;
    std::sort(order.begin(), order.end());
    return order;
}

int heaviest(const headlight::Steps& steps) {
    const auto most =
        std::max_element(steps.keys.begin(), steps.keys.end(),
                         [](const KeyStep& a, const KeyStep& b) { return a.weight < b.weight; });
    return narrow<int>(most - steps.keys.begin());
}

/// A decoder predicts at every token, an encoder at its mask tokens.
bool predicts_at(const Trace& trace, int stack, int query) {
    if (stack + 1 != isize(trace.config().stacks) || !trace.model->has_logits()) return false;
    if (trace.config().can.continue_text || trace.config().can.write_target) return true;
    const std::vector<int> at = predicting_positions(trace);
    return std::find(at.begin(), at.end(), query) != at.end();
}

Status predict(FollowRun& run) {
    constexpr int kListed = 5;
    run.predicts = predicts_at(run.trace, run.at.stack, run.query);
    if (!run.predicts) return success();
    TRY(run.answer, answer_attribution(run.trace, {run.query, -1, kListed, -1}, run.pool, run.cancel));
    TRY(const Lens lens, answer_lens(run.trace, {run.query, 1}, run.pool, run.cancel));
    for (const auto& layer : lens.top) run.says.push_back(run.label(layer.front().id));
    run.logits = logits_at(run.trace, run.query, run.pool);
    return success();
}

/// Returns the query to follow: the selected one, else the last that predicts.
int followed_query(const StationInput& in, const AttentionBlock& at) {
    const Trace& trace = *in.trace;
    const int count = trace.query_count(in.block);
    if (in.query >= 0 && in.query < count) return in.query;
    const bool last = at.stack + 1 == isize(trace.config().stacks);
    const std::vector<int> predicts = last ? predicting_positions(trace) : std::vector<int>();
    return predicts.empty() ? count - 1 : std::min(predicts.back(), count - 1);
}

/// Takes what the search for the first head found, if it was of this word of this run.
std::optional<Copying> copying_of(const FollowRun& run, const StationInput& in) {
    const auto* search = std::any_cast<CopySearch>(&in.ground);
    const bool same = search && search->trace == &run.trace && search->query == run.query;
    return same ? search->found : find_copying(run.trace, run.query, run.pool);
}

std::string way_of(const FollowRun& run) {
    const std::string through =
        run.crosses() ? "cross-attention " + std::to_string(run.at.layer) : "block " + run.block();
    return "on its way through " + through + ", seen by head " + head_name(run.config(), run.head);
}

}  // namespace

Vector FollowRun::stage(ChainStep step) const {
    const ChainStage* found = chain.find(step);
    return found ? found->values : Vector();
}
std::string FollowRun::block() const { return block_name(config(), head.block); }
std::string FollowRun::label(int id) const { return prediction_label(*trace.model, id); }

std::string two(double value) { return decimals(value, 2); }
std::string and_two(double value) { return (value < 0 ? " − " : " + ") + two(std::abs(value)); }
std::string length(const Vector& v) { return two(double(v.norm())); }

Result<FollowRun> follow_run(const StationInput& in, ThreadPool& pool) {
    const Trace& trace = *in.trace;
    const AttentionBlock at = trace.config().block(in.block);
    FollowRun run{trace, pool, in.cancel, at, {in.block, in.head}};
    run.query = followed_query(in, at);
    run.words = token_labels(trace, at.stack);
    run.keys = token_labels(trace, at.key_stack);
    TRY(run.steps, answer_steps(trace, {in.block, in.head, run.query}, pool, in.cancel));
    run.key = heaviest(run.steps);
    run.shown = shown_keys(run.steps, run.crosses() ? -1 : run.query);
    BlockChainRequest chain{in.block, in.head, run.query, run.key};
    TRY(run.chain, answer_block_chain(trace, chain, pool, in.cancel));
    TRY_STATUS(predict(run));
    return run;
}

Result<Page> follow_page(const StationInput& in, const FollowState& state, ThreadPool& pool) {
    const bool follows = in.trace && in.trace->has_weights() &&
                         in.trace->config().has_head({in.block, in.head}) && in.trace->has_scores(in.block);
    if (!follows) return Error{kNeedsModel};
    TRY(const FollowRun run, follow_run(in, pool));
    Thread thread;
    thread.word = run.word();
    thread.way = way_of(run);
    thread.places = run.shown;
    for (const int key : run.shown) thread.tokens.push_back(run.keys[key]);
    thread.query = run.query;
    thread.bright = run.key;
    thread.crosses = run.crosses();
    thread.steps = follow_steps(run);
    TRY_STATUS(tell_story(run, copying_of(run, in), thread));
    thread.shown = std::clamp(state.step, 1, thread.count());
    Page page;
    page.note = said(run.word()) + " " + thread.way;
    page.blocks = {std::move(thread)};
    return page;
}

namespace {

/// Returns the word that the decoder's last cross-attention reads most sharply, and where it does.
std::optional<TellingCell> reading_head(const Trace& trace) {
    const ModelConfig& config = trace.config();
    std::optional<TellingCell> out;
    float most = 0;
    for (int i = 0; i < config.head_count(); ++i) {
        const AttentionHead head = config.head_at(i);
        const AttentionBlock at = config.block(head.block);
        const bool last = at.layer + 1 == config.stacks.back().depth();
        if (at.kind != AttentionKind::cross || !last || !trace.has_scores(head.block)) continue;
        const auto queries = token_labels(trace, at.stack), keys = token_labels(trace, at.key_stack);
        const Matrix weights = trace.pattern(head.block, head.head);
        for (int query = 0; query + 1 < weights.rows(); ++query)
            for (int key = 0; key < weights.cols(); ++key) {
                const bool words =
                    is_word(queries[query]) && is_word(queries[query + 1]) && is_word(keys[key]);
                if (!words || weights(query, key) <= most) continue;
                most = weights(query, key);
                out = TellingCell{head, query};
            }
    }
    return out;
}

/// Returns the head with the most weight, at a query, on a key other than the first, itself and the one
/// before; one that looks most at another key than the first, if any does.
std::optional<TellingCell> looking_head(const Trace& trace, int wanted, ThreadPool& pool) {
    const ModelConfig& config = trace.config();
    std::vector<float> looks(config.head_count(), -1.0f);
    pool.run(isize(looks), [&](int i) {
        const AttentionHead head = config.head_at(i);
        if (!trace.has_scores(head.block)) return;
        const int last = trace.query_count(head.block) - 1, query = std::min(wanted, last);
        const Matrix row = trace.pattern_rows(head.block, head.head, query, 1);
        for (int key = 1; key < row.cols(); ++key)
            if (key != query && key + 1 != query) looks[i] = std::max(looks[i], row(0, key));
        if (looks[i] > 0 && looks_past_first(row)) looks[i] += 1;
    });
    const auto most = std::max_element(looks.begin(), looks.end());
    if (most == looks.end() || *most <= 0) return std::nullopt;
    return TellingCell{config.head_at(narrow<int>(most - looks.begin()))};
}

}  // namespace

std::optional<TellingCell> followed_head(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool) {
    if (chosen) return TellingCell{*chosen};
    if (!trace.has_weights()) return std::nullopt;
    if (isize(trace.config().stacks) > 1) return reading_head(trace);
    const std::vector<int> at = predicting_positions(trace);
    if (at.empty()) return telling_look(trace, chosen, pool);  // no word is predicted: any word that looks
    const CopySearch search{&trace, at.back(), find_copying(trace, at.back(), pool)};
    std::optional<TellingCell> cell =
        search.found ? TellingCell{search.found->head} : looking_head(trace, at.back(), pool);
    if (cell) cell->ground = search;
    return cell;
}

}  // namespace headlight::learn
