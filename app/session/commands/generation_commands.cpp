// Commands of generation: how tokens are chosen, and which step is shown.
#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "session/commands/commands.h"
#include "session/conversation.h"

namespace headlight {

const char* needs_written(const CommandContext& c) {
    return c.sentence() && c.sentence()->written ? nullptr : "Nothing is generated: press Generate first.";
}

void show_step(Session& session, const WrittenText& written, int step) {
    session.document.generation.step = step >= written.steps() ? -1 : std::max(step, 0);
    session.selection.unlock();
}

namespace {

Status go_to_step(CommandContext& c, const std::string& words) {
    const auto step = whole_of(words);
    if (!step) return Error{"There is no step " + in_quotes(words) + "; write a number."};
    const WrittenText& written = *c.sentence()->written;
    GenerationState& g = c.session.document.generation;
    const bool onward =
        words[0] == '+';  // relative to the requested step: its answer may still be on the way
    show_step(c.session, written, onward ? (g.step < 0 ? written.steps() : g.step) + *step : *step);
    g.playing = g.playing && onward;
    return success();
}

void play(CommandContext& c) {
    GenerationState& g = c.session.document.generation;
    if (!g.playing && c.sentence()->step >= c.sentence()->written->steps()) g.step = 0;
    g.playing = !g.playing;
}

/// "4,262": forces a token at a step; the model continues from there, also in a typed target.
Status force(CommandContext& c, const std::string& words) {
    const auto [step, id] = pair_of(words).value_or(std::pair{-1, -1});
    const Generation& generation = c.sentence()->written->generation;
    if (step < 0 || step > isize(generation.tokens) || id < 0 || id >= c.model()->config.vocab)
        return Error{"There is no token " + in_quotes(words) + "; write STEP,ID."};
    c.session.document.generation.force(generation, step, id);
    if (c.sentence()->second.empty()) return success();
    c.host.set_text(TextName::second, "");
    c.host.leave_texts();
    return success();
}

/// Inserts the generated text, up to the step, into the sentence.
Status insert_generated(CommandContext& c, const std::string&) {
    const SentenceResult& s = *c.sentence();
    const std::vector<int> ids = s.trace->request.inputs.back().ids;
    if (!c.model()->config.can.continue_text || s.written->labels.empty()) return success();
    if (s.chat) {
        keep_answer(c.session.document, s);
        return success();
    }
    std::string text;
    for (size_t i = s.written->given; i < ids.size(); ++i)
        text += c.model()->target_tokenizer()->bytes(ids[i]);
    if (!is_valid_utf8(text))
        return Error{"The generated text ends within a character; go one step forward or back."};
    c.host.set_text(TextName::sentence, s.text + text);
    return success();
}

/// Position in the sentence of the mask that was predicted; npos: none.
size_t place_of_mask(const SentenceResult& s, const std::string& text, int position) {
    size_t at = std::string::npos;
    for (const PredictedTokens& p : s.predictions) {
        at = text.find(s.mask, at == std::string::npos ? 0 : at + 1);
        if (p.position == position) break;
    }
    return s.mask.empty() ? std::string::npos : at;
}

/// Lets the model answer, beginning with a token.
Status begin_answer(CommandContext& c, int id) {
    Document& d = c.session.document;
    if (!d.text.empty()) return Error{"Send the message first; then choose how the answer begins."};
    d.generation.bar = true;
    d.generation.forced = {id};
    d.generation.forced_for = text_read(d);
    return success();
}

/// "16,262": appends a token predicted at a position to the generated text or the sentence, or fills the mask
/// that it was predicted for.
Status accept_prediction(CommandContext& c, const std::string& words) {
    const SentenceResult& s = *c.sentence();
    const auto [position, id] = pair_of(words).value_or(std::pair{-1, -1});
    if (position < 0 || id < 0 || id >= c.model()->config.vocab || !c.model()->target_tokenizer())
        return Error{"There is no prediction " + in_quotes(words) + "; write POSITION,ID."};
    if (s.written) return force(c, std::to_string(s.step) + "," + std::to_string(id));
    if (s.chat) return begin_answer(c, id);
    std::string bytes = c.model()->target_tokenizer()->bytes(id);
    if (!is_valid_utf8(bytes))
        return Error{"This token is only part of a character, so it cannot be inserted alone."};
    const TextName which = c.model()->config.stacks.size() > 1 ? TextName::second : TextName::sentence;
    std::string text = c.host.text(which);
    const bool masked = c.model()->config.can.fill_masks;
    const size_t at = masked ? place_of_mask(s, text, position) : text.size();
    if (at == std::string::npos) return success();
    if (masked || text.empty()) bytes.erase(0, bytes.find_first_not_of(' '));
    c.host.set_text(which, text.replace(at, masked ? s.mask.size() : 0, bytes));
    return success();
}

enum class Method { greedy, beams, sampling };

Status choose_decoding(CommandContext& c, const std::string& words) {
    SamplingParams& d = c.session.document.generation.decoding;
    const Method now = d.temperature > 0 ? Method::sampling
                       : d.beams > 1     ? Method::beams
                                         : Method::greedy,
                 next = words == "sampling" ? Method::sampling
                        : words == "beams"  ? Method::beams
                                            : Method::greedy;
    if (next == now) return success();
    d.temperature = next == Method::sampling ? 0.8f : 0;
    d.beams = next == Method::beams ? 4 : 1;
    return success();
}

template <class T>
Command decoding_row(const CommandText& text, double low, double high, T SamplingParams::*field) {
    return number_row(text, low, high,
                      [field](Session& s) -> T& { return s.document.generation.decoding.*field; });
}

/// Rows for how tokens are chosen.
std::vector<Command> decoding_commands() {
    return {row({"decoding greedy|beams|sampling", "Decoding", "how the model chooses its tokens"},
                choose_decoding),
            decoding_row({"sampling temperature", "Sampling temperature",
                          "divide the logits before sampling; 0 chooses the most probable token"},
                         0, 10, &SamplingParams::temperature),
            decoding_row({"top k", "Top k", "sample among the k most probable tokens; 0: all"}, 0, 1 << 20,
                         &SamplingParams::top_k),
            decoding_row({"top p", "Top p", "sample among the most probable tokens that sum to p"}, 0, 1,
                         &SamplingParams::top_p),
            decoding_row({"seed", "Seed", "random seed for sampling"}, 0, 1 << 30, &SamplingParams::seed),
            decoding_row({"beams", "Beams", "how many hypotheses beam search keeps"}, 1, kMaxBeams,
                         &SamplingParams::beams),
            decoding_row({"length penalty", "Length penalty", "how beam search weighs long hypotheses"}, -10,
                         10, &SamplingParams::length_penalty),
            number_row({"length", "Tokens to generate", "maximum number of tokens to generate"}, 1,
                       kMaxWritten, [](Session& s) -> int& { return s.document.generation.length; })};
}

/// Rows for the generated text, step by step.
std::vector<Command> step_commands() {
    return {
        row({"play", "Play or pause the steps", "step through the generated tokens"}, play, needs_written),
        row({"step NUMBER", "Go to step", "show a step of the generation: step 3, step +1"}, go_to_step,
            needs_written),
        row({"force STEP,ID", "Force a token", "continue from another token at a step"}, force,
            needs_written),
        row({"accept prediction POSITION,ID", "Accept a predicted token",
             "insert a predicted token into the text"},
            accept_prediction, needs_model_to_run),
        row({"unforce", "Let the model choose again", "let the model choose all tokens again"},
            [](CommandContext& c) { c.session.document.generation.unforce(); }),
        row({"insert generated", "Insert into text", "insert the generated text into the sentence"},
            insert_generated, needs_written)};
}

}  // namespace

std::vector<Command> generation_commands() {
    const std::vector<Command> bar{
        switch_row({"generate", "Generate", "generate a continuation and show its steps"},
                   [](Session& s) -> bool& { return s.document.generation.bar; })};
    return in_group("Generate", joined({bar, decoding_commands(), step_commands()}));
}

}  // namespace headlight
