#include "views/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "base/memory.h"
#include "views/align.h"
#include "views/all_heads.h"
#include "views/compare.h"
#include "views/delta.h"
#include "views/graph.h"
#include "views/heat_map.h"
#include "views/lens.h"
#include "views/lines.h"
#include "views/positions.h"
#include "views/steps.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

/// Negative entries (masked, absent) become NaN.
Matrix shown_only(const Matrix& values) {
    return (values.array() < 0).select(Matrix::Constant(values.rows(), values.cols(), kNothing), values);
}

Matrix column_of(const std::vector<std::vector<float> >& columns) {
    Matrix out(columns.empty() ? 0 : static_cast<Index>(columns[0].size()),
               static_cast<Index>(columns.size()));
    for (size_t c = 0; c < columns.size(); ++c)
        for (size_t r = 0; r < columns[c].size(); ++r)
            out(static_cast<Index>(r), static_cast<Index>(c)) = columns[c][r];
    return out;
}

}  // namespace

std::vector<NumberTable> pattern_numbers(const Scene& s) {
    if (!s.answer->picture) return {};
    const HeadPicture& p = *s.answer->picture;
    if (p.step == 1)
        return {{"pattern", "query", "key", s.query_labels(), s.key_labels(), shown_only(p.levels[0])}};
    check_fits(int64_t{s.queries()} * s.keys() * 12);
    const Matrix whole = masked_pattern(*s.sentence()->trace, p.block, p.head);
    return {{"pattern", "query", "key", s.query_labels(), s.key_labels(),
             shown_only(p.sink_dropped ? without_first_key(whole) : whole)}};
}

std::vector<NumberTable> layer_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    const Trace& trace = *s.sentence()->trace;
    check_fits(int64_t{s.queries()} * s.keys() * trace.config().heads(s.block()) * 4);
    for (int head = 0; head < trace.config().heads(s.block()); ++head)
        if (!s.of<LinesState>().hidden_heads.count(head))
            out.push_back({"pattern of head " + head_name(trace.config(), s.block(), head), "query", "key",
                           s.query_labels(), s.key_labels(),
                           shown_only(masked_pattern(trace, s.block(), head))});
    return out;
}

std::vector<NumberTable> alignment_numbers(const Scene& s) {
    const auto* found = s.found<WordAlignmentWanted>();
    if (!found) return {};
    const WordAlignment& a = found->answer;
    Matrix rest(static_cast<Index>(a.rows.size()), 2);
    for (size_t r = 0; r < a.rows.size(); ++r)
        rest.row(static_cast<Index>(r)) << static_cast<float>(a.strongest[r]), a.entropy[r];
    return {{"alignment", "target", "source", a.rows, a.columns, shown_only(a.weights)},
            {"strongest source and entropy in bits",
             "target",
             "",
             a.rows,
             {"strongest source", "entropy"},
             std::move(rest)}};
}

std::vector<NumberTable> position_numbers(const Scene& s) {
    const auto* found = s.found<PositionsWanted>();
    if (!found || found->answer.scheme == PositionScheme::none) return {};
    const Positions& p = found->answer;
    const auto names = [](Index count) {
        std::vector<std::string> out;
        for (Index i = 0; i < count; ++i) out.push_back(std::to_string(i));
        return out;
    };
    std::vector<std::string> columns;
    for (const int i : p.by_distance() ? p.distances : p.components) columns.push_back(std::to_string(i));
    const auto square = names(p.between.rows());
    return {{"positions", p.by_distance() ? "head" : "position", p.by_distance() ? "distance" : "component",
             names(p.table.rows()), columns, p.table},
            {"between positions", "query", "key", square, square, p.between}};
}

std::vector<NumberTable> steps_numbers(const Scene& s) {
    const auto* found = s.found<StepsWanted>();
    if (!found) return {};
    const AttentionRule& rule = s.sentence()->trace->rule(found->asked.block);
    std::vector<std::string> names;
    std::vector<std::vector<float> > columns;
    const auto add = [&](const char* name, bool there,
                         float (*value)(const KeyStep&)) {  // only the steps that the model takes
        if (!there) return;
        names.emplace_back(name);
        columns.emplace_back();
        for (const KeyStep& k : found->answer.keys) columns.back().push_back(value(k));
    };
    add("q·k", true, [](const KeyStep& k) { return k.dot; });
    add("scaled", rule.scale != 1, [](const KeyStep& k) { return k.scaled; });
    add("capped", rule.cap > 0, [](const KeyStep& k) { return k.capped; });
    add("position bias", rule.has_bias(), [](const KeyStep& k) { return k.bias; });
    add("score", true, [](const KeyStep& k) { return k.score; });
    add("exp", true, [](const KeyStep& k) { return k.allowed ? static_cast<float>(k.exp) : kNothing; });
    add("weight", true, [](const KeyStep& k) { return k.weight; });
    add("value norm", true, [](const KeyStep& k) { return k.value_norm; });
    add("moved", true, [](const KeyStep& k) { return k.moved; });
    return {{"steps of query " + std::to_string(found->asked.query), "key", "step",
             s.sentence()->key_labels(found->asked.block), names, column_of(columns)}};
}

std::vector<NumberTable> delta_numbers(const Scene& s) {
    const auto* found = s.found<DeltaMapsWanted>();
    if (!found) return {};
    const DeltaMaps& m = found->answer;
    std::vector<std::string> names;
    for (const int block : m.blocks) names.push_back(block_path(s.model()->config, block));
    const auto& tokens = s.sentence()->labels[static_cast<size_t>(found->asked.stack)];
    return {{"norm before", "token", "block", tokens, names, m.before},
            {"norm of delta", "token", "block", tokens, names, m.delta},
            {"cosine", "token", "block", tokens, names, m.cosine}};
}

std::vector<NumberTable> lens_numbers(const Scene& s) {
    ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    const auto whole = answer(*s.sentence()->trace, LensWanted{0, s.sentence()->trace->output().size()}, pool,
                              nullptr);  // a page shows some positions
    if (!whole) throw Failure(whole.error());
    if (whole->top.empty()) return {};
    const Lens& lens = *whole;
    const auto& tokens = s.sentence()->labels.back();
    std::vector<std::string> rows{"embeddings"}, columns;
    for (size_t layer = 0; layer + 1 < lens.top.size(); ++layer)
        rows.push_back("layer " + std::to_string(layer));
    for (size_t i = 0; i < lens.top[0].size(); ++i)
        columns.push_back(tokens[static_cast<size_t>(lens.first) + i]);
    Matrix ids(static_cast<Index>(rows.size()), static_cast<Index>(columns.size())), probabilities = ids;
    for (Index r = 0; r < ids.rows(); ++r)
        for (Index c = 0; c < ids.cols(); ++c) {
            const Prediction& p = lens.top[static_cast<size_t>(r)][static_cast<size_t>(c)];
            ids(r, c) = static_cast<float>(p.id);
            probabilities(r, c) = p.probability;
        }
    return {{"most probable id", "after", "position", rows, columns, std::move(ids)},
            {"probability", "after", "position", rows, columns, std::move(probabilities)}};
}

std::vector<NumberTable> graph_numbers(const Scene& s) {
    const auto* found = s.found<RolloutWanted>();
    if (!found) return {};
    const auto& tokens = s.sentence()->labels[static_cast<size_t>(found->asked.included.stack)];
    std::vector<std::string> depths{"embeddings"};
    for (Index layer = 0; layer + 1 < found->answer.reached.rows(); ++layer)
        depths.push_back("layer " + std::to_string(layer));
    std::vector<NumberTable> out{{"rollout from token " + std::to_string(found->asked.token), "depth",
                                  "token", depths, tokens, found->answer.reached}};
    if (!found->answer.flow.empty())
        out.push_back({"flow to token " + std::to_string(found->asked.token),
                       "",
                       "token",
                       {"flow"},
                       tokens,
                       column_of({found->answer.flow}).transpose()});
    return out;
}

std::vector<NumberTable> compare_numbers(const Scene& s) {
    if (s.of<CompareState>().show == ComparedShow::next) {
        const auto* found = s.found<PredictionPairWanted>();
        if (!found) return {};
        std::vector<std::string> labels;
        std::vector<float> a, b;
        for (const ProbabilityChange& p : found->answer.tokens) {
            labels.push_back(p.label);
            a.push_back(p.a);
            b.push_back(p.b);
        }
        std::vector<NumberTable> out{{"probability", "token", "run", labels, {"A", "B"}, column_of({a, b})}};
        if (!found->answer.divergence.empty())
            out.push_back({"Kullback-Leibler divergence",
                           "position",
                           "",
                           found->answer.labels,
                           {"bits"},
                           column_of({found->answer.divergence})});
        return out;
    }
    const bool delta = s.of<CompareState>().show == ComparedShow::delta;
    const auto* pair = s.found<HeadPairWanted>();
    const auto* lengths = s.found<DeltaPairWanted>();
    const PairedMap* m = delta  ? lengths ? &lengths->answer.map : nullptr
                         : pair ? &pair->answer.map
                                : nullptr;
    if (!m || m->a.size() == 0) return {};
    const char *rows = delta ? "block" : "query", *columns = delta ? "token" : "key";
    return {{"A", rows, columns, m->row_labels, m->column_labels, shown_only(m->a)},
            {"B", rows, columns, m->row_labels, m->column_labels, shown_only(m->b)},
            {"A - B", rows, columns, m->row_labels, m->column_labels, m->difference}};
}

std::vector<NumberTable> heads_numbers(const Scene& s) {
    const HeadChoice choice = choose_heads(s);
    const ModelConfig& c = s.model()->config;
    NumberTable out{"statistics", "head", "statistic", {}, {}, {}};
    std::vector<std::vector<float> > columns;
    for (const HeadColumn& column : choice.columns) {
        if (column.values.empty()) continue;
        out.columns.push_back(column.label);
        columns.push_back(column.values);
    }
    const Matrix all = column_of(columns);
    out.values.resize(choice.count, all.cols());
    Index row = 0;
    for (const size_t i : choice.order) {
        if (!choice.kept[i]) continue;
        out.rows.push_back(head_path(c, c.head_at(i)));
        out.values.row(row++) = all.row(static_cast<Index>(i));
    }
    return {std::move(out)};
}

std::vector<NumberTable> shown_numbers(const Scene& s) {
    if (!s.sentence()) return {};
    const View& view = views()[view_for(s.session, *s.model())];
    return view.numbers ? view.numbers(s) : std::vector<NumberTable>();
}

}  // namespace headlight
