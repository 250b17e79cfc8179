// Measures each prompt by what measures one: effects, paths, influence, patching.
#include "analysis/corpus/prompt_averages.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analysis/corpus/corpus_file.h"
#include "analysis/patching/effects.h"
#include "analysis/patching/explanation.h"
#include "base/quoted.h"
#include "io/mapped_file.h"
#include "io/text_file.h"
#include "trace/trace.h"

namespace headlight {

namespace {

/// Returns the message of a failure that is about one prompt.
template <class T>
std::string refusal_of(const Result<T>& result) {
    return result ? "" : result.error().message;
}

class PromptMeter {
public:
    PromptMeter(const std::shared_ptr<const Model>& model, const ReadPrompt& read, ThreadPool& pool,
                const CancelFlag* cancel)
        : model_(model), config_(model->config), read_(read), pool_(pool), cancel_(cancel) {}

    /// Adds the prompt's values to `out`, and its cells if these are the first.
    Status measure(const FilledPrompt& prompt, PromptAverages& out) {
        MeasuredPrompt found{prompt, "", 0, {}, {}};
        std::vector<PromptCell> cells;
        switch (out.asked.of) {
            case PromptMeasure::ablation:
            case PromptMeasure::heads:
                TRY_STATUS(measure_heads(out.asked.of, found, cells));
                break;
            case PromptMeasure::words:
                TRY_STATUS(measure_words(out.asked.words, found, cells));
                break;
            case PromptMeasure::patch:
                TRY_STATUS(measure_patch(out.asked.patch, found, cells));
        }
        if (out.cells.empty()) out.cells = cells;
        if (cells != out.cells) return Error{"Its parts differ from those of the first prompt."};
        out.measured.push_back(std::move(found));
        return success();
    }

    /// Counts the parts of each stack's text; patching and scores of tokens need no run for it.
    Result<std::vector<int>> shape(const FilledPrompt& prompt, const PromptRequest& request) {
        std::vector<int> out;
        TRY(ForwardRequest input, read_(prompt.text));
        const bool by_token = request.of == PromptMeasure::patch || request.words.part == TextPart::token;
        if (by_token) {
            for (const Sequence& s : input.inputs) out.push_back(s.size());
            return out;
        }
        TRY(const auto trace, run_trace(model_, std::move(input), pool_, cancel_));
        for (int s = 0; s < isize(config_.stacks); ++s)
            out.push_back(isize(text_parts(*trace, s, request.words.part)));
        return out;
    }

private:
    struct PromptRuns {
        std::shared_ptr<const Trace> trace, own;  // own: without interventions, or null
        Metric metric;
    };

    Result<PromptRuns> run(const std::string& text, MeasuredPrompt& found) {
        PromptRuns out;
        TRY(ForwardRequest input, read_(text));
        TRY(out.trace, run_trace(model_, std::move(input), pool_, cancel_));
        if (out.trace->request.intervention != Intervention{}) {
            TRY(out.own, run_trace(model_, {out.trace->request.inputs, {}}, pool_, cancel_));
        }
        TRY(out.metric, parse_metric(*model_, found.prompt.metric, out.trace.get()));
        return out;
    }

    Status measure_heads(PromptMeasure of, MeasuredPrompt& found, std::vector<PromptCell>& cells) {
        TRY(PromptRuns runs, run(found.prompt.text, found));
        const Trace& unchanged = runs.own ? *runs.own : *runs.trace;
        const bool paths = of == PromptMeasure::heads;
        TRY(runs.metric, resolved(paths ? in_logits(runs.metric) : runs.metric, unchanged, pool_));
        if (paths) TRY_STATUS(measure_direct(*runs.trace, runs.metric, found));
        TRY(const HeadEffects effects,
            head_effects(*runs.trace, runs.own.get(), runs.metric, pool_, cancel_));
        for (int i = 0; i < config_.head_count(); ++i) {
            found.values.push_back(paths ? -effects.change[size_t(i)] : effects.change[size_t(i)]);
            cells.push_back({.block = config_.head_at(i).block, .head = config_.head_at(i).head});
        }
        found.metric = metric_name(*model_, runs.metric);
        found.value = evaluate(runs.metric, *runs.trace, unchanged, pool_).value;
        return success();
    }

    Status measure_direct(const Trace& trace, const Metric& metric, MeasuredPrompt& found) {
        PathCuts cuts(trace, metric, pool_, cancel_);
        std::vector<AttentionHead> heads;
        for (int i = 0; i < config_.head_count(); ++i) heads.push_back(config_.head_at(i));
        TRY(found.values, cuts.direct_effects(heads));
        return success();
    }

    Status measure_words(const InfluenceRequest& how, MeasuredPrompt& found, std::vector<PromptCell>& cells) {
        InfluenceRequest request = how;
        const bool pair = how.method == InfluenceMethod::attribution_patching;
        TRY(const PromptRuns runs, run(pair ? found.prompt.corrupted : found.prompt.text, found));
        std::shared_ptr<const Trace> clean;
        if (pair) {
            TRY(ForwardRequest input, read_(found.prompt.text));
            TRY(clean, run_trace(model_, std::move(input), pool_, cancel_));
        }
        request.metric = runs.metric;
        TRY(const Influence scores,
            influence({*runs.trace, runs.own.get(), clean.get()}, request, pool_, cancel_));
        for (const ScoredPart& part : scored_parts(*runs.trace, scores.tokens, how.part)) {
            cells.push_back({.stack = part.stack, .position = part.tokens.first});
            found.values.push_back(part.score);
            found.labels.push_back(part.label);
        }
        number_parts(how.part, cells);
        found.metric = metric_name(*model_, scores.metric);
        found.value = pair ? scores.baseline_value : scores.value;
        return success();
    }

    /// Words are the same cell in every prompt by their number, whatever their tokens.
    static void number_parts(TextPart part, std::vector<PromptCell>& cells) {
        if (part == TextPart::token) return;
        std::map<int, int> next;
        for (PromptCell& cell : cells) cell.position = next[cell.stack]++;
    }

    Status measure_patch(const PatchRequest& what, MeasuredPrompt& found, std::vector<PromptCell>& cells) {
        if (found.prompt.corrupted.empty())
            return Error{"It has no corrupted text; give each pair one under \"corrupted\"."};
        TRY(const PromptRuns clean, run(found.prompt.text, found));
        TRY(ForwardRequest input, read_(found.prompt.corrupted));
        TRY(const auto corrupted, run_trace(model_, std::move(input), pool_, cancel_, clean.trace.get()));
        PatchRequest request = what;
        request.metric = clean.metric;
        TRY(const PatchMap map, patch_map(*clean.trace, *corrupted, request, pool_, cancel_));
        const auto labels = config_.stacks.size() == 1 && !map.by_head() ? token_labels(*clean.trace, 0)
                                                                         : std::vector<std::string>();
        for (int row = 0; row < isize(map.blocks); ++row)
            for (int column = 0; column < map.columns(*corrupted, row); ++column) {
                PromptCell cell{.block = map.blocks[size_t(row)]};
                if (!map.heads.empty()) cell.head = map.heads[size_t(row)];
                (map.by_head() ? cell.head : cell.position) = column;
                cells.push_back(cell);
                found.values.push_back(map.values(row, column));
                if (!labels.empty()) found.labels.push_back(labels[size_t(column)]);
            }
        found.metric = metric_name(*model_, map.asked.metric);
        found.value = map.clean.value;
        return success();
    }

    const std::shared_ptr<const Model>& model_;
    const ModelConfig& config_;
    const ReadPrompt& read_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
};

bool by_place(const PromptRequest& request) {
    const bool by_head = request.of == PromptMeasure::ablation || request.of == PromptMeasure::heads ||
                         (request.of == PromptMeasure::patch && patch_part(request.patch.part).by_head);
    return !by_head;
}

std::string shape_text(const std::vector<int>& shape, const PromptRequest& request) {
    const bool tokens = request.of == PromptMeasure::patch || request.words.part == TextPart::token;
    constexpr const char* kParts[] = {"tokens", "words", "sentences", "paragraphs"};
    std::string out;
    for (const int n : shape) out += (out.empty() ? "" : " and ") + std::to_string(n);
    return out + " " + (tokens ? "tokens" : kParts[size_t(request.words.part)]);
}

/// Leaves out prompts whose parts do not correspond to those of most.
Result<std::vector<FilledPrompt>> alike(PromptMeter& meter, const std::vector<FilledPrompt>& prompts,
                                        PromptAverages& out) {
    std::vector<std::pair<FilledPrompt, std::vector<int>>> read;
    std::map<std::vector<int>, int> counts;
    for (const FilledPrompt& prompt : prompts) {
        auto shape = meter.shape(prompt, out.asked);
        if (!shape && shape.error().cancelled) return shape.error();
        if (!shape) {
            out.left.push_back({prompt, refusal_of(shape)});
            continue;
        }
        ++counts[*shape];
        read.emplace_back(prompt, *shape);
    }
    std::vector<int> common;
    for (const auto& [prompt, shape] : read)
        if (common.empty() || counts[shape] > counts[common]) common = shape;
    std::vector<FilledPrompt> kept;
    for (auto& [prompt, shape] : read)
        if (shape == common)
            kept.push_back(std::move(prompt));
        else
            out.left.push_back({prompt, "It has " + shape_text(shape, out.asked) + ", and most have " +
                                            shape_text(common, out.asked) +
                                            "; choose words of the same number of tokens."});
    return kept;
}

std::vector<std::string> quantities_of(PromptMeasure of) {
    switch (of) {
        case PromptMeasure::heads:
            return {"direct", "ablated"};
        case PromptMeasure::words:
            return {"score"};
        case PromptMeasure::patch:
            return {"restored"};
        default:
            return {"effect"};
    }
}

}  // namespace

std::vector<double> PromptAverages::values(int quantity, int cell) const {
    std::vector<double> out;
    for (const MeasuredPrompt& one : measured) {
        const float value = one.values[size_t(quantity) * cells.size() + size_t(cell)];
        if (!std::isnan(value)) out.push_back(value);
    }
    return out;
}

MeanInterval PromptAverages::value() const {
    std::vector<double> all;
    for (const MeasuredPrompt& one : measured) all.push_back(one.value);
    return mean_interval(all);
}

std::string PromptAverages::token(int cell) const {
    std::set<std::string> labels;
    for (const MeasuredPrompt& one : measured)
        if (size_t(cell) < one.labels.size()) labels.insert(one.labels[size_t(cell)]);
    if (labels.size() <= 1) return labels.empty() ? "" : *labels.begin();
    for (const auto& [name, word] : measured.front().prompt.values) {
        const auto fills = [&, &name = name](const MeasuredPrompt& one) {
            const auto value = one.prompt.values.find(name);
            return value != one.prompt.values.end() && value->second == one.labels[size_t(cell)];
        };
        if (std::all_of(measured.begin(), measured.end(), fills)) return "{" + name + "}";
    }
    return *labels.begin() + ", " + *std::next(labels.begin()) + (labels.size() > 2 ? ", …" : "");
}

Result<PromptAverages> average_prompts(const std::shared_ptr<const Model>& model,
                                       const std::vector<FilledPrompt>& prompts, const PromptRequest& request,
                                       const ReadPrompt& read, ThreadPool& pool, const CancelFlag* cancel,
                                       const std::function<void(const PromptAverages&)>& seen) {
    PromptAverages out{request, quantities_of(request.of), {}, {}, {}, isize(prompts)};
    PromptMeter meter(model, read, pool, cancel);
    std::vector<FilledPrompt> kept = prompts;
    if (by_place(request)) {
        TRY(kept, alike(meter, prompts, out));
    }
    for (const FilledPrompt& prompt : kept) {
        if (stopped(cancel)) return cancelled();
        const Status done = meter.measure(prompt, out);
        if (!done && done.error().cancelled) return done.error();
        if (!done) out.left.push_back({prompt, done.error().message});
        if (seen) seen(out);
    }
    if (out.measured.empty())
        return Error{"None of " + std::to_string(out.count) + " prompts can be measured; " +
                     in_quotes(out.left.front().prompt.text) + ": " + out.left.front().why};
    return out;
}

namespace {

Result<PromptSet> prompts_of(const PromptsRequest& request) {
    if (request.file.empty()) {
        PromptSet set = draw_prompts(request.from, request.at_most, 0);
        if (!set.prompts.empty()) return set;
        return Error{"The lists fill no prompt, because names need different words; add words."};
    }
    TRY(const auto mapped, MappedFile::open(request.file));
    const std::string name = display_path(request.file);
    TRY(const std::string_view text, text_of_file(mapped->text(), name));
    return read_prompts(text, name, {"", request.at_most, 0});
}

}  // namespace

Result<PromptsFound> find_averages(const std::shared_ptr<const Model>& model, const PromptsRequest& request,
                                   ThreadPool& pool, const CancelFlag* cancel,
                                   const std::function<void(const PromptsFound&)>& seen) {
    TRY(const PromptSet set, prompts_of(request));
    PromptsFound out{nullptr, set.metric, set.available, ""};
    const auto tell = [&](const PromptAverages& now) {
        if (!seen) return;
        PromptsFound found = out;
        found.averages = std::make_shared<const PromptAverages>(now);
        seen(found);
    };
    TRY(PromptAverages averages,
        average_prompts(model, set.prompts, request.measure, read_plainly(*model), pool, cancel, tell));
    out.averages = std::make_shared<const PromptAverages>(std::move(averages));
    return out;
}

Result<PromptsFound> answer_prompts(const Trace& trace, const PromptsRequest& request, ThreadPool& pool,
                                    const CancelFlag* cancel) {
    return find_averages(trace.model, request, pool, cancel);
}

std::string left_out_text(const PromptAverages& averages) {
    if (averages.left.empty()) return "";
    const LeftOutPrompt& first = averages.left.front();
    return std::to_string(averages.left.size()) + " of " + std::to_string(averages.count) +
           " prompts left out; " + in_quotes(first.prompt.text) + ": " + first.why;
}

}  // namespace headlight
