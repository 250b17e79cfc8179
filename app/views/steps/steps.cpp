#include "views/steps/steps.h"

#include <algorithm>

#include "parts/controls.h"
#include "views/steps/steps_chain.h"
#include "views/steps/steps_columns.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Says where weights come from that no scores make; the first that fits.
std::vector<std::string> without_scores(WeightsBy by) {
    if (by == WeightsBy::mixing)
        return {"Entries of a mixing matrix, made without scores and softmax.",
                "Entries of the mixing matrix.", "mixing matrix"};
    return {"Frozen to another text's pattern; no score makes these weights.",
            "Frozen to another text's pattern.", "frozen pattern"};
}

void draw_words(Scene& s, Rect line, int query) {
    Ui& ui = s.ui;
    const char* title = "query";
    caption(ui, take_left(line, ui.text.width(kCaption, title), 10), title);
    const Chip chip = token_chip(ui, token_at(s.query_labels(), query), ChipRole::query);
    draw_chip(ui, band(take_left(line, chip_width(ui, chip), gap::large), size::chip), chip);
    choose_rows(s, line);
    const StepsShow show = s.of<StepsState>().show;
    if (show != StepsShow::attention)
        return caption(
            ui, line,
            show == StepsShow::block
                ? first_that_fits(ui, kCaption,
                                  {"Every vector from the residual stream and back; click an "
                                   "entry to explain it.",
                                   "Every vector; click an entry to explain it.", ""},
                                  line.w)
                : first_that_fits(ui, kCaption,
                                  {"One column per head, one scale per row; click to select a head.",
                                   "One column per head; click one to select it.", ""},
                                  line.w));
    if (const auto* found = s.found<StepsRequest>(); found && !by_scores(found->answer.weights_by))
        return caption(ui, line,
                       first_that_fits(ui, kCaption, without_scores(found->answer.weights_by), line.w));
    const bool masked = s.sentence()->trace->rule(s.block()).mask_of(s.head()).hides_any();
    const std::string keys = masked ? "attends to the keys that its mask allows." : "attends to every key.",
                      rows = "Each row is one key; read from left to right.";
    write(
        ui, line, kCaption, ui.colors->t2,
        first_that_fits(ui, kCaption, {keys + " " + rows, rows, "One row per key, left to right."}, line.w));
}

}  // namespace

std::vector<Question> ask_steps(const Scene& s) {
    const auto [block, head] = s.session.selection.shown_head();
    const auto [query, key] = s.shown_cell().value_or(std::pair{0, 0});
    const StepsState& state = s.of<StepsState>();
    if (state.show == StepsShow::block)
        return {BlockChainRequest{block, head, query, key, state.stage, state.entry}};
    if (state.show == StepsShow::heads) return {HeadsChainRequest{block, query, key}};
    return {StepsRequest{block, head, query}};
}

void draw_steps(Scene& s, Rect area) {
    const auto cell = s.shown_cell();
    if (!cell) return;
    Rect rest = area;
    take_top(rest, gap::medium);
    draw_words(s, inset(take_top(rest, size::row, gap::close), size::center_pad, 0),
               std::min(cell->first, s.queries() - 1));
    const StepsShow show = s.of<StepsState>().show;
    if (show == StepsShow::block) return draw_chain(s, rest);
    if (show == StepsShow::heads) return draw_heads_chain(s, rest);
    if (const auto* found = s.found<StepsRequest>()) draw_step_table(s, rest, *found);
}

View steps_view() {
    return {.key = "steps",
            .name = "Arithmetic",
            .answers = ViewGroup::explain,
            .synonyms = "q·k, softmax, steps, scores",
            .draw = draw_steps,
            .missing = no_weights,
            .ask = ask_steps,
            .beside = {.inspect = draw_steps_inspector, .tells_cell = true},
            .numbers = steps_numbers,
            .visit = visit_state<StepsState>,
            .seen = seen_of<StepsState>};
}

}  // namespace headlight
