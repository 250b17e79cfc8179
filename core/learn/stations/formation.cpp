// Computes the station "Watch heads form".
#include "learn/stations/formation.h"

#include <algorithm>
#include <limits>

#include "analysis/attention/head_summary.h"
#include "analysis/prediction/predict.h"
#include "learn/page_parts.h"
#include "model/heads.h"
#include "model/input.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

namespace {

using Measured = FormationRun::Measured;

struct Watched {
    const FormationRun& run;
    int place = 0;  // index of the shown step
    AttentionHead head;
    std::vector<std::shared_ptr<const Trace>> traces;
    std::vector<PerHead<HeadSummary>> summaries;
    size_t left_out = 0;  // tokens beyond the model's limits

    int step() const { return run.steps[place]; }
    const Trace& shown() const { return *traces[place]; }
    const ModelConfig& config() const { return run.models.back()->config; }
};

AttentionHead chosen_head(const FormationRun& run, const FormationState& state) {
    if (state.head == 0) return run.strongest(&Measured::induction);
    if (state.head == 1) return run.strongest(&Measured::previous);
    return run.models.back()->config.head_at(state.head - 2);
}

/// Encodes the sentence once, or twice with a space before each, so that both have the same tokens.
Result<Sequence> sentence(const Model& model, const std::string& text, bool twice, size_t& left_out) {
    TextInput typed;
    typed.text = twice ? " " + text : text;
    TRY(ModelInput input, encode_input(model, typed));
    Sequence out = std::move(input.sequences.front());
    if (twice) {
        const int kept = std::min(out.size(), model.config.context / 2);
        out.ids.resize(kept);
        out.tokens.resize(kept);
        out.types.clear();
        for (int i = 0; i < kept; ++i) {
            out.ids.push_back(out.ids[i]);
            out.tokens.push_back(out.tokens[i]);
        }
        left_out = input.tokens_in_all - kept;
    } else {
        left_out = input.tokens_in_all - out.ids.size();
    }
    return out;
}

Result<Watched> watch(const FormationRun& run, const StationInput& input, const FormationState& state,
                      ThreadPool& pool) {
    Watched out{run, std::min(state.step, isize(run.steps) - 1), chosen_head(run, state), {}, {}};
    TRY(const Sequence read, sentence(*run.models.front(), input.text, state.twice, out.left_out));
    for (const auto& model : run.models) {
        HeadObserver heads(model->config, {&read, 1}, 1);
        TRY(auto trace, run_trace(model, {{read}, {}}, pool, input.cancel, nullptr, &heads));
        out.summaries.push_back(std::move(heads).finish(*trace, pool, input.cancel));
        out.traces.push_back(std::move(trace));
    }
    return out;
}

/// Collects one number of every measurement, by step.
template <class Of>
Curves::Line over_run(std::string name, const FormationRun& run, const Of& of) {
    std::vector<float> x, y;
    for (const Measured& at : run.curve) {
        x.push_back(float(at.step));
        y.push_back(of(at));
    }
    return line_of(std::move(name), std::move(x), std::move(y));
}

/// Plots curves by step, marking the shown step and the one at which induction appears.
Curves by_step(const Watched& watched, std::string title, std::string y_is, std::vector<Curves::Line> lines) {
    Curves out;
    out.title = std::move(title);
    out.x_is = "step";
    out.y_is = std::move(y_is);
    out.lines = std::move(lines);
    const auto at = float(watched.step());
    float high = 1;
    for (const Curves::Line& line : out.lines)
        for (const float y : line.y) high = std::max(high, y);
    out.lines.push_back(line_of("the step shown: " + with_commas(watched.step()), {at, at}, {0, high}, true));
    out.mark_x = float(watched.run.appearance());
    out.mark_name = "induction appears";
    return out;
}

Curves losses(const Watched& watched) {
    const FormationRun& run = watched.run;
    return by_step(watched, "Loss", "nats per token",
                   {over_run("held-out stories", run, [](const Measured& at) { return at.loss; }),
                    over_run("48 random tokens", run, [](const Measured& at) { return at.once; }),
                    over_run("the same said again", run, [](const Measured& at) { return at.again; })});
}

Curves scores(const Watched& watched) {
    const FormationRun& run = watched.run;
    std::vector<Curves::Line> lines;
    const auto add = [&](const char* name, std::vector<float> Measured::*score, AttentionHead head) {
        const std::string full = std::string(name) + ", head " + head_name(watched.config(), head);
        const int index = watched.config().head_index(head);
        if (std::none_of(lines.begin(), lines.end(), [&](const auto& line) { return line.name == full; }))
            lines.push_back(over_run(full, run, [&](const Measured& at) { return (at.*score)[index]; }));
    };
    add("previous token", &Measured::previous, run.strongest(&Measured::previous));
    add("induction", &Measured::induction, run.strongest(&Measured::induction));
    add("previous token", &Measured::previous, watched.head);
    add("induction", &Measured::induction, watched.head);
    return by_step(watched, "Scores of heads", "score", std::move(lines));
}

/// Lists the scores of the selected head on the user's sentence, by step.
Table on_sentence(const Watched& watched) {
    Table out{.title = "Head " + head_name(watched.config(), watched.head) + " on the sentence",
              .columns = {"step", "previous token", "induction"}};
    const auto statistics = head_statistics();
    const auto cell = [&](int place, const char* key) {
        const auto at = find_statistic(key) - statistics.data();
        return number_cell(double(watched.summaries[place][watched.head].statistics[at]));
    };
    for (int i = 0; i < isize(watched.run.steps); ++i)
        add_cells(out, {count_cell(watched.run.steps[i]), cell(i, "previous"), cell(i, "induction")});
    return out;
}

Grid pattern(const Watched& watched) {
    const Trace& trace = watched.shown();
    const auto labels = token_labels(trace, 0);
    Grid out{.title = "Head " + head_name(watched.config(), watched.head) + " at step " +
                      with_commas(watched.step()),
             .rows_are = "query",
             .columns_are = "key",
             .rows = labels,
             .columns = labels,
             .values = masked_pattern(trace, watched.head.block, watched.head.head),
             .marked_row = isize(labels) - 1};
    out.values = (out.values.array() < 0).select(std::numeric_limits<float>::quiet_NaN(), out.values);
    return out;
}

}  // namespace

Result<Page> formation_page(const StationInput& input, const FormationState& state, ThreadPool& pool) {
    TRY(const auto run, formation_run());
    StationInput here = input;
    if (here.text.empty()) here.text = station_text("formation").sample;
    TRY(const Watched watched, watch(*run, here, state, pool));
    Page page;
    page.blocks = {scores(watched), pattern(watched), losses(watched), on_sentence(watched)};
    if (watched.left_out)
        page.blocks.insert(
            page.blocks.begin(),
            Words{"The small model reads " + std::to_string(watched.shown().output().size()) +
                  " tokens; the sentence's last " + std::to_string(watched.left_out) + " are left out."});
    page.note = "step " + with_commas(watched.step()) + " of " + with_commas(run->steps.back()) + "; head " +
                head_name(watched.config(), watched.head) + "; all heads trained from scratch";
    return page;
}

}  // namespace headlight::learn
