#include "session/worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/generate.h"
#include "analysis/patch.h"
#include "base/check.h"
#include "base/utf8.h"
#include "model/library.h"

namespace headlight {

namespace {

/// The head of cross-attention that tells the target's words apart best by where they look.
std::pair<int, int> best_aligned_head(const Trace& trace, const ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    std::pair<int, int> best{cross_block(c, 0), 0};
    float max = -1;
    for (int block = best.first; block < c.blocks(); ++block)
        for (int head = 0; head < c.heads(block); ++head, pool.stop_point())
            if (const float bits = alignment_bits(trace.pattern(block, head)); bits > max) {
                max = bits;
                best = {block, head};
            }
    return best;
}

/// The head whose induction score is highest; without a repeated token, the one with the sharpest rows. Where
/// one text is read from another, the one that aligns them best.
std::pair<int, int> most_telling_head(const SentenceResult& s, const ThreadPool& pool) {
    const ModelConfig& c = s.model->config;
    if (c.decoder().cross) return best_aligned_head(*s.trace, pool);
    const auto score = [&](size_t index) {
        const HeadSummary& h = s.heads[index];
        const float induction =
            h.statistics[static_cast<size_t>(find_statistic("induction") - head_statistics().data())];
        const bool copies =
            c.decoder().causal && !std::isnan(induction);  // looking back for copies is a decoder's habit
        return copies ? induction : -h.statistics[0];
    };
    size_t best = 0;
    for (size_t i = 1; i < s.heads.size(); ++i)
        if (score(i) > score(best)) best = i;
    const AttentionHead head = c.head_at(best);
    return {head.block, head.head};
}

size_t byte_of_code_point(std::string_view text, int index) {
    size_t at = 0;
    for (int i = 0; i < index && at < text.size(); ++i)
        at += static_cast<size_t>(decode_utf8(text, at).length);
    return at;
}

/// How far the tokens that were kept reach in the text and in the second one, which begins after a separator
/// (a token of no text).
std::pair<size_t, size_t> bytes_read(const WorkRequest& r, std::span<const Span> kept) {
    int text = 0, second = 0;
    bool in_second = false;
    for (const Span& span : kept) {
        if (span.end == 0 && text > 0) in_second = !r.second.empty();
        (in_second ? second : text) = std::max(in_second ? second : text, span.end);
    }
    return {in_second ? r.text.size() : byte_of_code_point(r.text, text),
            byte_of_code_point(r.second, second)};
}

}  // namespace

Worker::Worker(int threads, std::function<void()> done, int map_side)
    : pool_(threads),
      done_(std::move(done)),
      map_side_(map_side),
      opener_([this] { mailbox_.repeat(); }),
      other_opener_([this] { mailbox_.repeat(); }),
      thread_([this] { work(); }) {}

Worker::~Worker() {
    mailbox_.close();
    thread_.join();
    if (sweep_) sweep_->stop();  // an answer may hold it for longer than this lives
}

void Worker::ask(WorkRequest request) {
    const WorkRequest& last = last_asked_;
    const bool everything = request.text != last.text || request.second != last.second ||
                            request.intervention != last.intervention || request.writing != last.writing ||
                            request.model_path != last.model_path ||
                            request.model_attempt != last.model_attempt || request.other != last.other;
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
        publish();
        return success();
    }));
}

void Worker::publish() {
    mailbox_.answer(std::make_shared<const WorkAnswer>(state_));
    done_();
}

void Worker::finish_opening() {
    const auto ended = opener_.take();
    state_.model_path = ended->path;
    state_.model_attempt = ended->attempt;
    state_.model_error.clear();
    auto opened = ended->result;
    if (!opened) {
        state_.model_error = opened.error().message;
        if (model_) return;
        if (const auto built_in = find_model("stories"))
            opened = Model::open(*built_in);  // so that a wrong path at the start leaves no dead window
    }
    if (!opened) return;
    model_ = *opened;
    refused_.reset();
    recorded_ = ended->result ? ended->trace : nullptr;
    state_.sentence = nullptr;
}

/// Opens what the request names, while the model that is open goes on.
void Worker::update_model(const WorkRequest& r) {
    const bool is_open = r.model_path == state_.model_path && r.model_attempt == state_.model_attempt;
    if (is_open) return opener_.give_up();
    opener_.want(r.model_path, r.model_attempt);
    if (opener_.ended()) finish_opening();
}

Result<ModelInput> Worker::read_input(const Model& model, const std::string& text,
                                      const std::string& second) {
    TextInput typed;
    switch (model.config.kind) {
        case ModelKind::vision:
            if (text.empty()) return ModelInput{};
            if (!image_ || image_path_ != text) {
                TRY(RgbImage image, open_image(text));
                image_ = std::make_shared<const RgbImage>(std::move(image));
                image_path_ = text;
            }
            typed.image = image_;
            break;
        case ModelKind::encoder:
            typed.pair = second;
            [[fallthrough]];
        case ModelKind::decoder:
            typed.text = text;
            break;
        case ModelKind::encoder_decoder:
            typed.text = text;
            typed.target = second;
            break;
    }
    return encode_input(model, typed);
}

/// Whether the model writes behind what was typed.
bool Worker::writes(const WorkRequest& r) const {
    if (recorded_ || !model_->has_logits() || !model_->tokenizer) return false;
    const ModelKind kind = model_->config.kind;
    return kind == ModelKind::encoder_decoder || (kind == ModelKind::decoder && r.writing.continues);
}

/// What it writes, with what the person changed; what was written last where nothing that matters is new. A
/// target that was typed is what it is made to write, so that each of its tokens has a probability and
/// alternatives too.
Result<std::shared_ptr<const WrittenText>> Worker::write_on(const WorkRequest& r,
                                                            std::vector<Sequence>& inputs) {
    constexpr int kLongestTarget = 256;
    GenerationWanted wanted = r.writing.wanted;
    if (model_->config.kind == ModelKind::encoder_decoder) wanted.length = kLongestTarget;
    if (Sequence& target = inputs.back(); !r.second.empty() && inputs.size() > 1 && target.size() > 1) {
        wanted = {{}, target.size() - 1, {target.ids.begin() + 1, target.ids.end()}};
        target.ids.resize(1);
        target.tokens.resize(1);
    }
    ForwardRequest request{inputs, r.intervention};
    auto& changes =
        request.intervention.changes;  // a pattern from another text is made to the measure of one pass
    changes.erase(
        std::remove_if(changes.begin(), changes.end(), [](const Change& c) { return !c.from.empty(); }),
        changes.end());
    const SentenceResult* last = state_.sentence.get();
    const bool same = last && last->written && last->model == model_ && last->text == r.text &&
                      last->intervention == r.intervention && last->written->wanted == wanted;
    if (same) return last->written;
    return written_text(model_, request, wanted, pool_, &mailbox_.cancel(),
                        last ? last->trace.get() : nullptr);
}

/// The pass with what the person changed; then also the model's own, which the changed one shares its first
/// layers with.
Result<std::shared_ptr<const Trace>> Worker::run(const WorkRequest& r, std::vector<Sequence> inputs,
                                                 const WrittenText* written,
                                                 std::shared_ptr<const Trace>& unchanged) {
    const SentenceResult* last = state_.sentence.get();
    const Trace* past = !last ? nullptr : last->unchanged ? last->unchanged.get() : last->trace.get();
    const Trace* read = written ? written->writing.trace.get() : nullptr;  // under the same changes
    if (r.intervention == Intervention{})
        return run_trace(model_, {std::move(inputs), {}}, pool_, &mailbox_.cancel(), read ? read : past);
    TRY(unchanged, run_trace(model_, {inputs, {}}, pool_, &mailbox_.cancel(), past));
    Intervention intervention = r.intervention;
    if (needs_patching(intervention)) {
        auto whole = patched(intervention, *unchanged, pool_, &mailbox_.cancel());
        if (!whole && whole.error().cancelled) return whole.error();
        if (whole)
            intervention = *std::move(whole);
        else
            state_.text_error = whole.error().message;
    }
    return run_trace(model_, {std::move(inputs), std::move(intervention)}, pool_, &mailbox_.cancel(),
                     unchanged.get());
}

/// What a trace file holds, whatever is typed; it cannot be run again.
Status Worker::show_recorded(const WorkRequest& r) {
    TRY(SentenceResult described, describe_trace(recorded_, pool_, &mailbox_.cancel()));
    described.text = r.text;
    described.second = r.second;
    described.intervention = r.intervention;
    described.asked = r.writing;
    described.bytes_read = r.text.size();
    described.second_read = r.second.size();
    state_.text_error.clear();
    state_.sentence = std::make_shared<const SentenceResult>(std::move(described));
    state_.picture = nullptr;
    state_.cell = nullptr;
    state_.answers = {};
    return success();
}

/// The old sentence stays where it ends in an error.
Status Worker::read_sentence(const WorkRequest& r) {
    if (recorded_) return show_recorded(r);
    const auto start = std::chrono::steady_clock::now();
    auto s = std::make_shared<SentenceResult>();
    s->model = model_;
    state_.text_error.clear();
    auto input = read_input(*model_, r.text, r.second);
    if (!input) state_.text_error = input.error().message;
    if (input && !input->sequences.empty() && input->sequences[0].size() > 0) {
        const size_t kept = input->sequences[0].ids.size(), in_all = input->tokens_in_all;
        const auto read =
            in_all > kept ? bytes_read(r, input->offsets) : std::pair{r.text.size(), r.second.size()};
        std::shared_ptr<const Trace> unchanged;
        std::shared_ptr<const WrittenText> written;
        int step = 0;
        if (writes(r)) {
            TRY(written, write_on(r, input->sequences));
            step = r.writing.step < 0 ? written->steps() : std::min(r.writing.step, written->steps());
            for (int i = 0; i < step; ++i)
                append_token(*model_, input->sequences.back(),
                             written->writing.tokens[static_cast<size_t>(i)].id);
        }
        TRY(auto trace, run(r, std::move(input->sequences), written.get(), unchanged));
        TRY(*s, describe_trace(std::move(trace), pool_, &mailbox_.cancel()));
        s->written = std::move(written);
        s->step = step;
        compare_with_own(*s, std::move(unchanged), pool_);
        s->tokens_in_all = in_all;
        std::tie(s->bytes_read, s->second_read) = read;
    } else if (model_->tokenizer && model_->config.mask_id >= 0) {
        s->mask = (*model_->tokenizer)->spelling(model_->config.mask_id);
    }
    s->text = r.text;
    s->second = r.second;
    s->intervention = r.intervention;
    s->asked = r.writing;
    const bool same_model = state_.sentence && state_.sentence->model == model_;
    s->milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    state_.sentence = std::move(s);
    state_.picture = nullptr;
    state_.cell = nullptr;
    state_.answers = same_model ? state_.answers.about_model() : Answers();
    return success();
}

/// Begins the sweep that is asked for, ends one that is not asked for any more.
void Worker::see_to_sweep(const WorkRequest& r) {
    const auto& trace = state_.sentence->trace;
    const bool wanted = r.sweep && trace && model_->has_logits();
    if (sweep_ && (!wanted || !sweep_->is_of(trace.get(), *r.sweep))) {
        sweep_->stop();
        sweep_ = nullptr;
    }
    if (wanted && !sweep_) sweep_ = std::make_shared<Sweep>(trace, *r.sweep, [this] { mailbox_.repeat(); });
    state_.sweep = sweep_;
    if (sweep_ && sweep_->ended() && !sweep_->failure().empty()) state_.failure = sweep_->failure();
}

void Worker::report_focus(const WorkRequest& r) {
    const Trace& trace = *state_.sentence->trace;
    const Cell cell{state_.block, state_.head, std::min(r.cell->first, trace.query_count(state_.block) - 1),
                    std::min(r.cell->second, trace.key_count(state_.block) - 1)};
    if (!state_.cell || state_.cell->cell != cell)
        state_.cell = std::make_shared<const CellReport>(report_cell(trace, cell, pool_));
}

namespace {

bool asks_for_the_same(const WorkRequest& a, const WorkRequest& b) {
    return a.text == b.text && a.second == b.second && a.intervention == b.intervention &&
           a.writing == b.writing;
}

/// What stands for a text that could not be read, where there is nothing older to show.
std::shared_ptr<const SentenceResult> empty_sentence(const std::shared_ptr<const Model>& model,
                                                     const WorkRequest& r) {
    auto s = std::make_shared<SentenceResult>();
    s->model = model;
    s->text = r.text;
    s->second = r.second;
    s->intervention = r.intervention;
    s->asked = r.writing;
    return s;
}

}  // namespace

/// Reads the sentence where it is new. One that cannot be computed leaves the old one, with the reason.
Status Worker::see_to_sentence(const WorkRequest& r) {
    const SentenceResult* s = state_.sentence.get();
    const bool fresh = !s || s->model != model_ || s->text != r.text || s->second != r.second ||
                       s->intervention != r.intervention || s->asked != r.writing;
    if (refused_ && asks_for_the_same(*refused_, r)) return success();
    refused_.reset();
    state_.failure.clear();
    if (!fresh) return success();
    const Status read = guarded([&] { return read_sentence(r); });
    if (read || read.error().cancelled) return read;
    refused_ = r;
    state_.failure = read.error().message;
    if (s && s->model == model_) return success();
    state_.sentence = empty_sentence(model_, r);
    state_.text_error = state_.failure;
    state_.picture = nullptr;
    state_.cell = nullptr;
    state_.answers = {};
    return success();
}

Status Worker::handle(const WorkRequest& r) {
    update_model(r);
    if (!model_) {
        if (!opener_.opening()) publish();
        return success();
    }
    TRY_STATUS(see_to_sentence(r));
    TRY_STATUS(read_other(r));
    see_to_sweep(r);
    const SentenceResult& s = *state_.sentence;
    if (!s.trace) {
        state_.picture = nullptr;
        state_.cell = nullptr;
        publish();
        return success();
    }
    const ModelConfig& c = model_->config;
    const int block = std::clamp(r.block, 0, c.blocks() - 1);
    std::tie(state_.block, state_.head) = r.choose_head
                                              ? most_telling_head(s, pool_)
                                              : std::pair{block, std::clamp(r.head, 0, c.heads(block) - 1)};
    if (!state_.picture || state_.picture->block != state_.block || state_.picture->head != state_.head ||
        state_.picture->sink_dropped != r.drop_sink) {
        state_.picture = std::make_shared<const HeadPicture>(
            make_picture(*s.trace, state_.block, state_.head, pool_, r.drop_sink, map_side_));
        state_.cell = nullptr;
        if (r.questions.empty())
            publish();  // a view with questions keeps its old picture until they are answered
    }
    if (r.cell)
        report_focus(r);
    else
        state_.cell = nullptr;
    TRY_STATUS(answer_questions(state_, r.questions, pool_, &mailbox_.cancel_questions()));
    publish();
    return success();
}

}  // namespace headlight
