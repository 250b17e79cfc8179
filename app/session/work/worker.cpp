#include "session/work/worker.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace headlight {

Worker::Worker(int threads, std::function<void()> done, int map_side, int first_tokens)
    : pool_(threads),
      done_(std::move(done)),
      map_side_(map_side),
      first_tokens_(first_tokens),
      opener_([this] { mailbox_.repeat(); }),
      other_opener_([this] { mailbox_.repeat(); }),
      thread_([this] { work(); }) {}

Worker::~Worker() {
    mailbox_.close();
    thread_.join();
    if (sweep_) sweep_->stop();  // an answer may hold it for longer than this lives
    if (patching_) patching_->stop();
    if (influence_map_) influence_map_->stop();
    if (token_scores_) token_scores_->stop();
    if (composition_) composition_->stop();
    if (dossier_) dossier_->stop();
}

namespace {

/// Whether what is asked holds for one model alone: a pass without it is not the one that is wanted.
bool changes_something(const WorkRequest& r) {
    return r.intervention != Intervention{} || !r.generation.wanted.forced.empty();
}

}  // namespace

void Worker::ask(WorkRequest request) {
    const WorkRequest& last = last_asked_;
    const bool everything = request.text != last.text || request.picture != last.picture ||
                            request.second != last.second || request.intervention != last.intervention ||
                            request.generation != last.generation || request.model_path != last.model_path ||
                            request.model_attempt != last.model_attempt || request.other != last.other ||
                            (request.asked_of != last.asked_of && changes_something(request));
    const Supersedes supersedes = everything                            ? Supersedes::everything
                                  : request.questions != last.questions ? Supersedes::questions
                                                                        : Supersedes::nothing;
    last_asked_ = request;
    mailbox_.put(std::move(request), supersedes);
}

/// Nothing that is thrown leaves the thread: it becomes a sentence beside what was shown.
void Worker::work() {
    while (auto request = mailbox_.take()) {
        const Status done = guarded([&] {
            const CancelScope scope(pool_, &mailbox_.cancel());
            return handle(*request);
        });
        if (!done && !done.error().cancelled) tell(done.error());
    }
}

void Worker::tell(const Error& error) {
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

/// Begins the sweep that is asked for, ends one that is not asked for any more.
void Worker::see_to_sweep(const WorkRequest& r) {
    const auto& trace = state_.sentence->trace;
    const bool wanted = r.sweep && trace && model_->has_logits();
    if (sweep_ && (!wanted || !sweep_->is_of(trace.get(), *r.sweep))) {
        sweep_->stop();
        sweep_ = nullptr;
    }
    if (wanted && !sweep_)
        sweep_ = std::make_shared<Sweep>(trace, state_.sentence->unchanged, *r.sweep,
                                         [this] { mailbox_.repeat(); });
    state_.sweep = sweep_;
    if (sweep_ && sweep_->ended() && !sweep_->failure().empty()) state_.failure = sweep_->failure();
}

/// The same of the map of patching; a cancelled one goes on from where it was.
void Worker::see_to_patching(const WorkRequest& r) {
    const SentenceResult& s = *state_.sentence;
    const auto other = state_.other ? state_.other->trace : nullptr;
    const auto wanted = r.patch && s.trace
                            ? patch_runs({s.trace, s.unchanged, other}, r.patch->map, r.intervention)
                            : std::nullopt;
    if (patching_ && (!wanted || !patching_->is_of(*wanted))) {
        patching_->stop();
        patching_ = nullptr;
    }
    if (patching_ && !r.patch->measure && !patching_->ended()) patching_->stop();
    if (wanted && r.patch->measure && (!patching_ || patching_->stopped()))
        patching_ = std::make_shared<PatchSweep>(
            *wanted, [this](bool ended) { ended ? mailbox_.repeat() : done_(); },
            patching_ ? patching_->found().map : PatchMap());
    state_.patching = patching_;
}

namespace {

/// Ends what is not wanted any more, begins what is.
template <class Wanted>
void see_to(std::shared_ptr<InfluenceSweep<Wanted>>& sweep, const ShownRuns& runs,
            const std::optional<Wanted>& wanted, const std::function<void(bool)>& seen) {
    if (sweep && (!wanted || !sweep->is_of(runs, *wanted))) {
        sweep->stop();
        sweep = nullptr;
    }
    if (wanted && !sweep) sweep = std::make_shared<InfluenceSweep<Wanted>>(runs, *wanted, seen);
}

}  // namespace

/// The same of what the view Influence measures.
void Worker::see_to_influence(const WorkRequest& r) {
    const SentenceResult& s = *state_.sentence;
    const InfluenceAsked wanted = s.trace && s.complete ? r.influence : InfluenceAsked{};
    const ShownRuns runs{s.trace, s.unchanged, state_.other ? state_.other->trace : nullptr};
    const auto seen = [this](bool ended) { ended ? mailbox_.repeat() : done_(); };
    see_to(influence_map_, runs, wanted.map, seen);
    see_to(token_scores_, runs, wanted.scores, seen);
    state_.influence_map = influence_map_;
    state_.token_scores = token_scores_;
}

/// The same of compositions; what has ended is kept while the model is open.
void Worker::see_to_composition(const WorkRequest& r) {
    const bool wanted = r.composition && !recorded_;
    if (composition_ && (!composition_->is_of(model_.get()) || (!wanted && !composition_->ended()))) {
        composition_->stop();
        composition_ = nullptr;
    }
    if (wanted && !composition_)
        composition_ = std::make_shared<CompositionSweep>(
            model_, [this](bool ended) { ended ? mailbox_.repeat() : done_(); });
    state_.composition = composition_;
}

/// The same of a corpus, which is of the model alone and goes on whatever text is shown.
void Worker::see_to_dossier(const WorkRequest& r) {
    if (dossier_ && (!r.dossier || !dossier_->is_of(model_.get(), *r.dossier))) {
        dossier_->stop();
        dossier_ = nullptr;
    }
    if (dossier_ && r.dossier->cancelled && dossier_->goes_on()) dossier_->stop();
    const bool wanted = r.dossier && !r.dossier->cancelled && !recorded_ && !model_->config.can.read_image;
    if (wanted && (dossier_ ? dossier_->stopped() : r.dossier->begins))
        dossier_ = std::make_shared<DossierSweep>(
            model_, *r.dossier, [this](bool ended) { ended ? mailbox_.repeat() : done_(); }, dossier_.get());
    state_.dossier = dossier_;
}

void Worker::report_focus(const WorkRequest& r) {
    const Trace& trace = *state_.sentence->trace;
    const Cell cell{state_.block, state_.head, std::min(r.cell->first, trace.query_count(state_.block) - 1),
                    std::min(r.cell->second, trace.key_count(state_.block) - 1)};
    if (!state_.cell || state_.cell->cell != cell || (r.cell_tokens && !state_.cell->tokens_asked))
        state_.cell = std::make_shared<const CellReport>(report_cell(trace, cell, r.cell_tokens, pool_));
}

/// What is asked of the model that is open: of another, which was shown when this was asked, the texts alone.
/// A vision model is asked about the picture in place of the text.
WorkRequest Worker::of_model(WorkRequest r) const {
    if (r.asked_of && r.asked_of != model_) {
        r.intervention = {};
        r.generation.wanted.forced.clear();
        r.generation.step = -1;
        r.questions.clear();
        r.sweep.reset();
        r.patch.reset();
        r.influence = {};
        r.group.reset();
        r.composition = false;
        if (r.dossier) r.dossier->begins = false;
    }
    if (!model_->config.can.read_image) return r;
    r.text = r.picture;
    if (r.other && !r.other->model_path.empty()) r.other->text = r.picture;
    return r;
}

Status Worker::handle(const WorkRequest& asked) {
    update_model(asked);
    if (!model_) {
        if (!opener_.opening()) publish(true);
        return success();
    }
    const WorkRequest r = of_model(asked);
    see_to_composition(r);
    see_to_dossier(r);
    TRY_STATUS(see_to_sentence(r));
    TRY_STATUS(read_other(r));
    see_to_sweep(r);
    see_to_patching(r);
    see_to_influence(r);
    return show_head(r, true);
}

namespace {

/// Answers a question of one kind where it is asked of the weights alone, and not answered yet.
template <class Asked, class Answer>
Status answer_once(WorkAnswer& state, const Question& question, const ModelConfig& config,
                   const Answer& found) {
    const auto* asked = std::get_if<Asked>(&question);
    if (!asked) return success();
    Asked wanted = *asked;
    if constexpr (requires { wanted.block; }) {
        wanted.block = nearest(wanted.block, config.blocks());
        wanted.head = nearest(wanted.head, config.heads(wanted.block));
    }
    const auto* known = state.found<Asked>();
    if (known && known->asked == wanted) return success();
    TRY(auto answer, found(wanted));
    state.answers.set(wanted, std::move(answer), nullptr);
    return success();
}

/// What is asked of the weights alone, which needs no sentence.
Status answer_of_model(WorkAnswer& state, const Model& model, const std::vector<Question>& questions,
                       ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = model.config;
    for (const Question& question : questions) {
        if (model.weights.stacks.empty()) break;
        TRY_STATUS(answer_once<BlockWeightsWanted>(state, question, c, [&](const BlockWeightsWanted& asked) {
            return guarded([&]() -> Result<BlockWeights> {
                const CancelScope scope(pool, cancel);
                return block_weights(model, asked, pool);
            });
        }));
        TRY_STATUS(answer_once<CircuitsWanted>(state, question, c, [&](const CircuitsWanted& asked) {
            return head_circuits(model, asked, pool, cancel);
        }));
        TRY_STATUS(answer_once<CompositionWanted>(state, question, c, [&](const CompositionWanted& asked) {
            return model_composition(model, pool, cancel, asked.patience);
        }));
    }
    Status unchanged = model.store.check_unchanged();
    if (!unchanged) state.answers = {};
    return unchanged;
}

}  // namespace

/// The head's picture, the cell and the view's questions of the sentence that is shown. `last`: nothing more
/// comes of the request.
Status Worker::show_head(const WorkRequest& r, bool last) {
    const SentenceResult& s = *state_.sentence;
    if (!s.trace) {
        state_.picture = nullptr;
        state_.cell = nullptr;
        std::tie(state_.block, state_.head) = std::pair{r.block, r.head};
        TRY_STATUS(answer_of_model(state_, *model_, r.questions, pool_, &mailbox_.cancel_questions()));
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
    const PictureWanted wanted{state_.block, state_.head, r.drop_sink, fitted(r.group, c, state_.block)};
    if (!state_.picture || static_cast<const PictureWanted&>(*state_.picture) != wanted) {
        state_.picture =
            std::make_shared<const HeadPicture>(make_picture(*s.trace, wanted, pool_, map_side_));
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
