// Prints what heads do by their weights alone: circuits, scores, composition.
#include "analysis/circuits/circuits.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>

#include "analysis/circuits/circuit_factors.h"
#include "analysis/circuits/composition.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "questions/questions.h"

namespace headlight {

namespace {

using OrderedJson = nlohmann::ordered_json;

struct CircuitsOptions {
    InputOptions input;
    std::string head, output;
    int tokens = 0, pairs = 20;
    bool composition = false, json = false;
};

std::string pairs_csv(const Model& model, const HeadCircuits& found) {
    std::string out = "circuit,from_id,from,to_id,to,value";
    const auto add = [&](const char* circuit, const CircuitPairs& of) {
        for (const CircuitPair& p : of.pairs)
            out += std::string("\n") + circuit + "," + std::to_string(p.from) + "," +
                   csv_field(listed_label(model, p.from, of.from_stack)) + "," + std::to_string(p.to) + "," +
                   csv_field(listed_label(model, p.to, of.to_stack)) + "," + csv_number(p.value);
    };
    add("QK", found.qk);
    add("OV", found.ov);
    return out + "\n";
}

OrderedJson pairs_json(const Model& model, const CircuitPairs& found, const char* from, const char* to) {
    OrderedJson out = OrderedJson::object();
    if (!found.refusal.empty()) out["refusal"] = found.refusal;
    out["pairs"] = OrderedJson::array();
    for (const CircuitPair& p : found.pairs)
        out["pairs"].push_back({{std::string(from) + "_id", p.from},
                                {from, listed_label(model, p.from, found.from_stack)},
                                {std::string(to) + "_id", p.to},
                                {to, listed_label(model, p.to, found.to_stack)},
                                {"value", p.value}});
    return out;
}

/// Lists how one head composes with each other head, as reader or as writer.
OrderedJson composed_json(const ModelConfig& c, const Composition& of, int head, bool as_reader) {
    OrderedJson out = OrderedJson::array();
    for (int other = 0; other < c.head_count(); ++other) {
        OrderedJson row{{"head", head_path(c, c.head_at(other))}};
        bool any = false;
        for (int kind = 0; kind < kCompositionKinds; ++kind) {
            const float value = as_reader ? of.of[kind](head, other) : of.of[kind](other, head);
            if (std::isnan(value)) continue;
            row[kCompositionNames[kind]] = value;
            any = true;
        }
        if (any) out.push_back(std::move(row));
    }
    return out;
}

OrderedJson scores_json(const HeadCircuits& found) {  // NaN becomes null
    return {
        {"copying", found.copying}, {"previous_token", found.previous}, {"duplicate_token", found.duplicate}};
}

Status write_or_print(const CircuitsOptions& o, const std::vector<NumberTable>& tables,
                      const std::function<std::string()>& json, const std::function<std::string()>& csv) {
    if (!o.output.empty()) return write_numbers(o.output, tables);
    return o.json ? print_json(json()) : print(csv());
}

Status run_head(const CircuitsOptions& o, const Model& model, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    TRY(const AttentionHead head, parse_head(c, o.head, "--head"));
    const CircuitsRequest request{head.block, head.head, o.tokens, o.pairs};
    Progress progress(circuit_steps(model, request) + (o.json ? composition_steps(c, head) : 0),
                      o.input.quiet);
    const auto step = [&](const auto&...) { progress.step(); };
    TRY(const HeadCircuits found, head_circuits(model, request, pool, nullptr, step));
    Composition composed;
    if (o.json) {
        TRY(composed, composition(model, head, pool, nullptr, step));
    }
    const auto json = [&] {
        const int at = c.head_index(head);
        OrderedJson root{{"model", model.name}, {"head", head_path(c, head)}};
        root["tokens"] = found.tokens;
        root["reserved"] = found.reserved;
        root["scores"] = scores_json(found);
        root["qk"] = pairs_json(model, found.qk, "query", "key");
        root["ov"] = pairs_json(model, found.ov, "attended", "promoted");
        root["composition"] = {{"random", composed.random},
                               {"reads", composed_json(c, composed, at, true)},
                               {"is_read_by", composed_json(c, composed, at, false)}};
        return json_answer(root);
    };
    if (!found.qk.refusal.empty() && !found.ov.refusal.empty() && !o.json) return Error{found.qk.refusal};
    if (!o.json && !o.input.quiet)
        for (const CircuitPairs* pairs : {&found.qk, &found.ov})
            if (!pairs->refusal.empty()) std::cerr << "headlight: " << printable(pairs->refusal) << "\n";
    return write_or_print(o, circuit_numbers(found, model, head), json,
                          [&] { return pairs_csv(model, found); });
}

std::string scores_csv(const ModelConfig& c, const std::vector<HeadCircuits>& heads) {
    std::string out = "layer,head,copying,previous_token,duplicate_token\n";
    for (int i = 0; i < isize(heads); ++i) {
        const AttentionHead head = c.head_at(i);
        out += block_path(c, head.block) + "," + std::to_string(head.head) + "," +
               csv_number(heads[i].copying) + "," + csv_number(heads[i].previous) + "," +
               csv_number(heads[i].duplicate) + "\n";
    }
    return out;
}

NumberTable scores_table(const ModelConfig& c, const std::vector<HeadCircuits>& heads) {
    NumberTable out;
    out.name = "circuit scores";
    out.rows_are = "head";
    out.columns_are = "score";
    out.columns = {"copying", "previous token", "duplicate token"};
    out.values.resize(isize(heads), 3);
    for (int i = 0; i < isize(heads); ++i) {
        out.rows.push_back(head_name(c, c.head_at(i)));
        out.values.row(i) << heads[i].copying, heads[i].previous, heads[i].duplicate;
    }
    return out;
}

Status run_scores(const CircuitsOptions& o, const Model& model, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    Progress progress(c.head_count(), o.input.quiet);
    std::vector<HeadCircuits> heads;
    AverageText average(model);
    for (int i = 0; i < c.head_count(); ++i, progress.step())
        heads.push_back(circuit_scores(model, c.head_at(i), average, pool));
    const auto json = [&] {
        OrderedJson root{{"model", model.name}, {"heads", OrderedJson::array()}};
        for (int i = 0; i < c.head_count(); ++i) {
            OrderedJson row{{"head", head_path(c, c.head_at(i))}};
            row.update(scores_json(heads[i]));
            root["heads"].push_back(std::move(row));
        }
        return json_answer(root);
    };
    return write_or_print(o, {scores_table(c, heads)}, json, [&] { return scores_csv(c, heads); });
}

Status run_composition(const CircuitsOptions& o, const Model& model, ThreadPool& pool) {
    const ModelConfig& c = model.config;
    Progress progress(composition_steps(c, std::nullopt), o.input.quiet);
    TRY(const Composition all,
        composition(model, std::nullopt, pool, nullptr, [&](const Composition&) { progress.step(); }));
    const std::vector<ComposedPair> pairs = strongest_compositions(all, o.pairs);
    const auto json = [&] {
        OrderedJson root{{"model", model.name}, {"random", all.random}, {"pairs", OrderedJson::array()}};
        for (const ComposedPair& p : pairs)
            root["pairs"].push_back({{"kind", kCompositionNames[static_cast<int>(p.kind)]},
                                     {"reads", head_path(c, c.head_at(p.reader))},
                                     {"writes", head_path(c, c.head_at(p.writer))},
                                     {"value", p.value}});
        return json_answer(root);
    };
    const auto csv = [&] {
        std::string out = "kind,reads,writes,value\n";
        for (const ComposedPair& p : pairs)
            out += std::string(kCompositionNames[static_cast<int>(p.kind)]) + "," +
                   head_path(c, c.head_at(p.reader)) + "," + head_path(c, c.head_at(p.writer)) + "," +
                   csv_number(p.value) + "\n";
        return out;
    };
    return write_or_print(o, composition_numbers(all, c), json, csv);
}

Status run(const CircuitsOptions& o) {
    TRY_STATUS(check_numbers_output(o.output, "circuits"));
    ThreadPool pool(o.input.threads);
    TRY(const auto opened, open_model(o.input));
    TRY(const auto model, model_here(opened, nullptr));
    const Status done = guarded([&] {
        return o.composition    ? run_composition(o, *model, pool)
               : o.head.empty() ? run_scores(o, *model, pool)
                                : run_head(o, *model, pool);
    });
    TRY_STATUS(model->store->check_unchanged());
    return done;
}

}  // namespace

std::function<Status()> declare_circuits(CLI::App& app) {
    auto o = std::make_shared<CircuitsOptions>();
    add_model_option(app, o->input);
    add_engine_instead(app, o->input);
    auto* head =
        app.add_option("--head", o->head,
                       "one head, as 1.2 (cross.0.2, encoder.0.2): which tokens attend to which (QK) and "
                       "promote which (OV), and its scores; without it the scores of every head");
    app.add_flag("--composition", o->composition,
                 "composition: how strongly each head reads each earlier head's output, through its "
                 "queries, keys and values; the strongest pairs, or all with -o")
        ->excludes(head);
    app.add_option("--pairs", o->pairs, "number of pairs to list")
        ->check(within(1, 1000))
        ->capture_default_str();
    app.add_option("--tokens", o->tokens,
                   "with --head: search for pairs among the first N tokens of the vocabulary (the most "
                   "frequent ones in most tokenizers); 0: all")
        ->check(within(0, 10000000))
        ->needs(head)
        ->capture_default_str();
    app.add_option("-o,--output", o->output,
                   "write tables as " + endings_of(FormatKind::numbers) + " instead of to standard output");
    app.add_flag("--json", o->json, "print JSON; with --head also its composition with every other head");
    add_run_options(app, o->input);
    return [o, &app]() -> Status {
        const auto given = given_options(app);
        const bool listed = !o->head.empty() || (o->composition && o->output.empty());
        if (!listed)
            TRY_STATUS(refuse_given(given, {"pairs"}, "--head, or with --composition on standard output"));
        if (!o->output.empty())
            TRY_STATUS(refuse_given(given, {"json"}, "standard output; the ending of -o names the format"));
        return run(*o);
    };
}

}  // namespace headlight
