// The worker's run: reads the typed text, generates, and describes the result.
#include <algorithm>
#include <chrono>
#include <limits>

#include "analysis/patching/patch.h"
#include "base/check.h"
#include "base/utf8.h"
#include "model/engine.h"
#include "session/work/worker.h"

namespace headlight {

namespace {

size_t byte_of_code_point(std::string_view text, int index) {
    size_t at = 0;
    for (int i = 0; i < index && at < text.size(); ++i) at += decode_utf8(text, at).length;
    return at;
}

/// Length of the cached prefix in the text and in the second one, which begins after a separator token.
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

/// The part of a request that determines the sentence.
void note_request(SentenceResult& s, const WorkRequest& r) {
    s.text = r.text;
    s.chat_asked = r.chat;
    s.image = r.picture;
    s.second = r.second;
    s.intervention = r.intervention;
    s.asked = r.generation;
}

/// Notes what was read: the first tokens of the text, or all that fit.
void note_input(SentenceResult& s, const WorkRequest& r, const ChatInput& read,
                size_t tokens = std::numeric_limits<size_t>::max()) {
    const ModelInput& input = read.input;
    s.tokens_in_all = input.tokens_in_all;
    const bool whole = tokens >= input.tokens_in_all || !r.chat.empty();
    const auto offsets = std::span(input.offsets).first(std::min(tokens, input.offsets.size()));
    std::tie(s.bytes_read, s.second_read) =
        whole ? std::pair{r.text.size(), r.second.size()} : bytes_read(r, offsets);
    if (!r.chat.empty()) s.chat = conversation_in(*s.model, read, s.trace->output());
}

/// Shows a text while it is written. What is shown takes a third of the time at most.
class ShownWriting : public WritingObserver {
public:
    using Show = std::function<Status(Generation)>;
    ShownWriting(std::chrono::milliseconds apart, Show show)
        : apart_(apart), due_(Clock::now() + apart), show_(std::move(show)) {}

    bool is_due() override { return Clock::now() >= due_; }
    Status see(Generation so_far) override {
        const auto start = Clock::now();
        Status shown = show_(std::move(so_far));
        const auto end = Clock::now();
        due_ = end + std::max<Clock::duration>(apart_, 2 * (end - start));
        return shown;
    }

private:
    using Clock = std::chrono::steady_clock;
    const std::chrono::milliseconds apart_;
    Clock::time_point due_;
    const Show show_;
};

}  // namespace

/// Whether the model continues the typed text.
bool Worker::writes(const WorkRequest& r) const {
    if (recorded_ || !model_->has_logits() || !model_->tokenizer) return false;
    const Capabilities& can = model_->config.can;
    return can.write_target || (can.continue_text && r.generation.continues);
}

/// The generation with forced tokens; reuses the last one if nothing relevant changed. A typed target is
/// forced, so that each of its tokens has a probability and alternatives too.
Result<std::shared_ptr<const WrittenText>> Worker::write_on(const WorkRequest& r, const ChatInput& read,
                                                            std::vector<Sequence>& inputs) {
    constexpr int kLongestTarget = 256;
    GenerationRequest asked = r.generation.request;
    if (model_->config.can.write_target) asked.length = kLongestTarget;
    if (Sequence& target = inputs.back(); !r.second.empty() && inputs.size() > 1 && target.size() > 1) {
        asked = {{}, target.size() - 1, {target.ids.begin() + 1, target.ids.end()}};
        target.ids.resize(1);
        target.tokens.resize(1);
    }
    ForwardRequest request{inputs, r.intervention};
    auto& changes = request.intervention.changes;  // a pattern from another text is fitted to one pass
    changes.erase(
        std::remove_if(changes.begin(), changes.end(), [](const Change& c) { return !c.from.empty(); }),
        changes.end());
    const std::shared_ptr<const SentenceResult> last = state_.sentence;  // lives while others are shown
    const bool same = last && last->complete && last->written && last->model == model_ &&
                      last->text == r.text && last->chat_asked == r.chat && last->image == r.picture &&
                      last->intervention == r.intervention && last->written->request == asked;
    if (same) return last->written;
    ShownWriting seen(writing_apart_, [&](Generation so_far) {
        return show_writing(r, read, inputs, describe_written(*model_, request, asked, std::move(so_far)));
    });
    TRY(Generation whole,
        generate(model_, request, asked, pool_, &mailbox_.cancel(), last ? last->trace.get() : nullptr,
                 r.generation.step < 0 ? &seen : nullptr));
    return describe_written(*model_, request, asked, std::move(whole));
}

/// Shows what is written so far as a run of its own. A question that is no longer asked ends nothing.
Status Worker::show_writing(const WorkRequest& r, const ChatInput& read, std::vector<Sequence> inputs,
                            std::shared_ptr<const WrittenText> written) {
    for (const GeneratedToken& token : written->generation.tokens)
        append_token(*model_, inputs.back(), token.id);
    TRY(SentenceResult s, run_described(r, std::move(inputs), written.get()));
    s.complete = false;
    s.step = written->steps();
    s.written = std::move(written);
    note_input(s, r, read);
    note_request(s, r);
    show(std::make_shared<const SentenceResult>(std::move(s)));
    Status shown = show_head(r, false);
    return mailbox_.cancel() ? shown : success();
}

/// The pass with interventions, observed by `heads`; then the model's own, which shares its first layers.
Result<std::shared_ptr<const Trace>> Worker::run(const WorkRequest& r, std::vector<Sequence> inputs,
                                                 const WrittenText* written, HeadObserver& heads,
                                                 std::shared_ptr<const Trace>& unchanged) {
    const SentenceResult* last = state_.sentence.get();
    const Trace* past = !last ? nullptr : last->unchanged ? last->unchanged.get() : last->trace.get();
    const Trace* read = written ? written->generation.trace.get() : nullptr;  // with the same interventions
    if (r.intervention == Intervention{})
        return run_trace(model_, {std::move(inputs), {}}, pool_, &mailbox_.cancel(), read ? read : past,
                         &heads);
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
                     unchanged.get(), &heads);
}

/// Describes the pass, and the model's own if there are interventions.
Result<SentenceResult> Worker::run_described(const WorkRequest& r, std::vector<Sequence> inputs,
                                             const WrittenText* written) {
    HeadObserver heads(model_->config, inputs);
    std::shared_ptr<const Trace> unchanged;
    TRY(auto trace, run(r, std::move(inputs), written, heads, unchanged));
    TRY(SentenceResult s,
        describe_trace(std::move(trace), pool_, &mailbox_.cancel(), state_.sentence.get(), &heads));
    compare_with_own(s, std::move(unchanged), pool_);
    return s;
}

/// Number of tokens of a new text to show before all: doubles each time, beyond cached tokens and the focused
/// cell. None beside an image, of whose patches a beginning may lack some, if a row may depend on later ones
/// and would be recomputed, nor if most of the text is already
/// shown: it would shrink and grow during editing.
std::vector<int> Worker::beginnings(const WorkRequest& r, const Sequence& whole) const {
    const ModelConfig& c = model_->config;
    const int n = whole.size();
    const bool rows_stand = c.stacks.size() == 1 && c.stacks[0].causal && r.intervention == Intervention{} &&
                            !c.positions_depend_on_length(n);
    if (!rows_stand || n <= first_tokens_ || whole.picture) return {};
    int seen = r.cell ? std::max(r.cell->first, r.cell->second) : 0;
    if (const SentenceResult* last = state_.sentence.get(); last && last->trace && last->model == model_) {
        const std::vector<int>& ids = last->trace->output().ids;
        const auto differs = std::mismatch(ids.begin(), ids.end(), whole.ids.begin(), whole.ids.end());
        const int known = static_cast<int>(differs.first - ids.begin());
        if (2 * known > n) return {};
        seen = std::max(seen, known);
    }
    std::vector<int> out;
    for (int64_t count = first_tokens_; 4 * count <= 3 * int64_t{n}; count *= 2)
        if (count > seen) out.push_back(static_cast<int>(count));
    return out;
}

/// Shows a long text progressively; each pass reuses the rows of the last.
Status Worker::show_beginnings(const WorkRequest& r, const ChatInput& read) {
    const Sequence& whole = read.input.sequences[0];
    for (const int n : beginnings(r, whole)) {
        Sequence part = whole;
        part.ids.resize(n);
        part.tokens.resize(n);
        if (!part.types.empty()) part.types.resize(n);
        TRY(SentenceResult s, run_described(r, {std::move(part)}, nullptr));
        s.complete = false;
        note_input(s, r, read, static_cast<size_t>(n));
        note_request(s, r);
        show(std::make_shared<const SentenceResult>(std::move(s)));
        TRY_STATUS(show_head(r, false));
    }
    return success();
}

/// Replaces the sentence; keeps only what belongs to the model.
void Worker::show(std::shared_ptr<const SentenceResult> sentence) {
    const int64_t version = weights_version(*sentence->model);
    const bool same_model =
        state_.sentence && state_.sentence->model == sentence->model && answered_with_ == version;
    answered_with_ = version;
    state_.sentence = std::move(sentence);
    state_.picture = nullptr;
    state_.cell = nullptr;
    state_.answers = same_model ? state_.answers.about_model() : Answers();
}

/// The content of a trace file, whatever is typed; it cannot be run again.
Status Worker::show_recorded(const WorkRequest& r) {
    TRY(SentenceResult described,
        describe_trace(recorded_, pool_, &mailbox_.cancel(), state_.sentence.get()));
    note_request(described, r);
    described.bytes_read = r.text.size();
    described.second_read = r.second.size();
    state_.text_error.clear();
    show(std::make_shared<const SentenceResult>(std::move(described)));
    return success();
}

/// Keeps the old sentence on an error.
Status Worker::read_sentence(const WorkRequest& r) {
    if (recorded_) return show_recorded(r);
    const auto start = std::chrono::steady_clock::now();
    auto s = std::make_shared<SentenceResult>();
    s->model = model_;
    state_.text_error.clear();
    auto given = read_given(*model_, {r.text, r.second, r.chat, r.picture});
    if (!given && model_->engine) return given.error();  // what is shown stays, as where a pass fails
    if (!given) state_.text_error = given.error().message;
    if (ModelInput* input = given ? &given->input : nullptr;
        input && !input->sequences.empty() && input->sequences[0].size() > 0) {
        TRY_STATUS(show_beginnings(r, *given));
        const size_t kept = input->sequences[0].ids.size();
        std::shared_ptr<const WrittenText> written;
        int step = 0;
        if (writes(r)) {
            TRY(written, write_on(r, *given, input->sequences));
            step = r.generation.step < 0 ? written->steps() : std::min(r.generation.step, written->steps());
            for (int i = 0; i < step; ++i)
                append_token(*model_, input->sequences.back(), written->generation.tokens[i].id);
        }
        TRY(*s, run_described(r, std::move(input->sequences), written.get()));
        s->written = std::move(written);
        s->step = step;
        note_input(*s, r, *given, kept);
    } else if (model_->tokenizer && model_->config.mask_id >= 0) {
        s->mask = (*model_->tokenizer)->spelling(model_->config.mask_id);
    }
    note_request(*s, r);
    s->milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    show(std::move(s));
    return success();
}

/// Reads a new sentence. If it fails, the old one stays, with the error.
Status Worker::update_sentence(const WorkRequest& r) {
    const SentenceResult* s = state_.sentence.get();
    const bool fresh = !s || !s->complete || s->model != model_ || s->text != r.text ||
                       s->chat_asked != r.chat || s->image != r.picture || s->second != r.second ||
                       s->intervention != r.intervention || s->asked != r.generation;
    if (refused_ && refused_->reads_as(r)) return success();
    refused_.reset();
    state_.failure.clear();
    if (!fresh) return success();
    Status read = guarded([&] { return read_sentence(r); });
    if (read || read.error().cancelled) return read;
    refused_ = r;
    state_.failure = read.error().message;
    if (state_.sentence && state_.sentence->model == model_) return success();
    auto empty = std::make_shared<SentenceResult>();  // there is no older one to show
    empty->model = model_;
    note_request(*empty, r);
    state_.text_error = state_.failure;
    show(std::move(empty));
    return success();
}

}  // namespace headlight
