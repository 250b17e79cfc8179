// Describes runs and answers the questions about them.
#include "questions/answering.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "model/pass.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {
constexpr int kNextTokens = 5;
constexpr size_t kMaxPredictions = 16;

/// Returns the cross-attention head whose attention best separates the target's words.
AttentionHead best_aligned_head(const Trace& trace, const ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    AttentionHead best{cross_block(c, 0), 0};
    float max = -1;
    for (int block = best.block; block < c.blocks(); ++block)
        for (int head = 0; head < c.heads(block); ++head, pool.stop_point())
            if (const float bits = alignment_bits(trace.pattern(block, head)); bits > max) {
                max = bits;
                best = {block, head};
            }
    return best;
}

}  // namespace

int HeadPicture::strongest_key(int query) const {
    Index key = 0;
    const auto row = levels[0].row(query / step);
    for (Index k = 1; k < row.size(); ++k)
        if (stronger(row[key], row[k]) != row[key]) key = k;
    return narrow<int>(key) * step;
}

int HeadPicture::strongest_query(int key) const {
    Index query = 0;
    const auto column = levels[0].col(key / step);
    for (Index q = 1; q < column.size(); ++q)
        if (stronger(column[query], column[q]) != column[query]) query = q;
    return narrow<int>(query) * step;
}

Matrix picture_rows(const Trace& trace, const PictureRequest& request, int first, int rows) {
    if (request.group) return combined_pattern_rows(trace, *request.group, first, rows, request.sink_dropped);
    Matrix weights = masked_pattern_rows(trace, request.block, request.head, first, rows);
    return request.sink_dropped ? without_first_key(std::move(weights), trace.is_mixing(request.block))
                                : weights;
}

Matrix halve(const Matrix& values) { return max_pool(values, 2, 2); }

namespace {

std::vector<AttentionHead> heads_of(const PictureRequest& request) {
    return request.group ? request.group->heads : std::vector{AttentionHead{request.block, request.head}};
}

}  // namespace

bool leaves_to_sinks(const Trace& trace, const PictureRequest& request) {
    const auto heads = heads_of(request);
    const bool any = std::any_of(heads.begin(), heads.end(),
                                 [&](AttentionHead h) { return !trace.rule(h.block).sinks.empty(); });
    return any && !request.sink_dropped && !(request.group && request.group->by == Combine::max);
}

/// Returns each query's weight of its head's sink, or the mean of several heads'; empty where rows sum to 1,
/// or to nothing in particular.
Vector sinks_of(const Trace& trace, const PictureRequest& request, ThreadPool& pool) {
    constexpr Index kQueries = 64;  // memory: their rows
    if (!leaves_to_sinks(trace, request)) return {};
    const auto heads = heads_of(request);
    const int queries = trace.query_count(request.block);
    Vector out = Vector::Zero(queries);
    for_row_blocks(pool, queries, kQueries, [&](Index first, Index count) {
        for (const AttentionHead head : heads)
            out.segment(first, count) += sink_weights(trace, head, narrow<int>(first), narrow<int>(count));
    });
    return out / float(heads.size());
}

HeadPicture make_picture(const Trace& trace, const PictureRequest& request, ThreadPool& pool, int side) {
    const int queries = trace.query_count(request.block), keys = trace.key_count(request.block);
    HeadPicture p;
    static_cast<PictureRequest&>(p) = request;
    p.step = map_step(queries, keys, std::min(side, kMaxMapSide));
    check_fits(int64_t{queries} * keys / p.step / p.step * 6);  // with its smaller levels
    p.levels.push_back(max_pool_squares(queries, keys, p.step, pool, [&](int first, int rows) {
        return picture_rows(trace, request, first, rows);
    }));
    p.is_mixing = trace.is_mixing(request.block);
    if (p.step == 1) p.sinks = sinks_of(trace, request, pool);
    p.row_largest.resize(1, p.levels[0].rows());
    for (Index q = 0; q < p.levels[0].rows(); ++q) p.row_largest(0, q) = largest_entry(p.levels[0].row(q));
    p.largest = largest_entry(p.levels[0]);
    p.percentile = percentile_99(p.levels[0]);
    while (p.levels.back().size() > 1) p.levels.push_back(halve(p.levels.back()));
    return p;
}

Result<SentenceResult> describe_trace(std::shared_ptr<const Trace> trace, ThreadPool& pool,
                                      const CancelFlag* cancel, const SentenceResult* before,
                                      HeadObserver* seen) {
    SentenceResult s;
    s.model = trace->model;
    s.trace = std::move(trace);
    const Model& model = *s.model;
    if (model.tokenizer && model.config.mask_id >= 0)
        s.mask = (*model.tokenizer)->spelling(model.config.mask_id);
    for (int i = 0; i < isize(s.trace->request.inputs); ++i)
        s.labels.push_back(token_labels(model, s.trace->request.inputs[i], i));
    const PastSummaries past =
        before && before->trace ? PastSummaries{before->trace.get(), &before->heads} : PastSummaries{};
    HeadObserver heads = seen ? std::move(*seen) : HeadObserver(model.config, s.trace->request.inputs);
    s.heads = std::move(heads).finish(*s.trace, pool, cancel, past);
    for (const int position : predicting_positions(*s.trace)) {
        if (s.predictions.size() >= kMaxPredictions) break;
        PredictedTokens row{position, {}};
        for (const Prediction& p : predictions(*s.trace, position, kNextTokens, pool))
            row.tokens.push_back({prediction_label(model, p.id), p.probability, p.id});
        s.predictions.push_back(std::move(row));
    }
    s.explained = default_place(*s.trace, pool, s.predictions.empty() ? -1 : s.predictions[0].tokens[0].id);
    return s;
}

AttentionHead most_telling_head(const SentenceResult& s, const ThreadPool& pool) {
    const ModelConfig& c = s.model->config;
    if (c.decoder().cross()) return best_aligned_head(*s.trace, pool);
    constexpr float kInduction = 0.5f, kRests = 0.5f;
    const auto score = [&](size_t index) {
        const auto of = [&](const char* name) {
            return s.heads[index].statistics[find_statistic(name) - head_statistics().data()];
        };
        const float induction = of("induction"), sharpness = 1 / (1 + of("entropy"));
        // Copying from earlier tokens is a decoder's habit; a NaN of no repeated token fails.
        if (c.decoder().causal && induction >= kInduction) return 1 + induction;
        return of("first") > kRests || of("self") > kRests ? sharpness - 1 : sharpness;
    };
    int best = 0;
    for (int i = 1; i < isize(s.heads); ++i)
        if (score(i) > score(best)) best = i;
    return c.head_at(best);
}

std::shared_ptr<const WrittenText> describe_written(const Model& model, const ForwardRequest& request,
                                                    const GenerationRequest& asked, Generation generation) {
    auto out = std::make_shared<WrittenText>();
    out->generation = std::move(generation);
    out->request = asked;
    out->given = request.inputs.back().size();
    for (const GeneratedToken& token : out->generation.tokens)
        out->labels.push_back(prediction_label(model, token.id));
    if (model.tokenizer) out->text = model.target_tokenizer()->decode(out->generation.ids());
    return out;
}

void compare_with_own(SentenceResult& s, std::shared_ptr<const Trace> own, ThreadPool& pool) {
    constexpr int kEffects = 9;
    s.unchanged = std::move(own);
    if (s.unchanged) s.explained = default_place(*s.unchanged, pool);
    if (s.unchanged && !s.predictions.empty())
        s.effects = probability_changes(*s.unchanged, s.predictions[0].position, *s.trace,
                                        s.predictions[0].position, kEffects, pool);
}

Result<RunAnswer> answer_for(const ShownRuns& runs, const PictureRequest& request,
                             std::optional<std::pair<int, int>> cell, ThreadPool& pool) {
    return guarded([&]() -> Result<RunAnswer> {
        RunAnswer a;
        a.picture = std::make_shared<const HeadPicture>(make_picture(*runs.shown, request, pool));
        if (cell)
            a.cell = std::make_shared<const CellReport>(report_cell(
                *runs.shown, {request.block, request.head, cell->first, cell->second}, true, pool));
        TRY(SentenceResult s, describe_trace(runs.shown, pool));
        s.intervention = runs.shown->request.intervention;
        compare_with_own(s, runs.own, pool);
        a.sentence = std::make_shared<const SentenceResult>(std::move(s));
        if (runs.other) {
            TRY(SentenceResult other, describe_trace(runs.other, pool));
            a.other = std::make_shared<const SentenceResult>(std::move(other));
        }
        a.block = request.block;
        a.head = request.head;
        return a;
    });
}

Status answer_questions(RunAnswer& a, const std::vector<Question>& questions, ThreadPool& pool,
                        const CancelFlag* cancel) {
    const CancelScope scope(pool, cancel);
    const Runs runs{*a.sentence->trace, a.sentence->unchanged.get(),
                    a.other ? a.other->trace.get() : nullptr};
    for (const Question& question : questions) {
        const Question request = clamped(question, runs.shown);
        if (a.answers.holds(request, runs.shown)) continue;
        TRY_STATUS(std::visit(
            [&](const auto& asked) -> Status {
                TRY(auto found, guarded([&] { return answer(runs, asked, pool, cancel); }));
                a.answers.set(asked, std::move(found), a.sentence->trace);
                return success();
            },
            request));
    }
    Status unchanged = runs.shown.model->store->check_unchanged();  // answers read weights after the pass
    if (!unchanged) a.answers = {};
    return unchanged;
}

}  // namespace headlight
