// What the window asks of the worker, and what comes back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "questions/answering.h"
#include "session/model_choice.h"
#include "session/work/jobs.h"

namespace headlight {

/// The run that is compared with the one that is shown: another text, in the same or another model, without
/// changes.
struct OtherRun {
    std::string model_path;  // empty: the model that is open
    uint64_t model_attempt = 0;
    std::string text;
    bool operator==(const OtherRun&) const = default;
};

/// What the window wants to see: its whole wish, not a step.
struct WorkRequest {
    std::string model_path;                 // as typed, dropped or remembered
    uint64_t model_attempt = 0;             // grows when the same path shall be tried again
    std::shared_ptr<const Model> asked_of;  // that was shown when this was asked: what names layers, heads or
                                            // tokens is for it alone; null: for whichever is open
    std::string text;
    std::string picture;  // its path: vision models read it in place of the text
    std::string second;   // the second sentence, or the target
    GenerationAsked generation;
    int block = 0, head = 0;
    std::optional<std::pair<int, int>> cell;  // query, key to report on
    bool cell_tokens = true;                  // what its head's output promotes is shown
    bool choose_head = false;                 // pick the most telling head for this text
    Intervention intervention;                // masks and changes in force
    std::vector<Question> questions;          // of the view; at most one of each kind
    std::optional<OtherRun> other;
    std::vector<JobRequest> jobs;    // measured beside the worker; at most one of each kind
    std::optional<HeadGroup> group;  // the picture is of several heads as one
    bool drop_sink = false;  // the picture of the head leaves the first key out and renormalizes its rows

    bool operator==(const WorkRequest&) const = default;
};

/// What the worker answers: what there is to see, and what went wrong. Shared with the window.
struct WorkAnswer : RunAnswer {
    std::string other_error;  // why there is no other run
    ShownJobs jobs;           // what is measured, or was; a job may still be going on
    ModelChoice open;         // the model that answers
    std::string model_path;   // the path that was asked for last
    uint64_t model_attempt = 0;
    std::string model_error;  // why it was not opened; the old model stays
    std::string text_error;   // why the text cannot be read
    /// The job of a kind, or null.
    template <class Work>
    const Job<Work>* job() const {
        return std::get<ShownJobOf<Work>>(jobs).get();
    }
    /// Whether something is measured beside the worker.
    bool measures() const {
        return std::apply([](const auto&... job) { return ((job && job->goes_on()) || ...); }, jobs);
    }
    std::string failure;  // why something that was asked for is not here; what was shown stays
};

}  // namespace headlight
