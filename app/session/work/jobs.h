// What is measured in the background: a request, the work that it asks for, and what that finds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "analysis/circuits/composition.h"
#include "analysis/corpus/corpus_file.h"
#include "analysis/patching/effects.h"
#include "questions/answering.h"
#include "session/work/job.h"

namespace headlight {

/// What work is made of: the open model, its runs where there are any, and the changes in force as they are
/// asked for.
struct JobInputs {
    std::shared_ptr<const Model> model;
    ShownRuns runs;
    Intervention changes;
    bool complete = false;  // the whole text was read
    bool recorded = false;  // a trace file is open in place of a model
};

template <class Found>
using Tell = std::function<void(Found)>;

/// Ablates each head in turn and measures the effect on a metric.
struct HeadSweep {
    struct Request {
        Metric metric;
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const HeadEffects> effects = std::make_shared<const HeadEffects>();
        std::string refusal;
    };
    std::shared_ptr<const Trace> trace, own;  // own: the unchanged run, or null
    Metric metric;
    std::shared_ptr<std::atomic<int>> heads_done = std::make_shared<std::atomic<int>>(0);

    static std::optional<HeadSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const HeadSweep& other) const { return trace == other.trace && metric == other.metric; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Tell<Found>& tell) const;
};

/// Measures a map of activation patching cell by cell.
struct PatchSweep {
    struct Request {
        PatchMapRequest map;
        bool measure = true;  // else what is known of it stays as it is
        bool paused() const { return !measure; }
        bool operator==(const Request&) const = default;
    };
    using Found = PatchMapFound;
    std::shared_ptr<const Trace> clean;
    std::shared_ptr<const Trace> base;  // whose request without the patches in force is the corrupted run's
    PatchMapRequest map;
    Intervention changes;  // in force in `base`, as they are asked for
    PatchMap known = {};

    /// Nothing where one of the two runs is not there yet.
    static std::optional<PatchSweep> of(const Request* request, const JobInputs& inputs);
    /// However often its runs were computed since.
    bool same(const PatchSweep& other) const;
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Tell<Found>& tell) const;
    void go_on_from(const Found& found) { known = found.map; }
};

/// Measures what each token of the text does to others, or to the metric: Request is InfluenceMapRequest or
/// TokenScoresRequest.
template <class Asked>
struct InfluenceSweep {
    using Request = Asked;
    using Found = typename Request::Answer;
    ShownRuns runs;
    Request request;

    static std::optional<InfluenceSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const InfluenceSweep& other) const;
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Tell<Found>& tell) const;
};
using InfluenceMapSweep = InfluenceSweep<InfluenceMapRequest>;
using TokenScoresSweep = InfluenceSweep<TokenScoresRequest>;

/// Composes all pairs of heads of a model, where that takes longer than a person waits.
struct CompositionSweep {
    struct Request {
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const Composition> composition;  // null until it is known; with why it cannot be
        int done = 0, steps = 0;                         // pairs of layers
        void refuse(const std::string& why);
    };
    std::shared_ptr<const Model> model;

    /// Also where nothing asks: what has ended is kept while the model is open.
    static std::optional<CompositionSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const CompositionSweep& other) const { return model == other.model; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Tell<Found>& tell) const;
};

/// Reads a corpus: what it says of every head, growing text by text, whatever text is shown.
struct CorpusSweep {
    struct Request {
        std::string file;
        uint64_t attempt = 0;    // grows when the same file shall be read again
        bool begins = true;      // else only what was begun goes on
        bool cancelled = false;  // what was read stays
        bool paused() const { return cancelled; }
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const Dossier> dossier;  // null: nothing yet
        int done = 0, texts = 0;                 // read, and in all; 0: not counted yet
        std::string refusal;                     // why it cannot be read, or can no further
    };
    std::shared_ptr<const Model> model;
    Request request;
    struct Reading {
        CorpusLines lines;
        Corpus corpus;
    };
    std::optional<Reading> reading = std::nullopt;  // what was read so far

    static std::optional<CorpusSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const CorpusSweep& other) const {
        return model == other.model && request.file == other.request.file &&
               request.attempt == other.request.attempt;
    }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Tell<Found>& tell);

private:
    Found now() const;
};

/// The table of jobs.
template <template <class> class Of>
using OfEachJob = std::tuple<Of<HeadSweep>, Of<PatchSweep>, Of<InfluenceMapSweep>, Of<TokenScoresSweep>,
                             Of<CompositionSweep>, Of<CorpusSweep>>;
using JobRequest = std::variant<HeadSweep::Request, PatchSweep::Request, InfluenceMapSweep::Request,
                                TokenScoresSweep::Request, CompositionSweep::Request, CorpusSweep::Request>;

template <class Work>
using JobOf = std::shared_ptr<Job<Work>>;
template <class Work>
using ShownJobOf = std::shared_ptr<const Job<Work>>;
using Jobs = OfEachJob<JobOf>;
using ShownJobs = OfEachJob<ShownJobOf>;

/// Which jobs: those that need the open model alone, or those that need its runs.
enum class JobsOf { model, runs };

/// Ends jobs that are not asked for any more, pauses and resumes, begins those that are. `seen(ended)`: see
/// Job.
void see_to_jobs(Jobs& jobs, JobsOf of, const std::vector<JobRequest>& requests, const JobInputs& inputs,
                 const std::function<void(bool)>& seen);
void stop_jobs(Jobs& jobs);
ShownJobs shown_jobs(const Jobs& jobs);

}  // namespace headlight
