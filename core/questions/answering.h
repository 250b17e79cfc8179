// What is shown of a run, as the window and the command line ask for it: its tokens, heads, predictions and
// effects, one head's picture, one cell's numbers, and the answers to a view's questions.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/comparison/compare.h"
#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "base/serial.h"
#include "questions/questions.h"
#include "trace/head_group.h"
#include "trace/large_pattern.h"

namespace headlight {

/// Whose weights a picture holds: a head's, or those of several as one.
struct PictureRequest {
    int block = 0, head = 0;    // also of several: the head that is chosen, whose tokens these are
    bool sink_dropped = false;  // without the first key, rows renormalized
    std::optional<HeadGroup> group = std::nullopt;
    bool operator==(const PictureRequest&) const = default;
};

/// Weights, ready to be uploaded: levels[0] is the pattern with −1 where masked, each further level the
/// largest of 2 × 2. Of a text that is too long for it, levels[0] holds the largest of each step × step
/// weights.
struct HeadPicture : PictureRequest {
    Serial serial;
    int step = 1;
    std::vector<Matrix> levels;
    Matrix row_largest;                 // [1, queries]
    float largest = 0, percentile = 0;  // percentile: what 99 % of them do not exceed

    float at(int query, int key) const { return levels[0](query / step, key / step); }
    float largest_of_row(int query) const { return row_largest(0, query / step); }
    /// The key that a query looks at most, and the other way round.
    int heaviest_key(int query) const;
    int heaviest_query(int key) const;
};

/// How the model writes on behind what it is given: an encoder–decoder its target where none was typed, a
/// decoder where the person asked for it.
struct GenerationAsked {
    GenerationRequest request;  // its length is a decoder's
    bool continues = false;     // a decoder writes on too
    int step = -1;              // how many of its tokens the pass that is shown has read; −1: all
    bool operator==(const GenerationAsked&) const = default;
};

struct NextToken {
    std::string label;
    float probability;
    int id;
};

/// What the model predicts at one position: the next token, a masked one, or a class.
struct PredictedTokens {
    int position = 0;
    std::vector<NextToken> tokens;  // most probable first
};

/// What the model wrote, or was made to write, and how much of it was read by the pass that is shown: that
/// pass chooses tokens[step].
struct WrittenText {
    GenerationRequest request;  // as it was carried out
    Generation generation;
    std::vector<std::string> labels;  // of its tokens
    std::string text;                 // without an end token
    int given = 1;                    // tokens that stood before it

    int steps() const {
        return isize(generation.tokens) - (generation.ended ? 1 : 0);
    }  // the most that are read
};

/// What belongs to one sentence in one model.
struct SentenceResult {
    Serial serial;
    std::shared_ptr<const Model> model;
    std::string text, second;
    Intervention intervention;                   // asked for with it
    GenerationAsked asked;                       // likewise
    std::shared_ptr<const WrittenText> written;  // null where the model writes nothing
    int step = 0;                                // how many of its tokens were read
    std::shared_ptr<const Trace> trace;          // null for an empty sentence
    std::shared_ptr<const Trace> unchanged;  // the model's own pass, where something is changed; else null
    std::vector<ProbabilityChange> effects;  // on the prediction, largest first
    std::vector<std::vector<std::string>> labels;  // one per token, for each stack
    PerHead<HeadSummary> heads;
    std::string mask;                          // how the model spells its mask token, if it has one
    std::vector<PredictedTokens> predictions;  // one for each place where the model predicts
    size_t tokens_in_all = 0;                  // before the context's cut
    bool complete = true;                      // else a long text's beginning, while the rest is computed
    size_t bytes_read = 0, second_read = 0;    // of both texts, up to the last token kept
    double milliseconds = 0;                   // tokenizing, forward pass, summaries

    const std::vector<std::string>& query_labels(int block) const {
        return labels[model->config.block(block).stack];
    }
    const std::vector<std::string>& key_labels(int block) const {
        return labels[model->config.block(block).key_stack()];
    }
};

/// What a view shows of its runs. An immutable snapshot; parts are shared with earlier ones where they did
/// not change.
struct RunAnswer {
    std::shared_ptr<const SentenceResult> sentence;
    std::shared_ptr<const HeadPicture> picture;
    std::shared_ptr<const CellReport> cell;
    Answers answers;                              // to the view's questions
    std::shared_ptr<const SentenceResult> other;  // the run that is compared
    int block = 0, head = 0;

    /// The run and head that are shown: the picture's, which may for an instant be those of the request
    /// before.
    Shown shown() const {
        return {sentence ? sentence->trace.get() : nullptr, picture ? picture->block : block,
                picture ? picture->head : head};
    }
    template <class Q>
    const Found<Q>* found() const {
        return answers.get<Q>(shown());
    }
};

/// The largest of each 2 × 2 block; an odd last row or column stands alone.
Matrix halve(const Matrix& values);

/// [rows, keys] of what a picture shows, for queries from `first` on; −1 where masked.
Matrix picture_rows(const Trace& trace, const PictureRequest& asked, int first, int rows);

/// `side`: most entries along a side of levels[0].
HeadPicture make_picture(const Trace& trace, const PictureRequest& asked, ThreadPool& pool,
                         int side = kMaxMapSide);

/// Labels, summaries and predictions of a trace; its text, and how much of it was read, are left to the
/// caller. What holds of the sentence before is taken from it. `seen`: what observed the pass, if anything
/// did.
Result<SentenceResult> describe_trace(std::shared_ptr<const Trace> trace, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr,
                                      const SentenceResult* before = nullptr, HeadObserver* seen = nullptr);

/// The head to show first: the one whose induction score is highest; without a repeated token, the one with
/// the sharpest rows. Where one text is read from another, the one that aligns them best.
AttentionHead most_telling_head(const SentenceResult& sentence, const ThreadPool& pool);

/// Lets the model write behind the request's last sequence.
Result<std::shared_ptr<const WrittenText>> written_text(const std::shared_ptr<const Model>& model,
                                                        const ForwardRequest& request,
                                                        const GenerationRequest& asked, ThreadPool& pool,
                                                        const CancelFlag* cancel = nullptr,
                                                        const Trace* past = nullptr);

/// Puts the model's own pass beside a changed one, with what the changes did to the prediction. `own` may be
/// null.
void compare_with_own(SentenceResult& sentence, std::shared_ptr<const Trace> own, ThreadPool& pool);

/// The runs behind a view: the one that is shown, the model's own where something is changed, one that is
/// compared, or null.
struct ShownRuns {
    std::shared_ptr<const Trace> shown, own, other;
};

/// Everything that a view shows of its runs, but for its questions: what the worker would answer.
Result<RunAnswer> answer_for(const ShownRuns& runs, const PictureRequest& request,
                             std::optional<std::pair<int, int>> cell, ThreadPool& pool);
/// Adds what is missing, questions fitted to the trace.
Status answer_questions(RunAnswer& answer, const std::vector<Question>& questions, ThreadPool& pool,
                        const CancelFlag* cancel = nullptr);

}  // namespace headlight
