// The worker's other run: another text, or another model, to compare with.
#include "base/check.h"
#include "session/work/worker.h"
#include "trace/trace_file.h"

namespace headlight {

void Worker::update_other_model(const OtherRun& other) {
    if (other.model_path.empty()) {
        other_opener_.give_up();
        other_model_ = model_;
        other_opened_ = {};
        return;
    }
    if (other.model_path == other_opened_.model_path && other.model_attempt == other_opened_.model_attempt)
        return other_opener_.give_up();
    other_opener_.want(other.model_path, other.model_attempt, model_);
    state_.other_error.clear();  // of the last run
    if (!other_opener_.ended()) return;
    const auto ended = other_opener_.take();
    other_opened_ = {ended->path, ended->attempt, ""};
    other_model_ = nullptr;
    if (ended->trace)
        state_.other_error = "A trace cannot be B: open the trace, then choose the model as B.";
    else if (ended->result)
        other_model_ = *ended->result;
    else
        state_.other_error = ended->result.error().message;
}

/// The tokens of the open trace, for a live run of its model.
Result<ModelInput> Worker::recorded_input(const Model& model) const {
    ModelInput input;
    TRY(input.sequences, recorded_sequences(*recorded_));
    TRY_STATUS(check_sequences(model, input.sequences));
    return input;
}

void Worker::drop_other(std::string why) {
    state_.other = nullptr;
    state_.other_error = std::move(why);
}

Status Worker::read_other(const WorkRequest& r) {
    if (!r.other) {
        drop_other("");
        other_model_ = nullptr;
        other_opened_ = {};
        other_opener_.give_up();
        return success();
    }
    if (r.other->model_path.empty() && recorded_) {
        drop_other("A trace cannot read another sentence; compare it with a model.");
        return success();
    }
    update_other_model(*r.other);
    const bool failed = !other_model_ && !other_opener_.opening();
    const WrittenText* written = state_.sentence->written.get();
    const std::string second = r.second.empty() && written && model_->config.stacks.size() > 1
                                   ? written->text
                                   : r.second;  // B reads the target that A generated
    const bool same = state_.other && state_.other->model == other_model_ &&
                      state_.other->text == r.other->text && state_.other->chat_asked == r.other->chat &&
                      state_.other->second == second && state_.other->image == r.picture;
    if (same || (!other_model_ && !failed)) return success();
    state_.answers.drop_pairs();
    if (failed) {
        state_.other = nullptr;
        return success();
    }
    TRY(SentenceResult s, run_other(*r.other, second, r.picture));
    s.text = r.other->text;
    s.chat_asked = r.other->chat;
    s.second = second;
    s.image = r.picture;
    s.model = other_model_;
    state_.other = std::make_shared<SentenceResult>(std::move(s));
    return success();
}

/// An empty result, and why, where there is no run.
Result<SentenceResult> Worker::run_other(const OtherRun& other, const std::string& second,
                                         const std::string& picture) {
    state_.other_error.clear();
    const auto read = [&]() -> Result<ModelInput> {
        if (recorded_) return recorded_input(*other_model_);
        TRY(ChatInput given, read_given(*other_model_, {other.text, second, other.chat, picture}));
        return std::move(given.input);
    };
    auto input = read();
    if (!input) state_.other_error = input.error().message;
    if (!input || input->sequences.empty() || input->sequences[0].size() == 0) return SentenceResult();
    auto described = guarded([&]() -> Result<SentenceResult> {
        HeadObserver heads(other_model_->config, input->sequences);
        TRY(auto trace, run_trace(other_model_, {std::move(input->sequences), {}}, pool_, &mailbox_.cancel(),
                                  state_.other ? state_.other->trace.get() : nullptr, &heads));
        return describe_trace(std::move(trace), pool_, &mailbox_.cancel(), state_.other.get(), &heads);
    });
    if (described || described.error().cancelled) return described;
    state_.other_error = described.error().message;
    return SentenceResult();
}

}  // namespace headlight
