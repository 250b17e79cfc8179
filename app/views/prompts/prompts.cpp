#include "views/prompts/prompts.h"

#include <algorithm>

#include "base/quoted.h"
#include "session/commands/command_rows.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kPromptsView = "prompts";
constexpr int kMaxLists = 20, kPromptsOnPage = 50;

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> words_between_commas(const std::string& text) {
    std::vector<std::string> out;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        if (std::string word = trimmed(text.substr(at, end - at)); !word.empty())
            out.push_back(std::move(word));
        at = end + 1;
    }
    return out;
}

}  // namespace

void PromptsState::visit(FieldVisitor& v) {
    v.text("prompts_text", text);
    v.text("prompts_corrupted", corrupted);
    v.text("prompts_answer", answer);
    v.text("prompts_wrong", wrong);
    v.list("prompts_lists", lists, kMaxLists);
    v.choose("prompts_of", of,
             {"prompts of",
              "Over prompts: measure",
              "what is averaged over prompts: heads ablated, their direct effect, tokens left out, or heads "
              "patched",
              {"ablated", "direct", "left-out", "patched"}},
             {.name = "averaged"});
    v.text_option({"prompts", "a .json template or a .jsonl file of prompts, as for the verb heads"}, file);
    v.integer("prompts_at_most", at_most, 2, kMaxPrompts);
}

std::string PromptsState::words_of(const std::string& name) const {
    for (const std::string& list : lists)
        if (list.starts_with(name + ":")) return trimmed(list.substr(name.size() + 1));
    return "";
}

void PromptsState::fill(const std::string& name, const std::string& words) {
    std::erase_if(lists, [&](const std::string& list) { return list.starts_with(name + ":"); });
    if (!words.empty() && isize(lists) < kMaxLists) lists.push_back(name + ": " + words);
}

PromptTemplate PromptsState::typed(std::vector<std::string>* missing) const {
    PromptTemplate out{text,
                       of == AveragedValue::patched ? corrupted : "",
                       wrong.empty() ? answer : answer + " - " + wrong,
                       {}};
    for (const std::string& name : prompt_names(out)) {
        const std::string own = words_of(name), of_other = words_of(own);
        const auto words = words_between_commas(of_other.empty() ? own : of_other);
        if (!words.empty())
            out.fill[name] = words;
        else if (missing)
            missing->push_back(name);
    }
    return out;
}

std::string PromptsState::refusal() const {
    std::vector<std::string> missing;
    const PromptTemplate now = typed(&missing);
    if (now.text.empty()) return "Type a template, or take the example.";
    if (of == AveragedValue::patched && now.corrupted.empty())
        return "Patching needs a corrupted template, with another answer.";
    if (answer.empty()) return "Give the answer, a token or a name in braces.";
    if (!missing.empty()) return "Give {" + shortened(missing.front(), 20) + "} words, separated by commas.";
    return "";
}

PromptRequest prompt_request(AveragedValue of) {
    PromptRequest out;
    switch (of) {
        case AveragedValue::ablated:
            out.of = PromptMeasure::ablation;
            break;
        case AveragedValue::direct:
            out.of = PromptMeasure::heads;
            break;
        case AveragedValue::left_out:
            out.of = PromptMeasure::words;
            out.words.method = InfluenceMethod::leave_out;
            break;
        case AveragedValue::patched:
            out.of = PromptMeasure::patch;
            out.patch.part = PatchPart::heads;
    }
    return out;
}

namespace {

PromptsRequest sent_request(const PromptsState& state) {
    return {"", *state.sent, prompt_request(state.of), state.at_most};
}

}  // namespace

PromptsFound prompts_found(const Scene& s) {
    const PromptsState& state = s.of<PromptsState>();
    if (const auto* asked = s.found<PromptsRequest>(); asked && s.ui.on_page() && !state.file.empty())
        return asked->answer;
    const auto* job = s.answer ? s.answer->job<PromptSweep>() : nullptr;
    const bool of_this = job && state.sent && job->work().model.get() == s.model() &&
                         job->work().request == sent_request(state);
    return of_this ? job->found() : PromptsFound{};
}

namespace {

void draw_prompts(Scene& s, Rect area) {
    constexpr float kFormShare = 0.42f, kLeastForm = 340, kMaxForm = 520;
    Rect rest = inset(area, size::center_pad, gap::medium);
    if (!s.ui.on_page())
        draw_prompts_form(
            s, take_left(rest, std::clamp(rest.w * kFormShare, kLeastForm, kMaxForm), gap::section));
    draw_prompts_results(s, rest);
}

std::vector<JobRequest> prompt_jobs(const Scene& s, bool shown) {
    const PromptsState& state = s.of<PromptsState>();
    if (!state.sent) return {};
    return {PromptSweep::Request{sent_request(state), shown, !state.measures}};
}

std::vector<Question> ask_prompts(const Scene& s) {
    const PromptsState& state = s.of<PromptsState>();
    if (!s.ui.on_page() || state.file.empty()) return {};
    return {PromptsRequest{state.file, {}, prompt_request(state.of), kPromptsOnPage}};
}

std::vector<NumberTable> prompt_numbers(const Scene& s) {
    const auto found = prompts_found(s).averages;
    if (!found || found->measured.empty()) return {};
    return {average_numbers(*found, s.model()->config, true)};
}

std::string nothing_averaged(const Scene& s) {
    const PromptsFound found = prompts_found(s);
    if (found.averages && !found.averages->measured.empty()) return "";
    return found.refusal.empty() ? "No prompts are measured yet; press Measure, or give --prompts FILE."
                                 : found.refusal;
}

const char* predicts_nothing(const Model& m) {
    return m.has_logits() ? no_weights(m) : "This model predicts no tokens to explain.";
}

template <std::string PromptsState::*Field>
Command text_row(const CommandText& text) {
    return opens_view(kPromptsView, row(text, [](CommandContext& c, const std::string& words) {
                          c.session.of<PromptsState>().*Field = words;
                          return success();
                      }));
}

Status fill_list(CommandContext& c, const std::string& words) {
    const size_t colon = words.find(':');
    if (colon == std::string::npos || colon == 0)
        return Error{"Give the name and its words: prompts fill A: Lily, Tom."};
    c.session.of<PromptsState>().fill(trimmed(words.substr(0, colon)), trimmed(words.substr(colon + 1)));
    return success();
}

/// A template that the built-in model, or one that reads longer sentences, can answer.
void take_example(CommandContext& c) {
    PromptsState& state = c.session.of<PromptsState>();
    if (c.model() && c.model()->name == "stories") {
        state.text = "{A} had a {X} ball. {B} had a {Y} ball. {A} gave {B} the {X}";
        state.corrupted = "{A} had a {X} hat. {B} had a {Y} hat. {A} gave {B} the {X}";
        state.answer = "ball";
        state.wrong = "hat";
        state.lists = {"A: Lily, Tom, Sue, Ben", "B: A", "X: red, blue, green", "Y: X"};
        return;
    }
    state.text = "When {A} and {B} went to the {place}, {B} gave a drink to";
    state.corrupted = "When {A} and {B} went to the {place}, {A} gave a drink to";
    state.answer = "{A}";
    state.wrong = "{B}";
    state.lists = {"A: Mary, John, Tom, Anna, James, Sarah", "B: A", "place: store, park, school"};
}

Status measure_prompts(CommandContext& c, const std::string&) {
    PromptsState& state = c.session.of<PromptsState>();
    if (const std::string why = state.refusal(); !why.empty()) return Error{why};
    state.sent = state.typed();
    state.measures = true;
    return success();
}

std::vector<Command> prompt_commands() {
    return {
        text_row<&PromptsState::text>({"prompts text TEMPLATE", "Over prompts: template",
                                       "a sentence with names in braces: {A} gave {B} the"}),
        text_row<&PromptsState::corrupted>({"prompts corrupted TEMPLATE", "Over prompts: corrupted template",
                                            "the sentence with another answer, to patch between"}),
        text_row<&PromptsState::answer>(
            {"prompts answer TOKEN", "Over prompts: answer", "the next token, or a name in braces: {A}"}),
        text_row<&PromptsState::wrong>({"prompts wrong [TOKEN]", "Over prompts: wrong answer",
                                        "what the answer's logit is compared with, or nothing"}),
        opens_view(kPromptsView, row({"prompts fill NAME: WORDS", "Over prompts: words of a name",
                                      "the words that a name stands for: prompts fill A: Lily, Tom"},
                                     fill_list)),
        opens_view(kPromptsView, row({"prompts example", "Over prompts: example",
                                      "fill the form with a template that this model can answer"},
                                     take_example)),
        opens_view(kPromptsView, number_row({"prompts count", "Over prompts: number of prompts",
                                             "how many prompts to draw: prompts count 50"},
                                            2, kMaxPrompts, of_state(&PromptsState::at_most))),
        opens_view(kPromptsView, row({"prompts measure", "Over prompts: measure",
                                      "measure the typed template, with progress"},
                                     CommandRun(measure_prompts))),
        row({"prompts cancel", "Over prompts: cancel", "stop measuring and keep the means so far"},
            [](CommandContext& c) { c.session.of<PromptsState>().measures = false; })};
}

}  // namespace

View prompts_view() {
    return {.key = kPromptsView,
            .name = "Over prompts",
            .answers = ViewGroup::explain,
            .synonyms = "template, average, mean, confidence interval, indirect object",
            .draw = draw_prompts,
            .offered = reads_text,
            .missing = predicts_nothing,
            .shows = View::Shows::model,
            .ask = ask_prompts,
            .page_w = 1000,
            .page_h = 900,
            .panels = View::Panels::none,
            .least_high = 200,
            .jobs = prompt_jobs,
            .of_model = true,
            .numbers = prompt_numbers,
            .silent = nothing_averaged,
            .visit = visit_state<PromptsState>,
            .seen = seen_of<PromptsState>,
            .commands = prompt_commands};
}

}  // namespace headlight
