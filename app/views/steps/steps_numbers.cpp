// Exports the steps of one query: a row for each key, and one for the sink.
#include <limits>

#include "views/steps/steps_chain.h"
#include "views/steps/steps_columns.h"
#include "views/tables.h"

namespace headlight {

namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

/// Gathers columns; the last row is the sink's, if there is one.
struct StepsTable {
    const Steps& steps;
    std::vector<std::string> names = {};
    std::vector<std::vector<float>> columns = {};

    void add(const char* name, bool there, float (*value)(const KeyStep&), float of_sink = kNothing) {
        if (!there) return;
        names.emplace_back(name);
        columns.emplace_back();
        for (const KeyStep& k : steps.keys) columns.back().push_back(value(k));
        if (steps.sink) columns.back().push_back(of_sink);
    }
};

void add_score_columns(StepsTable& t, const AttentionRule& rule) {
    const Steps& steps = t.steps;
    const bool scored = by_scores(steps.weights_by), tempered = is_tempered(steps);
    t.add("q·k", steps.weights_by != WeightsBy::mixing, [](const KeyStep& k) { return k.dot; });
    t.add("scaled", rule.scale != 1, [](const KeyStep& k) { return k.scaled; });
    t.add("capped", rule.cap > 0, [](const KeyStep& k) { return k.capped; });
    t.add("position bias", rule.has_bias() && !rule.disentangled, [](const KeyStep& k) { return k.bias; });
    t.add("q·Kr", rule.disentangled.keys.rows() > 0, [](const KeyStep& k) { return k.to_position; });
    t.add("k·Qr", rule.disentangled.queries.rows() > 0, [](const KeyStep& k) { return k.from_position; });
    t.add("edited", has_edited(steps), [](const KeyStep& k) { return k.edited ? k.before : kNothing; });
    t.add("before temperature", tempered || steps.weights_by == WeightsBy::given,
          [](const KeyStep& k) { return k.before; });
    t.add(
        "score", scored, [](const KeyStep& k) { return k.score; }, steps.sink ? steps.sink->score : kNothing);
    t.add(
        "exp", scored, [](const KeyStep& k) { return k.allowed || k.exp != 0 ? float(k.exp) : kNothing; },
        steps.sink ? float(steps.sink->exp) : kNothing);
}

/// Tabulates z, the gate and their product, entry by entry; nothing without a gate.
std::vector<NumberTable> gate_numbers(const Found<StepsRequest>& found) {
    const Steps& steps = found.answer;
    if (steps.gate.size() == 0) return {};
    Matrix values(steps.z.size(), 3);
    values << steps.z, steps.gate, steps.gated();
    return {{.name = "gate of z of query " + std::to_string(found.asked.query),
             .rows_are = "dimension",
             .columns_are = "vector",
             .rows = counted(steps.z.size()),
             .columns = {"z", "g", "z·g"},
             .values = std::move(values),
             .beside = true}};
}

}  // namespace

std::vector<NumberTable> steps_numbers(const Scene& s) {
    const auto* chain = s.found<BlockChainRequest>();
    const auto* heads = s.found<HeadsChainRequest>();
    const StepsShow show = s.of<StepsState>().show;
    if (show == StepsShow::block) return chain ? chain_numbers(*chain) : std::vector<NumberTable>();
    if (show == StepsShow::heads) return heads ? heads_chain_numbers(*heads) : std::vector<NumberTable>();
    const auto* found = s.found<StepsRequest>();
    if (!found) return {};
    const Steps& steps = found->answer;
    StepsTable t{steps};
    add_score_columns(t, s.sentence()->trace->rule(found->asked.block));
    t.add(
        "weight", true, [](const KeyStep& k) { return k.weight; },
        steps.sink ? steps.sink->weight : kNothing);
    t.add("value norm", true, [](const KeyStep& k) { return k.value_norm; });
    t.add("moved", true, [](const KeyStep& k) { return k.moved; });
    t.add("gated", steps.gate.size() > 0, [](const KeyStep& k) { return k.gated; });
    std::vector<std::string> rows = s.sentence()->key_labels(found->asked.block);
    if (steps.sink) rows.push_back("sink");
    const std::string made = by_scores(steps.weights_by) ? "" : ", frozen pattern";
    std::vector<NumberTable> out{{"steps of query " + std::to_string(found->asked.query) + made, "key",
                                  "step", std::move(rows), t.names, matrix_of_columns(t.columns)}};
    for (NumberTable& table : gate_numbers(*found)) out.push_back(std::move(table));
    return out;
}

}  // namespace headlight
