// Averages ablation, attribution and patching over the prompts of a template.
#pragma once

#include "analysis/corpus/prompts.h"
#include "parts/controls.h"
#include "session/work/jobs.h"

namespace headlight {

struct View;

/// Selects what is averaged, in the order of the words of "prompts of".
enum class AveragedValue { ablated, direct, left_out, patched };

struct PromptsState {
    std::string text, corrupted, answer, wrong;  // with names in braces; corrupted: of patching; wrong: or ""
    std::vector<std::string> lists;              // "A: Lily, Tom"; "B: A" takes the words of A
    AveragedValue of = AveragedValue::ablated;
    int at_most = 20;
    std::string file;                    // on pages: instead of a template
    std::optional<PromptTemplate> sent;  // to be measured; none: nothing yet
    bool measures = true;                // else cancelled
    Viewport seen;                       // of the list of results
    void visit(FieldVisitor& visitor);

    /// The words after "NAME:", or "".
    std::string words_of(const std::string& name) const;
    void fill(const std::string& name, const std::string& words);
    /// The template as typed; `missing`: names without words.
    PromptTemplate typed(std::vector<std::string>* missing = nullptr) const;
    /// Why it cannot be measured, or "".
    std::string refusal() const;
};

PromptRequest prompt_request(AveragedValue of);
/// Returns what the job found for the sent template; on a page, the answer to its question.
PromptsFound prompts_found(const Scene& scene);

void draw_prompts_form(Scene& scene, Rect area);
void draw_prompts_results(Scene& scene, Rect area);

View prompts_view();

}  // namespace headlight
