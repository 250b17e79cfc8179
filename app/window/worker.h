// Everything that is computed for the window, on one thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/cell.h"
#include "analysis/head_stats.h"
#include "window/mailbox.h"

namespace headlight {

/// What the window wants to see: its whole wish, not a step.
struct WorkRequest {
    std::string model_path;   // as typed, dropped or remembered
    uint64_t model_attempt = 0;  // grows when the same path shall be tried again
    std::string text;
    int layer = 0, head = 0;
    std::optional<std::pair<int, int>> cell;  // query, key to report on
    bool choose_head = false;    // pick the most telling head for this text
};

/// One head, ready to be uploaded: levels[0] is the pattern with −1 where masked, each further level the largest of 2 × 2.
struct HeadPicture {
    int layer = 0, head = 0;
    std::vector<Matrix> levels;
    Matrix row_largest;  // [1, n]
    float largest = 0;
};

struct NextToken {
    std::string label;
    float probability;
};

/// What belongs to one sentence in one model.
struct SentenceResult {
    std::shared_ptr<const Model> model;
    std::string text;
    std::shared_ptr<const Trace> trace;     // null for an empty sentence
    std::vector<std::string> labels;        // one per token
    std::vector<HeadSummary> heads;         // [layer · heads + head]
    std::vector<NextToken> next;
    size_t tokens_in_all = 0;               // before the context's cut
    size_t bytes_read = 0;                  // of the text, up to the last token kept
    double milliseconds = 0;                // tokenizing, forward pass, summaries
};

/// An immutable snapshot for the window; parts are shared with earlier ones where they did not change.
struct WorkAnswer {
    std::shared_ptr<const SentenceResult> sentence;
    std::shared_ptr<const HeadPicture> picture;
    std::shared_ptr<const CellReport> cell;
    int layer = 0, head = 0;
    std::string model_path;                 // the path that was asked for
    uint64_t model_attempt = 0;
    std::string model_error;                // why it was not opened; the old model stays
    std::string text_error;
};

/// The largest of each 2 × 2 block; an odd last row or column stands alone.
Matrix halve(const Matrix& values);

HeadPicture make_picture(const Trace& trace, int layer, int head);

class Worker {
public:
    /// `done` is called on the worker's thread after each answer, to wake the window.
    Worker(int threads, std::function<void()> done);
    ~Worker();

    void ask(WorkRequest request);
    std::shared_ptr<const WorkAnswer> poll() { return mailbox_.poll(); }
    bool busy() const { return mailbox_.busy(); }

private:
    void work();
    void handle(const WorkRequest& request);
    void open_model(const WorkRequest& request);
    bool read_sentence(const WorkRequest& request);
    void publish();

    ThreadPool pool_;
    std::function<void()> done_;
    Mailbox<WorkRequest, WorkAnswer> mailbox_;
    WorkRequest last_asked_;              // the window's thread
    std::shared_ptr<const Model> model_;  // the worker's thread, as all below
    WorkAnswer state_;
    std::thread thread_;                  // last: starts when the rest stands
};

}  // namespace headlight
