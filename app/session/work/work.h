// Requests from the window to the worker, and its answers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "questions/answering.h"
#include "session/model_choice.h"
#include "session/work/jobs.h"

namespace headlight {

/// The run to compare with: another text, in the same or another model, without interventions.
struct OtherRun {
    std::string model_path;  // empty: the open model
    uint64_t model_attempt = 0;
    std::string text;
    std::string chat = "";  // the conversation that it reads instead (chat_read), or ""
    bool operator==(const OtherRun&) const = default;
};

/// Everything the window wants to see: the full state, not a step.
struct WorkRequest {
    std::string model_path;                 // as typed, dropped or saved
    uint64_t model_attempt = 0;             // incremented to try the same path again
    std::shared_ptr<const Model> asked_of;  // the model on screen at the request: its layers, heads and
                                            // tokens mean that one; null: whichever is open
    std::string text;
    std::string chat;     // the conversation that the model reads instead (chat_read), or ""
    std::string picture;  // path of the image: vision models read it instead of the text, or beside it
    std::string second;   // second sentence or target
    GenerationAsked generation;
    int block = 0, head = 0;
    std::optional<std::pair<int, int>> cell;  // query, key to report on
    bool cell_tokens = true;                  // compute what its head's output promotes
    bool choose_head = false;                 // select the most telling head for this text
    Intervention intervention;                // active masks and changes
    std::vector<Question> questions;          // of the view; at most one of each kind
    std::optional<OtherRun> other;
    std::vector<JobRequest> jobs;    // measured in the background; at most one of each kind
    std::optional<HeadGroup> group;  // shows several heads combined
    bool drop_sink = false;          // hides the first token in the head's heat map and renormalizes its rows

    bool operator==(const WorkRequest&) const = default;
    /// Whether another request reads the same text, in the same way.
    bool reads_as(const WorkRequest& other) const {
        const auto read = [](const WorkRequest& r) {
            return std::tie(r.text, r.chat, r.picture, r.second, r.intervention, r.generation);
        };
        return read(*this) == read(other);
    }
};

/// The worker's answer: results and errors. Shared with the window.
struct WorkAnswer : RunAnswer {
    std::string other_error;  // why there is no other run
    ShownJobs jobs;           // results, of running jobs too
    ModelChoice open;         // the model that answers
    std::string model_path;   // the path requested last
    uint64_t model_attempt = 0;
    std::string model_error;  // why it failed to open; the old model stays
    std::string text_error;   // why the text cannot be read
    /// The job of a kind, or null.
    template <class Work>
    const Job<Work>* job() const {
        return std::get<ShownJobOf<Work>>(jobs).get();
    }
    /// Whether a job is running in the background.
    bool measures() const {
        return std::apply([](const auto&... job) { return ((job && job->goes_on()) || ...); }, jobs);
    }
    std::string failure;  // why a requested result is missing; the old one stays
};

}  // namespace headlight
