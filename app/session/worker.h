// Everything that is computed for the window, on one thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/cell.h"
#include "analysis/compare.h"
#include "analysis/generate.h"
#include "analysis/head_stats.h"
#include "analysis/questions.h"
#include "base/serial.h"
#include "model/input.h"
#include "model/model.h"
#include "session/mailbox.h"
#include "session/opener.h"
#include "session/sweep.h"
#include "trace/large_pattern.h"

namespace headlight {

/// The run that is compared with the one that is shown: another text, in the same or another model, without
/// changes.
struct OtherRun {
    std::string model_path;  // empty: the model that is open
    uint64_t model_attempt = 0;
    std::string text;
    bool operator==(const OtherRun&) const = default;
};

/// How the model writes on behind what it is given: an encoder–decoder its target where none was typed, a
/// decoder where the person asked for it.
struct GenerationAsked {
    GenerationWanted wanted;  // its length is a decoder's
    bool continues = false;   // a decoder writes on too
    int step = -1;            // how many of its tokens the pass that is shown has read; −1: all
    bool operator==(const GenerationAsked&) const = default;
};

/// What the window wants to see: its whole wish, not a step.
struct WorkRequest {
    std::string model_path;      // as typed, dropped or remembered
    uint64_t model_attempt = 0;  // grows when the same path shall be tried again
    std::string text;            // or the path of a picture, for vision models
    std::string second;          // the second sentence, or the target
    GenerationAsked writing;
    int block = 0, head = 0;
    std::optional<std::pair<int, int>> cell;  // query, key to report on
    bool choose_head = false;                 // pick the most telling head for this text
    Intervention intervention;                // masks and changes in force
    std::vector<Question> questions;          // of the view; at most one of each kind
    std::optional<OtherRun> other;
    std::optional<int>
        sweep;  // ablate each head in turn and measure the effect on this token; −1: the predicted one
    bool drop_sink = false;  // the picture of the head leaves the first key out and renormalises its rows

    bool operator==(const WorkRequest&) const = default;
};

/// One head, ready to be uploaded: levels[0] is the pattern with −1 where masked, each further level the
/// largest of 2 × 2. Of a text that is too long for it, levels[0] holds the largest of each step × step
/// weights.
struct HeadPicture {
    Serial serial;
    int block = 0, head = 0, step = 1;
    bool sink_dropped = false;
    std::vector<Matrix> levels;
    Matrix row_largest;  // [1, queries]
    float largest = 0;

    float at(int query, int key) const { return levels[0](query / step, key / step); }
    float largest_of_row(int query) const { return row_largest(0, query / step); }
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
    GenerationWanted wanted;  // as it was carried out
    Generation writing;
    std::vector<std::string> labels;  // of its tokens
    std::string text;                 // without an end token
    int given = 1;                    // tokens that stood before it

    int steps() const {
        return static_cast<int>(writing.tokens.size()) - (writing.ended ? 1 : 0);
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
    std::vector<HeadSummary> heads;                // by ModelConfig::head_index
    std::string mask;                              // how the model spells its mask token, if it has one
    std::vector<PredictedTokens> predictions;      // one for each place where the model predicts
    size_t tokens_in_all = 0;                      // before the context's cut
    size_t bytes_read = 0, second_read = 0;        // of both texts, up to the last token kept
    double milliseconds = 0;                       // tokenizing, forward pass, summaries

    const std::vector<std::string>& query_labels(int block) const {
        return labels[static_cast<size_t>(model->config.block(block).stack)];
    }
    const std::vector<std::string>& key_labels(int block) const {
        return labels[static_cast<size_t>(model->config.block(block).key_stack())];
    }
};

/// An immutable snapshot for the window; parts are shared with earlier ones where they did not change.
struct WorkAnswer {
    std::shared_ptr<const SentenceResult> sentence;
    std::shared_ptr<const HeadPicture> picture;
    std::shared_ptr<const CellReport> cell;
    Answers answers;                              // to the view's questions
    std::shared_ptr<const SentenceResult> other;  // the run that is compared
    std::string other_error;                      // why there is none
    std::shared_ptr<const Sweep> sweep;           // asked for and not cancelled; may still be going on
    int block = 0, head = 0;
    std::string model_path;  // the path that was asked for
    uint64_t model_attempt = 0;
    std::string model_error;  // why it was not opened; the old model stays
    std::string text_error;   // why the text cannot be read
    std::string failure;      // why something that was asked for is not here; what was shown stays

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

/// `side`: most entries along a side of levels[0].
HeadPicture make_picture(const Trace& trace, int block, int head, ThreadPool& pool, bool drop_sink = false,
                         int side = kMaxMapSide);

/// Labels, summaries and predictions of a trace; its text, and how much of it was read, are left to the
/// caller.
Result<SentenceResult> describe_trace(std::shared_ptr<const Trace> trace, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr);

/// Lets the model write behind the request's last sequence.
Result<std::shared_ptr<const WrittenText>> written_text(const std::shared_ptr<const Model>& model,
                                                        const ForwardRequest& request,
                                                        const GenerationWanted& wanted, ThreadPool& pool,
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
Result<WorkAnswer> answer_for(const ShownRuns& runs, int block, int head,
                              std::optional<std::pair<int, int>> cell, ThreadPool& pool);
/// Adds what is missing, questions fitted to the trace.
Status answer_questions(WorkAnswer& answer, const std::vector<Question>& questions, ThreadPool& pool,
                        const CancelFlag* cancel = nullptr);

class Worker {
public:
    /// `done` is called on the worker's thread after each answer, to wake the window. `map_side`: the longest
    /// side of a map that it can show.
    Worker(int threads, std::function<void()> done, int map_side = kMaxMapSide);
    ~Worker();

    void ask(WorkRequest request);
    std::shared_ptr<const WorkAnswer> poll() { return mailbox_.poll(); }
    bool busy() const { return mailbox_.busy(); }
    /// What is being opened at the moment, or null.
    std::shared_ptr<const Opening> opening() const {
        const auto first = opener_.opening();
        return first ? first : other_opener_.opening();
    }

private:
    void work();
    Status handle(const WorkRequest& request);
    Status see_to_sentence(const WorkRequest& request);
    void tell(const Error& error);
    void update_model(const WorkRequest& request);
    void finish_opening();
    Result<ModelInput> recorded_input(const Model& model) const;
    Result<ModelInput> read_input(const Model& model, const std::string& text, const std::string& second);
    Status read_sentence(const WorkRequest& request);
    Status show_recorded(const WorkRequest& request);
    void see_to_other_model(const OtherRun& other);
    Status read_other(const WorkRequest& request);
    void see_to_sweep(const WorkRequest& request);
    Result<std::shared_ptr<const Trace>> run(const WorkRequest& request, std::vector<Sequence> inputs,
                                             const WrittenText* written,
                                             std::shared_ptr<const Trace>& unchanged);
    bool writes(const WorkRequest& request) const;
    Result<std::shared_ptr<const WrittenText>> write_on(const WorkRequest& request,
                                                        std::vector<Sequence>& inputs);
    void report_focus(const WorkRequest& request);
    void publish();

    ThreadPool pool_;
    std::function<void()> done_;
    const int map_side_;
    Mailbox<WorkRequest, WorkAnswer> mailbox_;
    WorkRequest last_asked_;                 // the window's thread
    std::shared_ptr<const Model> model_;     // the worker's thread, as all below
    std::shared_ptr<const Trace> recorded_;  // where a trace file is open in place of a model
    WorkAnswer state_;
    std::optional<WorkRequest> refused_;  // whose sentence could not be computed: it is not tried again
    std::string image_path_;
    std::shared_ptr<const RgbImage> image_;
    Opener opener_, other_opener_;
    std::shared_ptr<const Model> other_model_;
    OtherRun other_opened_;  // whose model that is
    std::shared_ptr<Sweep> sweep_;
    std::thread thread_;  // last: starts when the rest stands
};

}  // namespace headlight
