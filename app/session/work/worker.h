// Computes everything for the window, on one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "questions/chat_input.h"
#include "session/work/mailbox.h"
#include "session/work/opener.h"
#include "session/work/work.h"

namespace headlight {

class Worker {
public:
    /// `done` is called on the worker's thread after each answer, to wake the window. `map_side`: longest
    /// side of a map that the window can show. `first_tokens`: how many tokens of a long text to show first.
    /// `writing_apart`: the least time between two showings of a text being written.
    Worker(int threads, std::function<void()> done, int map_side = kMaxMapSide, int first_tokens = 1024,
           std::chrono::milliseconds writing_apart = std::chrono::milliseconds(250));
    ~Worker();

    void ask(WorkRequest request);
    std::shared_ptr<const WorkAnswer> poll() { return mailbox_.poll(); }
    bool busy() const { return mailbox_.busy(); }
    /// The opening in progress, or null.
    std::shared_ptr<const Opening> opening() const {
        const auto first = opener_.opening();
        return first ? first : other_opener_.opening();
    }

private:
    void work();
    Status handle(const WorkRequest& asked);
    WorkRequest of_model(WorkRequest asked) const;
    Status update_sentence(const WorkRequest& request);
    void report(const Error& error);
    void show(std::shared_ptr<const SentenceResult> sentence);
    void update_model(const WorkRequest& request);
    void finish_opening();
    Result<ModelInput> recorded_input(const Model& model) const;
    struct Read {
        const std::string &text, &second, &chat, &picture;
    };
    Result<std::shared_ptr<const RgbImage>> open_image_once(const std::string& path);
    /// Reads a text, or a conversation in its place.
    Result<ChatInput> read_given(const Model& model, const Read& read);
    Status read_sentence(const WorkRequest& request);
    std::vector<int> beginnings(const WorkRequest& request, const Sequence& whole) const;
    Status show_beginnings(const WorkRequest& request, const ChatInput& read);
    Result<SentenceResult> run_described(const WorkRequest& request, std::vector<Sequence> inputs,
                                         const WrittenText* written);
    Status show_recorded(const WorkRequest& request);
    void update_other_model(const OtherRun& other);
    void drop_other(std::string why);
    Result<SentenceResult> run_other(const OtherRun& other, const std::string& second,
                                     const std::string& picture);
    Status read_other(const WorkRequest& request);
    void run_jobs(JobsOf of, const WorkRequest& request);
    Result<std::shared_ptr<const Trace>> run(const WorkRequest& request, std::vector<Sequence> inputs,
                                             const WrittenText* written, HeadObserver& heads,
                                             std::shared_ptr<const Trace>& unchanged);
    bool writes(const WorkRequest& request) const;
    Result<std::shared_ptr<const WrittenText>> write_on(const WorkRequest& request, const ChatInput& read,
                                                        std::vector<Sequence>& inputs);
    Status show_writing(const WorkRequest& request, const ChatInput& read, std::vector<Sequence> inputs,
                        std::shared_ptr<const WrittenText> written);
    Status show_head(const WorkRequest& request, bool last);
    void report_focus(const WorkRequest& request);
    void publish(bool last);

    ThreadPool pool_;
    std::function<void()> done_;
    const int map_side_, first_tokens_;
    const std::chrono::milliseconds writing_apart_;
    Mailbox<WorkRequest, WorkAnswer> mailbox_;
    WorkRequest last_asked_;                 // the window's thread
    std::shared_ptr<const Model> model_;     // the worker's thread, as all below
    std::shared_ptr<const Trace> recorded_;  // set if a trace file is open instead of a model
    WorkAnswer state_;
    int64_t answered_with_ = 0;           // weights_version() of what `state_` says of the model
    std::optional<WorkRequest> refused_;  // its sentence failed: not tried again
    std::string image_path_;
    std::shared_ptr<const RgbImage> image_;
    Opener opener_, other_opener_;
    std::shared_ptr<const Model> other_model_;
    OtherRun other_opened_;  // its model
    Jobs jobs_;
    std::thread thread_;  // last: starts when the rest is constructed
};

}  // namespace headlight
