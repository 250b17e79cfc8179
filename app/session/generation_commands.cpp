// What the model writes, and which of its steps is shown.
#include <cstdio>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "session/commands.h"
#include "session/words.h"

namespace headlight {

const char* needs_written(const CommandContext& c) {
    return c.sentence() && c.sentence()->written ? nullptr : "Nothing is generated: press Generate first.";
}

void show_step(Session& session, const WrittenText& written, int step) {
    session.document.generation.step = step >= written.steps() ? -1 : std::max(step, 0);
    session.selection.locked.reset();
}

namespace {

const char* kGenerate = "Generate";

Status go_to_step(CommandContext& c, const std::string& words) {
    int step = 0, used = 0;
    if (std::sscanf(words.c_str(), "%d%n", &step, &used) != 1 || used != isize(words))
        return Error{"There is no step " + in_quotes(words) + "; write a number."};
    show_step(c.session, *c.sentence()->written, step);
    c.session.document.generation.playing = false;
    return success();
}

Status play(CommandContext& c, const std::string&) {
    GenerationState& g = c.session.document.generation;
    if (!g.playing && c.sentence()->step >= c.sentence()->written->steps()) g.step = 0;
    g.playing = !g.playing;
    g.step_at = -1;  // from now on
    return success();
}

/// "4,262": puts a token in the place of the one at a step; the model goes on from there, also where the
/// target was typed.
Status force(CommandContext& c, const std::string& words) {
    const auto [step, id] = pair_of(words).value_or(std::pair{-1, -1});
    const Generation& writing = c.sentence()->written->writing;
    if (step < 0 || step > isize(writing.tokens) || id < 0 || id >= c.model()->config.vocab)
        return Error{"There is no token " + in_quotes(words) + "; write STEP,ID."};
    c.session.document.generation.force(writing, step, id);
    if (c.sentence()->second.empty()) return success();
    c.host.set_text(TextName::second, "");
    c.host.leave_texts();
    return success();
}

/// Puts what a decoder wrote, up to the step, into the sentence.
Status insert_generated(CommandContext& c, const std::string&) {
    const SentenceResult& s = *c.sentence();
    const std::vector<int> ids = s.trace->request.inputs.back().ids;
    if (!c.model()->config.can.continue_text || s.written->labels.empty()) return success();
    std::string text;
    for (size_t i = s.written->given; i < ids.size(); ++i)
        text += c.model()->target_tokenizer()->bytes(ids[i]);
    if (!is_valid_utf8(text))
        return Error{"The generated text ends inside a character; go one step further or back."};
    c.host.set_text(TextName::sentence, s.text + text);
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

}  // namespace

std::vector<Command> generation_commands() {
    return {switch_row({.name = "generate",
                        .title = "Generate",
                        .group = kGenerate,
                        .help = "generate a continuation and show its steps"},
                       [](Session& s) -> bool& { return s.document.generation.bar; }),
            {.name = "decoding",
             .words = "greedy|beams|sampling",
             .title = "Decoding",
             .group = kGenerate,
             .help = "how the model chooses its tokens",
             .run = choose_decoding},
            {.name = "play",
             .title = "Play or pause the steps",
             .group = kGenerate,
             .help = "step through the generated tokens",
             .when = needs_written,
             .run = play},
            {.name = "step",
             .words = "NUMBER",
             .title = "Go to step",
             .group = kGenerate,
             .help = "show a step of the generation",
             .when = needs_written,
             .run = go_to_step},
            {.name = "force",
             .words = "STEP,ID",
             .title = "Force a token",
             .group = kGenerate,
             .help = "continue from another token at a step",
             .when = needs_written,
             .run = force},
            {.name = "unforce",
             .title = "Let the model choose again",
             .group = kGenerate,
             .help = "let the model choose all tokens again",
             .run =
                 [](CommandContext& c, const std::string&) {
                     c.session.document.generation.unforce();
                     return success();
                 }},
            {.name = "insert generated",
             .title = "Insert into text",
             .group = kGenerate,
             .help = "insert the generated text into the sentence",
             .when = needs_written,
             .run = insert_generated}};
}

}  // namespace headlight
