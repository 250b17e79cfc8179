// Computes what the window and the command line show of a run: its tokens, heads, predictions and effects,
// one head's picture, one cell's numbers, and the answers to a view's questions.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/comparison/compare.h"
#include "analysis/prediction/default_place.h"
#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "base/serial.h"
#include "chat/conversation.h"
#include "questions/questions.h"
#include "trace/head_group.h"
#include "trace/large_pattern.h"

namespace headlight {

/// Says whose weights a picture holds: those of one head, or of several combined.
struct PictureRequest {
    int block = 0, head = 0;    // of several: the selected head, whose tokens these are
    bool sink_dropped = false;  // without the first key, rows renormalized
    std::optional<HeadGroup> group = std::nullopt;
    bool operator==(const PictureRequest&) const = default;
};

/// Holds weights to show: levels[0] is the pattern with kMasked where masked, each further level max-pools 2
/// × 2 by size. For a text too long for that, levels[0] max-pools step × step weights.
struct HeadPicture : PictureRequest {
    Serial serial;
    int step = 1;
    std::vector<Matrix> levels;
    Matrix row_largest;                 // [1, queries]
    float largest = 0, percentile = 0;  // of sizes; percentile: the 99th
    bool is_mixing = false;             // signed: Trace::is_mixing
    Vector sinks;  // [queries]: weights of a sink that is no token, with which rows sum to 1; empty: none

    float at(int query, int key) const { return levels[0](query / step, key / step); }
    float largest_of_row(int query) const { return row_largest(0, query / step); }
    /// strongest_key: the largest weight of a query; strongest_query: of a key.
    int strongest_key(int query) const;
    int strongest_query(int key) const;
};

/// Says how the model continues its input: by a target if none was typed, or a continuation if asked for.
struct GenerationAsked {
    GenerationRequest request;  // its length is a decoder's
    bool continues = false;     // a decoder writes too
    int step = -1;              // generated tokens that the shown pass has read; −1: all
    bool operator==(const GenerationAsked&) const = default;
};

struct NextToken {
    std::string label;
    float probability;
    int id;
};

/// Holds the model's prediction at one position: the next token, a masked one, or a class.
struct PredictedTokens {
    int position = 0;
    std::vector<NextToken> tokens;  // most probable first
};

/// Holds the text that the model wrote, and how much of it the shown pass read, which chooses tokens[step].
struct WrittenText {
    GenerationRequest request;  // as executed
    Generation generation;
    std::vector<std::string> labels;  // of its tokens
    std::string text;                 // without an end token
    int given = 1;                    // tokens before it

    int steps() const { return isize(generation.tokens) - (generation.ended ? 1 : 0); }  // maximum step
};

struct SentenceResult {
    Serial serial;
    std::shared_ptr<const Model> model;
    std::string text, second;
    std::string image;                             // path of the one that it was asked for with, or ""
    std::string chat_asked;                        // the conversation it was asked for; "": a plain text
    std::shared_ptr<const Conversation> chat;      // who wrote its tokens; null: a plain text
    Intervention intervention;                     // asked for with it
    GenerationAsked asked;                         // likewise
    std::shared_ptr<const WrittenText> written;    // null where the model writes nothing
    int step = 0;                                  // generated tokens read
    std::shared_ptr<const Trace> trace;            // null for an empty sentence
    std::shared_ptr<const Trace> unchanged;        // the model's own pass, if something is changed; else null
    std::vector<ProbabilityChange> effects;        // on the prediction, largest first
    std::vector<std::vector<std::string>> labels;  // one per token, for each stack
    PerHead<HeadSummary> heads;
    std::string mask;                          // spelling of the model's mask token, if it has one
    std::vector<PredictedTokens> predictions;  // one per position where the model predicts
    MetricPlace explained;     // where a metric without a position is taken; of the unchanged run
    size_t tokens_in_all = 0;  // before truncation to the context
    bool complete = true;      // false: the beginning of a long text, while the rest is computed
    size_t bytes_read = 0, second_read = 0;  // of both texts, up to the last token kept
    double milliseconds = 0;                 // tokenizing, forward pass, summaries

    /// Whether the model is still writing what follows.
    bool is_writing() const { return written && !complete; }
    const std::vector<std::string>& query_labels(int block) const {
        return labels[model->config.block(block).stack];
    }
    const std::vector<std::string>& key_labels(int block) const {
        return labels[model->config.block(block).key_stack];
    }
};

/// Holds what a view shows of its runs. An immutable snapshot; shares unchanged parts with earlier ones.
struct RunAnswer {
    std::shared_ptr<const SentenceResult> sentence;
    std::shared_ptr<const HeadPicture> picture;
    std::shared_ptr<const CellReport> cell;
    Answers answers;                              // to the view's questions
    std::shared_ptr<const SentenceResult> other;  // the run to compare with
    int block = 0, head = 0;

    /// Returns the run and head shown: the picture's, which may briefly be those of the previous request.
    Shown shown() const {
        return {sentence ? sentence->trace.get() : nullptr, picture ? picture->block : block,
                picture ? picture->head : head};
    }
    template <class Q>
    const Found<Q>* found() const {
        return answers.get<Q>(shown());
    }
};

/// Max-pools 2 × 2 blocks; an odd last row or column is pooled alone.
Matrix halve(const Matrix& values);

/// [rows, keys] of what a picture shows, for queries from `first` on; kMasked where masked.
Matrix picture_rows(const Trace& trace, const PictureRequest& asked, int first, int rows);

/// Returns whether the rows of a picture sum to 1 only with what its heads leave to sinks.
bool leaves_to_sinks(const Trace& trace, const PictureRequest& asked);

/// `side`: maximum side of levels[0].
HeadPicture make_picture(const Trace& trace, const PictureRequest& asked, ThreadPool& pool,
                         int side = kMaxMapSide);

/// Computes labels, summaries and predictions of a trace; leaves its text, and how much of it was read, to
/// the caller. Reuses what is still valid of the previous sentence. `seen`: the observer of the pass, or
/// null.
Result<SentenceResult> describe_trace(std::shared_ptr<const Trace> trace, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr,
                                      const SentenceResult* before = nullptr, HeadObserver* seen = nullptr);

/// Returns the head to show first: the one with the highest induction score; without an induction head, the
/// one with the sharpest rows that do not rest on the first token or on themselves; in cross-attention, the
/// one that aligns the texts best.
AttentionHead most_telling_head(const SentenceResult& sentence, const ThreadPool& pool);

/// Describes what a model wrote after the request's last sequence.
std::shared_ptr<const WrittenText> describe_written(const Model& model, const ForwardRequest& request,
                                                    const GenerationRequest& asked, Generation generation);

/// Adds the model's own pass to a changed one, and the changes' effects on the prediction. `own` may be null.
void compare_with_own(SentenceResult& sentence, std::shared_ptr<const Trace> own, ThreadPool& pool);

/// Holds the runs behind a view: the shown one, the model's own if changed, one to compare with; or null.
struct ShownRuns {
    std::shared_ptr<const Trace> shown, own, other;
};

/// Computes everything that a view shows of its runs except its questions: what the worker would answer.
Result<RunAnswer> answer_for(const ShownRuns& runs, const PictureRequest& request,
                             std::optional<std::pair<int, int>> cell, ThreadPool& pool);
/// Adds missing answers, with questions clamped to the trace.
Status answer_questions(RunAnswer& answer, const std::vector<Question>& questions, ThreadPool& pool,
                        const CancelFlag* cancel = nullptr);

}  // namespace headlight
