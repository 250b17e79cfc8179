#include "session/work/jobs.h"

#include "base/pace.h"
#include "model/engine.h"

namespace headlight {

std::optional<HeadSweep> HeadSweep::of(const Request* request, const JobInputs& in) {
    if (!request || !in.runs.shown || !in.model->has_logits()) return std::nullopt;
    return HeadSweep{in.runs.shown, in.runs.own, request->metric};
}

Status HeadSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
    Pace pace(std::chrono::milliseconds(100));
    TRY(HeadEffects effects,
        head_effects(*trace, own.get(), metric, pool, cancel, [&](int done, const HeadEffects& now) {
            if (pace.is_due()) publish({std::make_shared<const HeadEffects>(now), done, ""});
        }));
    publish({std::make_shared<const HeadEffects>(std::move(effects)), trace->config().head_count(), ""});
    return success();
}

std::optional<AblationSweep> AblationSweep::of(const Request* request, const JobInputs& in) {
    if (!request || !in.runs.shown || !in.complete || !in.model->has_logits()) return std::nullopt;
    return AblationSweep{in.runs.shown, in.runs.own, *request};
}

Status AblationSweep::measure(ThreadPool& pool, const CancelFlag* cancel,
                              const Publish<Found>& publish) const {
    TRY(Ablations found, ablate_groups(*trace, own.get(), request.metric, request.groups, pool, cancel));
    publish({std::make_shared<const Ablations>(std::move(found)), ""});
    return success();
}

namespace {

bool same_tokens(const Trace& a, const Trace& b) {
    if (a.model != b.model || a.request.inputs.size() != b.request.inputs.size()) return false;
    for (size_t i = 0; i < a.request.inputs.size(); ++i) {
        const Sequence &x = a.request.inputs[i], &y = b.request.inputs[i];
        if (x.ids != y.ids || x.types != y.types || x.picture != y.picture) return false;
    }
    return true;
}

}  // namespace

std::optional<PatchSweep> PatchSweep::of(const Request* request, const JobInputs& in) {
    const ShownRuns& runs = in.runs;
    if (!request || !runs.shown) return std::nullopt;
    PatchMapRequest map = request->map;
    map.clamp_to(*runs.shown);
    const auto& own = runs.own ? runs.own : runs.shown;
    if (map.from_other && runs.other) return PatchSweep{runs.other, own, map, {}};
    if (map.from_other || !runs.own) return std::nullopt;
    return PatchSweep{own, runs.shown, map, without_patches({{}, in.changes}).intervention};
}

bool PatchSweep::same(const PatchSweep& other) const {
    return map == other.map && changes == other.changes && same_tokens(*clean, *other.clean) &&
           same_tokens(*base, *other.base);
}

Status PatchSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
    TRY(const auto corrupted,
        run_trace(base->model, without_patches(base->request), pool, cancel, base.get()));
    const auto seen = [&](const PatchMap& map) { publish({map, ""}); };
    TRY_STATUS(patch_map(*clean, *corrupted, map.patch, pool, cancel, seen, &known));
    return success();
}

OfModel OfModel::open(const JobInputs& in) { return {in.model, weights_version(*in.model)}; }

std::optional<RandomSweep> RandomSweep::of(const Request*, const JobInputs& in) {
    if (in.recorded || in.model->config.can.read_image) return std::nullopt;
    return RandomSweep{OfModel::open(in)};
}

Status RandomSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
    TRY(RandomStatistics found, random_statistics(model, pool, cancel));
    publish({std::make_shared<const RandomStatistics>(std::move(found)), ""});
    return success();
}

std::optional<TraitsSweep> TraitsSweep::of(const Request* request, const JobInputs& in) {
    if (!request || !in.runs.shown || !in.complete) return std::nullopt;
    return TraitsSweep{in.runs.shown};
}

Status TraitsSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
    TRY(PerHead<TextTraits> found, text_traits(*trace, pool, cancel));
    publish({std::make_shared<const PerHead<TextTraits>>(std::move(found)), ""});
    return success();
}

std::optional<CompositionSweep> CompositionSweep::of(const Request*, const JobInputs& in) {
    if (in.recorded) return std::nullopt;
    return CompositionSweep{OfModel::open(in)};
}

void CompositionSweep::Found::refuse(const std::string& why) {
    Composition out;
    out.refusal = why;
    composition = std::make_shared<const Composition>(std::move(out));
}

Status CompositionSweep::measure(ThreadPool& pool, const CancelFlag* cancel,
                                 const Publish<Found>& publish) const {
    Found now{nullptr, 0, composition_steps(model->config, std::nullopt)};
    Pace pace(std::chrono::milliseconds(500));
    const auto step = [&](const Composition& so_far) {
        ++now.done;
        if (pace.is_due()) {
            Composition ranked = so_far;
            rank_pairs(ranked);
            now.composition = std::make_shared<const Composition>(std::move(ranked));
        }
        publish(now);
    };
    TRY(const auto here, model_here(model, cancel));
    TRY(Composition all, model_composition(*here, pool, cancel, Patience::long_wait, step));
    TRY_STATUS(model->store->check_unchanged());
    now.composition = std::make_shared<const Composition>(std::move(all));
    now.done = now.steps;
    publish(now);
    return success();
}

std::optional<CorpusSweep> CorpusSweep::of(const Request* request, const JobInputs& in) {
    if (!request || in.recorded || in.model->config.can.read_image) return std::nullopt;
    return CorpusSweep{OfModel::open(in), *request};
}

CorpusSweep::Found CorpusSweep::now() const {
    const auto& [lines, corpus] = *reading;
    if (corpus.texts() == 0) return {nullptr, 0, lines.count(), ""};
    return {std::make_shared<const Dossier>(dossier_of(*model, corpus, request.file)), corpus.texts(),
            lines.count(), ""};
}

Status CorpusSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) {
    if (!reading && is_read_as_dossier(request.file)) {
        TRY(Dossier read, open_dossier(request.file, model->config));
        const int texts = read.texts;
        publish({std::make_shared<const Dossier>(std::move(read)), texts, texts, ""});
        return success();
    }
    if (!reading) {
        TRY(CorpusLines lines, CorpusLines::open(request.file, 1, cancel));
        reading.emplace(Reading{std::move(lines), Corpus(model->config, kStrongestLinks)});
    }
    publish(now());
    bool first = true;
    Pace pace(std::chrono::milliseconds(300));
    const auto seen = [&] {
        if (std::exchange(first, false) || pace.is_due()) publish(now());
    };
    const Status read =
        read_corpus({model, read_plainly(*model), seen}, reading->lines, reading->corpus, pool, cancel);
    publish(now());
    return read;
}

std::optional<PromptSweep> PromptSweep::of(const Request* request, const JobInputs& in) {
    if (!request || in.recorded || in.model->config.can.read_image || !in.model->has_logits())
        return std::nullopt;
    return PromptSweep{OfModel::open(in), request->prompts};
}

Status PromptSweep::measure(ThreadPool& pool, const CancelFlag* cancel, const Publish<Found>& publish) const {
    Pace pace(std::chrono::milliseconds(150));
    const auto seen = [&](const PromptsFound& now) {
        if (pace.is_due()) publish(now);
    };
    TRY(const auto here, model_here(model, cancel));
    TRY(PromptsFound found, find_averages(here, request, pool, cancel, seen));
    publish(std::move(found));
    return success();
}

namespace {

template <class Request>
bool paused(const Request& request) {
    if constexpr (requires { request.paused(); })
        return request.paused();
    else
        return false;
}

template <class Request>
bool begins(const Request& request) {
    if constexpr (requires { request.begins; })
        return request.begins;
    else
        return true;
}

template <class Work>
const typename Work::Request* request_in(const std::vector<JobRequest>& requests) {
    for (const JobRequest& r : requests)
        if (const auto* asked = std::get_if<typename Work::Request>(&r)) return asked;
    return nullptr;
}

template <class Work>
JobOf<Work> resumed(const Job<Work>& job, const std::function<void(bool)>& seen) {
    Work work = job.work();
    if constexpr (requires { work.go_on_from(job.found()); }) work.go_on_from(job.found());
    return std::make_shared<Job<Work>>(std::move(work), job.found(), seen);
}

template <class Work>
void update_job(JobOf<Work>& job, const std::vector<JobRequest>& requests, const JobInputs& inputs,
                const std::function<void(bool)>& seen) {
    const auto* asked = request_in<Work>(requests);
    std::optional<Work> work = Work::of(asked, inputs);
    if (job && (!work || !job->is_of(*work) || (!asked && !job->ended()))) {
        job->stop();
        job = nullptr;
    }
    if (job && asked && paused(*asked) && job->goes_on()) job->stop();
    if (!work || !asked || paused(*asked)) return;
    if (job && job->stopped())
        job = resumed(*job, seen);
    else if (!job && begins(*asked))
        job = std::make_shared<Job<Work>>(*std::move(work), typename Work::Found(), seen);
}

}  // namespace

void update_jobs(Jobs& jobs, JobsOf of, const std::vector<JobRequest>& requests, const JobInputs& inputs,
                 const std::function<void(bool)>& seen) {
    const auto see_to_one = [&]<class Work>(JobOf<Work>& job) {
        constexpr bool kOfModel = requires(const Work& work) { work.model; };
        if (kOfModel == (of == JobsOf::model)) update_job(job, requests, inputs, seen);
    };
    std::apply([&](auto&... job) { (see_to_one(job), ...); }, jobs);
}

void stop_jobs(Jobs& jobs) {
    std::apply([](auto&... job) { ((job ? job->stop() : void()), ...); }, jobs);
}

ShownJobs shown_jobs(const Jobs& jobs) {
    return std::apply([](const auto&... job) { return ShownJobs(job...); }, jobs);
}

}  // namespace headlight
