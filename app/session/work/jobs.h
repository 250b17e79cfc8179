// Background jobs: a request, its work, and the results so far.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "analysis/attention/head_tags.h"
#include "analysis/circuits/composition.h"
#include "analysis/corpus/corpus_file.h"
#include "analysis/corpus/prompt_averages.h"
#include "analysis/patching/effects.h"
#include "questions/answering.h"
#include "session/work/job.h"

namespace headlight {

/// Inputs of a job: the open model, its runs if any, and the active changes as spelled.
struct JobInputs {
    std::shared_ptr<const Model> model;
    ShownRuns runs;
    Intervention changes;
    bool complete = false;  // the whole text was read
    bool recorded = false;  // a trace file is open instead of a model
};

template <class Found>
using Publish = std::function<void(Found)>;

/// Ablates each head in turn and measures the effect on a metric.
struct HeadSweep {
    struct Request {
        Metric metric;
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const HeadEffects> effects = std::make_shared<const HeadEffects>();
        int done = 0;  // heads measured
        std::string refusal;
    };
    std::shared_ptr<const Trace> trace, own;  // own: the unchanged run, or null
    Metric metric;

    static std::optional<HeadSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const HeadSweep& other) const { return trace == other.trace && metric == other.metric; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

/// Measures the metric without groups of heads.
struct AblationSweep {
    struct Request {
        Metric metric;
        std::vector<std::vector<AttentionHead>> groups;
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const Ablations> ablations;  // null until done
        std::string refusal;
    };
    std::shared_ptr<const Trace> trace, own;  // own: the unchanged run, or null
    Request request;

    static std::optional<AblationSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const AblationSweep& other) const { return trace == other.trace && request == other.request; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

/// Measures a map of activation patching cell by cell.
struct PatchSweep {
    struct Request {
        PatchMapRequest map;
        bool measure = true;  // else keeps results so far
        bool paused() const { return !measure; }
        bool operator==(const Request&) const = default;
    };
    using Found = PatchMapFound;
    std::shared_ptr<const Trace> clean;
    std::shared_ptr<const Trace> base;  // its request without active patches is the corrupted run's
    PatchMapRequest map;
    Intervention changes;  // active in `base`, as spelled
    PatchMap known = {};

    /// Null if one of the two runs is missing.
    static std::optional<PatchSweep> of(const Request* request, const JobInputs& inputs);
    /// Equal for recomputed runs.
    bool same(const PatchSweep& other) const;
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
    void go_on_from(const Found& found) { known = found.map; }
};

/// Answers a question of the table kMeasured.
template <class Asked>
struct Measuring {
    struct Request {
        Asked asked;
        bool measure = true;  // else keeps results so far
        bool paused() const { return !measure; }
        bool operator==(const Request&) const = default;
    };
    using Found = typename Asked::Answer;
    ShownRuns runs;
    Asked asked;

    static std::optional<Measuring> of(const Request* request, const JobInputs& in) {
        if (!request || !in.runs.shown || !in.complete) return std::nullopt;
        return Measuring{in.runs, request->asked};
    }
    bool same(const Measuring& other) const { return asked == other.asked && same_runs(other); }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
        const Runs of{*runs.shown, runs.own.get(), runs.other.get()};
        TRY(Found found, row_of<Asked>(kMeasured).answer(of, asked, pool, cancel, publish));
        publish(std::move(found));
        return success();
    }

private:
    bool same_runs(const Measuring& other) const {
        if constexpr (requires { Asked::same_for(*runs.shown, *other.runs.shown); })
            return Asked::same_for(*runs.shown, *other.runs.shown);
        else
            return runs.shown == other.runs.shown && runs.own == other.runs.own &&
                   (runs.other == other.runs.other || !rests_on_other());
    }
    bool rests_on_other() const {
        if constexpr (requires { asked.rests_on_other(); })
            return asked.rests_on_other();
        else
            return true;
    }
};

/// Holds the model that a job is about, and which weights it had (weights_version()).
struct OfModel {
    std::shared_ptr<const Model> model;
    int64_t version = 0;

    static OfModel open(const JobInputs& inputs);
    bool same_model(const OfModel& other) const { return model == other.model && version == other.version; }
};

/// Measures what heads do on random tokens, for their tags.
struct RandomSweep : OfModel {
    struct Request {
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const RandomStatistics> random;  // null until done
        std::string refusal;
    };

    static std::optional<RandomSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const RandomSweep& other) const { return same_model(other); }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

/// Measures what heads do in the text, for their tags.
struct TraitsSweep {
    struct Request {
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const PerHead<TextTraits>> heads;  // null until done
        std::string refusal;
    };
    std::shared_ptr<const Trace> trace;

    static std::optional<TraitsSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const TraitsSweep& other) const { return trace == other.trace; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

/// Composes all pairs of heads in the background if that takes long.
struct CompositionSweep : OfModel {
    struct Request {
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const Composition> composition;  // so far, null at first; with the reason on failure
        int done = 0, steps = 0;                         // pairs of layers
        void refuse(const std::string& why);
    };

    /// Kept without requests too: results stay while the model is open.
    static std::optional<CompositionSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const CompositionSweep& other) const { return same_model(other); }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

/// Reads a corpus: statistics of every head, growing text by text, independent of the current text.
struct CorpusSweep : OfModel {
    struct Request {
        std::string file;
        uint64_t attempt = 0;    // incremented to read the same file again
        bool begins = true;      // else only resumes
        bool cancelled = false;  // results so far stay
        bool paused() const { return cancelled; }
        bool operator==(const Request&) const = default;
    };
    struct Found {
        std::shared_ptr<const Dossier> dossier;  // null: nothing yet
        int done = 0, texts = 0;                 // read, and total; 0: not counted yet
        std::string refusal;                     // why it cannot be read, or not further
    };
    Request request;
    struct Reading {
        CorpusLines lines;
        Corpus corpus;
    };
    std::optional<Reading> reading = std::nullopt;  // texts read so far

    static std::optional<CorpusSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const CorpusSweep& other) const {
        return same_model(other) && request.file == other.request.file &&
               request.attempt == other.request.attempt;
    }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish);

private:
    Found now() const;
};

/// Averages over prompts, without interventions.
struct PromptSweep : OfModel {
    struct Request {
        PromptsRequest prompts;
        bool begins = true;      // else only keeps results
        bool cancelled = false;  // results so far stay
        bool paused() const { return cancelled; }
        bool operator==(const Request&) const = default;
    };
    using Found = PromptsFound;
    PromptsRequest request;

    static std::optional<PromptSweep> of(const Request* request, const JobInputs& inputs);
    bool same(const PromptSweep& other) const { return same_model(other) && request == other.request; }
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const;
};

template <class Rows>
struct JobTable;
template <class... Rows>
struct JobTable<const std::tuple<Rows...>> {
    template <template <class> class Of>
    using Each = std::tuple<Of<HeadSweep>, Of<AblationSweep>, Of<PatchSweep>, Of<RandomSweep>,
                            Of<TraitsSweep>, Of<CompositionSweep>, Of<CorpusSweep>, Of<PromptSweep>,
                            Of<Measuring<typename Rows::Asks>>...>;
};
/// The table of jobs: those above, and one for each measured question.
template <template <class> class Of>
using OfEachJob = JobTable<decltype(kMeasured)>::Each<Of>;

template <class Work>
using RequestOf = typename Work::Request;
template <class... Requests>
std::variant<Requests...> one_of(const std::tuple<Requests...>&);
using JobRequest = decltype(one_of(std::declval<OfEachJob<RequestOf>>()));

template <class Work>
using JobOf = std::shared_ptr<Job<Work>>;
template <class Work>
using ShownJobOf = std::shared_ptr<const Job<Work>>;
using Jobs = OfEachJob<JobOf>;
using ShownJobs = OfEachJob<ShownJobOf>;

/// Jobs that need only the open model, or also its runs.
enum class JobsOf { model, runs };

/// Stops jobs no longer requested, pauses and resumes others, starts new ones. `seen(ended)`: see Job.
void update_jobs(Jobs& jobs, JobsOf of, const std::vector<JobRequest>& requests, const JobInputs& inputs,
                 const std::function<void(bool)>& seen);
void stop_jobs(Jobs& jobs);
ShownJobs shown_jobs(const Jobs& jobs);

}  // namespace headlight
