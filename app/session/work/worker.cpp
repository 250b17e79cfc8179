#include "session/work/worker.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "model/engine.h"

namespace headlight {

Worker::Worker(int threads, std::function<void()> done, int map_side, int first_tokens,
               std::chrono::milliseconds writing_apart)
    : pool_(threads),
      done_(std::move(done)),
      map_side_(map_side),
      first_tokens_(first_tokens),
      writing_apart_(writing_apart),
      opener_([this] { mailbox_.repeat(); }),
      other_opener_([this] { mailbox_.repeat(); }),
      thread_([this] { work(); }) {}

Worker::~Worker() {
    mailbox_.close();
    thread_.join();
    stop_jobs(jobs_);  // an answer may keep them alive for longer
}

namespace {

/// Whether the request depends on one model: a pass without it is not the requested one.
bool changes_something(const WorkRequest& r) {
    return r.intervention != Intervention{} || !r.generation.request.forced.empty();
}

}  // namespace

void Worker::ask(WorkRequest request) {
    const WorkRequest& last = last_asked_;
    const bool everything = !request.reads_as(last) || request.model_path != last.model_path ||
                            request.model_attempt != last.model_attempt || request.other != last.other ||
                            (request.asked_of != last.asked_of && changes_something(request));
    const Supersedes supersedes = everything                            ? Supersedes::everything
                                  : request.questions != last.questions ? Supersedes::questions
                                                                        : Supersedes::nothing;
    last_asked_ = request;
    mailbox_.put(std::move(request), supersedes);
}

/// Catches all exceptions of the thread: they become an error shown with the old answer.
void Worker::work() {
    while (auto request = mailbox_.take()) {
        const Status done = guarded([&] {
            const CancelScope scope(pool_, &mailbox_.cancel());
            return handle(*request);
        });
        if (!done && !done.error().cancelled) report(done.error());
    }
}

void Worker::report(const Error& error) {
    static_cast<void>(guarded([&] {
        (model_ ? state_.failure : state_.model_error) = error.message;
        publish(true);
        return success();
    }));
}

void Worker::publish(bool last) {
    mailbox_.answer(std::make_shared<const WorkAnswer>(state_), last);
    done_();
}

void Worker::run_jobs(JobsOf of, const WorkRequest& r) {
    JobInputs in{model_, {}, r.intervention, false, recorded_ != nullptr};
    if (of == JobsOf::runs) {
        const SentenceResult& s = *state_.sentence;
        in.runs = {s.trace, s.unchanged, state_.other ? state_.other->trace : nullptr};
        in.complete = s.complete;
    }
    update_jobs(jobs_, of, r.jobs, in, [this](bool ended) { ended ? mailbox_.repeat() : done_(); });
    state_.jobs = shown_jobs(jobs_);
    const auto* sweep = state_.job<HeadSweep>();
    if (sweep && sweep->ended() && !sweep->found().refusal.empty()) state_.failure = sweep->found().refusal;
}

void Worker::report_focus(const WorkRequest& r) {
    const Trace& trace = *state_.sentence->trace;
    const Cell cell{state_.block, state_.head, std::min(r.cell->first, trace.query_count(state_.block) - 1),
                    std::min(r.cell->second, trace.key_count(state_.block) - 1)};
    if (!state_.cell || state_.cell->cell != cell || (r.cell_tokens && !state_.cell->tokens_asked))
        state_.cell = std::make_shared<const CellReport>(report_cell(trace, cell, r.cell_tokens, pool_));
}

/// Adapts the request to the open model: if it was made for another one, only the texts remain. Vision models
/// read the image instead of the text.
WorkRequest Worker::of_model(WorkRequest r) const {
    const bool of_same_files = r.asked_of && r.asked_of->store == model_->store;  // at another strength
    if (r.asked_of && !of_same_files) {
        r.intervention = {};
        r.generation.request.forced.clear();
        r.generation.step = -1;
        r.questions.clear();
        r.group.reset();
        std::erase_if(
            r.jobs, [](const JobRequest& job) { return !std::holds_alternative<CorpusSweep::Request>(job); });
        for (JobRequest& job : r.jobs) std::get<CorpusSweep::Request>(job).begins = false;
    }
    if (model_->config.can.read_image) {
        r.text = r.picture;
        if (r.other && !r.other->model_path.empty()) r.other->text = r.picture;
    }
    if (!model_->config.can.add_image) r.picture.clear();
    return r;
}

Status Worker::handle(const WorkRequest& asked) {
    update_model(asked);
    if (!model_) {
        if (!opener_.opening()) publish(true);
        return success();
    }
    const WorkRequest r = of_model(asked);
    run_jobs(JobsOf::model, r);
    TRY_STATUS(update_sentence(r));
    TRY_STATUS(read_other(r));
    run_jobs(JobsOf::runs, r);
    return show_head(r, true);
}

namespace {

/// Answers one kind of question about the weights, unless already answered.
template <class Asked, class Answer>
Status answer_once(WorkAnswer& state, const Question& question, const ModelConfig& config,
                   const Answer& found) {
    const auto* asked = std::get_if<Asked>(&question);
    if (!asked) return success();
    Asked request = *asked;
    if constexpr (requires { request.block; }) {
        request.block = nearest(request.block, config.blocks());
        request.head = nearest(request.head, config.heads(request.block));
    }
    const auto* known = state.found<Asked>();
    if (known && known->asked == request) return success();
    TRY(auto answer, found(request));
    state.answers.set(request, std::move(answer), nullptr);
    return success();
}

/// Answers questions about the weights, which need no sentence.
Status answer_of_model(WorkAnswer& state, const std::shared_ptr<const Model>& open,
                       const std::vector<Question>& questions, ThreadPool& pool, const CancelFlag* cancel) {
    if (questions.empty() || !weights_come(*open)) return success();
    TRY(const auto here, model_here(open, cancel));
    const Model& model = *here;
    const ModelConfig& c = model.config;
    for (const Question& question : questions) {
        TRY_STATUS(
            answer_once<BlockWeightsRequest>(state, question, c, [&](const BlockWeightsRequest& asked) {
                return guarded([&]() -> Result<BlockWeights> {
                    const CancelScope scope(pool, cancel);
                    return block_weights(model, asked, pool);
                });
            }));
        TRY_STATUS(answer_once<CircuitsRequest>(state, question, c, [&](const CircuitsRequest& asked) {
            return head_circuits(model, asked, pool, cancel);
        }));
        TRY_STATUS(answer_once<CompositionRequest>(state, question, c, [&](const CompositionRequest& asked) {
            return model_composition(model, pool, cancel, asked.patience);
        }));
    }
    Status unchanged = model.store->check_unchanged();
    if (!unchanged) state.answers = {};
    return unchanged;
}

}  // namespace

/// Computes the head's heat map, the cell and the view's questions. `last`: the answer is complete.
Status Worker::show_head(const WorkRequest& r, bool last) {
    const SentenceResult& s = *state_.sentence;
    if (!s.trace) {
        state_.picture = nullptr;
        state_.cell = nullptr;
        std::tie(state_.block, state_.head) = std::pair{r.block, r.head};
        TRY_STATUS(answer_of_model(state_, model_, r.questions, pool_, &mailbox_.cancel_questions()));
        publish(last);
        return success();
    }
    const ModelConfig& c = model_->config;
    const int block = std::clamp(r.block, 0, c.blocks() - 1);
    const AttentionHead head = r.choose_head
                                   ? most_telling_head(s, pool_)
                                   : AttentionHead{block, std::clamp(r.head, 0, c.heads(block) - 1)};
    state_.block = head.block;
    state_.head = head.head;
    const PictureRequest request{state_.block, state_.head, r.drop_sink, fitted(r.group, c, state_.block)};
    if (!state_.picture || static_cast<const PictureRequest&>(*state_.picture) != request) {
        state_.picture =
            std::make_shared<const HeadPicture>(make_picture(*s.trace, request, pool_, map_side_));
        state_.cell = nullptr;
        if (r.questions.empty())
            publish(false);  // a view with questions keeps its old picture until they are answered
    }
    if (r.cell)
        report_focus(r);
    else
        state_.cell = nullptr;
    TRY_STATUS(answer_questions(state_, r.questions, pool_, &mailbox_.cancel_questions()));
    publish(last);
    return success();
}

}  // namespace headlight
