// Judges tasks. Every sentence is made of the numbers that it is about.
#include "learn/lessons/judge.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>
#include <utility>

#include "analysis/attention/head_summary.h"
#include "analysis/prediction/lens.h"
#include "analysis/prediction/metric.h"
#include "base/quoted.h"
#include "learn/lessons/masked_cells.h"
#include "learn/questions/parts.h"

namespace headlight::lessons {

namespace {

using learn::said;

std::string points(double shares) { return decimals(100 * shares, 1) + " points"; }

/// The words of a label, without the sign for a leading space.
std::string plain_label(const Model& model, int id) {
    std::string label = prediction_label(model, id);
    const size_t word = label.find_first_not_of(' ');
    return word == std::string::npos ? label : label.substr(word);
}

bool whole_number_of(const std::string& text, int& out) {
    if (text.empty() || text.size() > 7 || text.find_first_not_of("0123456789") != std::string::npos)
        return false;
    out = std::stoi(text);
    return true;
}

Verdict refused(std::string why) {
    Verdict out;
    out.refusal = std::move(why);
    return out;
}

/// Returns the positions of a block's labels as people read them: "ball 10".
std::string named_token(const std::vector<std::string>& labels, int at) {
    return labels[at] + " " + std::to_string(at);
}

// ---- metric

/// Writes a metric as people read it: a probability in percent.
std::string written_metric(const Metric& m, double value) {
    return m.kind == MetricKind::probability ? percent(value) : decimals(value, 2);
}

/// Says by how much a metric moved toward the goal: "14.8 points", "1.20".
std::string written_move(const Metric& m, double by) {
    return m.kind == MetricKind::probability ? points(by) : decimals(by, 2);
}

/// Places numbers on a bar from 0 (or the least of them) to the largest.
void place_on_bar(const Metric& m, double now, double before, double goal, Verdict& out) {
    const double low = m.kind == MetricKind::probability ? 0 : std::min({0.0, now, before, goal});
    const double high =
        m.kind == MetricKind::probability ? 1 : std::max({0.0, now, before, goal, low + 1e-6});
    const auto shown = [&](double value) {
        return Shown{written_metric(m, value), float((value - low) / (high - low))};
    };
    out.now = shown(now);
    out.before = shown(before);
    out.goal = shown(goal);
    if (out.goal.text.ends_with(".0 %")) out.goal.text.replace(out.goal.text.size() - 4, 2, "");
}

std::string quantity_of(const Model& model, const Metric& m) {
    return m.kind == MetricKind::probability ? "p of " + said(plain_label(model, m.a))
                                             : metric_label(model, m);
}

void say_metric(const Task& t, const Metric& m, const Used& used, double now, double before, Verdict& out) {
    const bool below = t.below.has_value();
    const double goal = below ? *t.below : *t.above, moved = below ? before - now : now - before;
    const bool there = below ? now < goal : now > goal, few = t.at_most == 0 || used.count() <= t.at_most;
    const std::string does = below               ? used.count() == 1 ? " takes " : " take "
                             : used.count() == 1 ? " gives "
                                                 : " give ";
    out.met = there && few && used.count() > 0;
    if (used.count() == 0) {
        out.says = there ? "The goal is met before anything is changed." : "No try yet.";
    } else if (moved < 0) {
        out.says = std::string("Not yet. ") + used.counted() + " moved it the other way, by " +
                   written_move(m, -moved) + ".";
    } else {
        out.says = std::string(out.met ? "Done. " : "Not yet. ") + used.counted() + does +
                   written_move(m, moved) + ".";
    }
    if (!there)
        out.further = written_move(m, std::abs(goal - now)) + " to go.";
    else if (!few)
        out.further = "At most " + std::to_string(t.at_most) + " count here, and " +
                      std::to_string(used.count()) + " are in use.";
}

Result<Verdict> judge_metric(const Runs& runs, const JudgeRequest& w, ThreadPool& pool) {
    const Trace& own = runs.own ? *runs.own : runs.shown;
    const Task& t = w.task;
    if (!t.below && !t.above) return refused("This task sets no bound for its metric.");
    const auto metric = parse_metric(*own.model, t.metric, &own);
    if (!metric) return refused(metric.error().message);
    const auto known = resolved(*metric, own, pool);
    if (!known) return refused(known.error().message);
    Verdict out;
    const double before = double(evaluate(*known, own, own, pool).value);
    const double now = runs.own ? double(evaluate(*known, runs.shown, own, pool).value) : before;
    out.quantity = quantity_of(*own.model, *known);
    place_on_bar(*known, now, before, t.below ? *t.below : *t.above, out);
    const Used used = used_by(runs.shown, t.by);
    out.value = now;
    out.count = used.count();
    out.used = used.label;
    out.tried = out.count > 0 || !used.other.empty();
    say_metric(t, *known, used, now, before, out);
    if (used.other.empty()) return out;
    out.met = false;
    out.says = "Not judged: " + used.other + " does not count here.";
    out.further = "Take it back.";
    return out;
}

// ---- head

/// [heads in order] of one statistic.
Result<std::vector<float>> statistic_of_heads(const Trace& trace, const std::string& key, ThreadPool& pool,
                                              const CancelFlag* cancel) {
    constexpr int kSmallest = 1;  // no thumbnails are needed
    TRY(const auto heads, summarize_heads(trace, kSmallest, pool, cancel));
    const size_t row = static_cast<size_t>(find_statistic(key) - head_statistics().data());
    std::vector<float> out;
    for (const HeadSummary& one : heads) out.push_back(one.statistics[row]);
    return out;
}

std::string with_unit(const HeadStatistic& s, double value) {
    return decimals(value, 2) + (*s.unit ? std::string(" ") + s.unit : "");
}

Result<Verdict> judge_head(const Runs& runs, const JudgeRequest& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    const HeadStatistic& s = *find_statistic(w.task.statistic);
    const ModelConfig& config = runs.shown.config();
    Verdict out;
    out.quantity = s.label;
    if (w.task.at_least) out.goal = {with_unit(s, *w.task.at_least), float(*w.task.at_least)};
    if (w.answer.empty()) {
        out.says = "Select a head, then check it.";
        return out;
    }
    const auto head = parse_head(config, w.answer, "head");
    if (!head) return refused(head.error().message);
    TRY(const std::vector<float> values, statistic_of_heads(runs.shown, w.task.statistic, pool, cancel));
    const size_t at = static_cast<size_t>(config.head_index(*head));
    const float value = values[at];
    out.tried = true;
    out.used = "head " + head_name(config, *head);
    out.value = double(value);
    const std::string name = "Head " + head_name(config, *head);
    if (std::isnan(value)) {
        out.says = "Not yet. " + name + " has no such number on this sentence.";
        return out;
    }
    out.now = {with_unit(s, double(value)), std::clamp(value, 0.0f, 1.0f)};
    const bool largest = order_by(values, s.ascending)[0] == static_cast<int>(at);
    out.met = w.task.at_least ? double(value) >= *w.task.at_least : largest;
    out.says = std::string(out.met ? "Done. " : "Not yet. ") + name + ": " + s.label + " " +
               with_unit(s, double(value)) + ".";
    if (!out.met)
        out.further =
            w.task.at_least ? "At least " + out.goal.text + " is wanted." : "Another head has more.";
    return out;
}

// ---- look

Result<Verdict> judge_look(const Runs& runs, const JudgeRequest& w) {
    const Trace& trace = runs.shown;
    const auto head = parse_head(trace.config(), w.task.head, "head");
    if (!head) return refused(head.error().message);
    const int n = trace.query_count(head->block), query = w.task.query < 0 ? n - 1 : w.task.query;
    if (query >= n)
        return refused("The task names the query " + std::to_string(query) + ", but the sentence has " +
                       counted_tokens(n) + ".");
    const ModelConfig& config = trace.config();
    const auto& block = config.block(head->block);
    const auto queries = token_labels(trace, block.stack), keys = token_labels(trace, block.key_stack);
    const std::string asked = said(queries[query]);
    const int first = w.task.without_first ? 1 : 0;
    Verdict out;
    out.quantity = "weight of " + asked + " in head " + head_name(config, *head);
    int key = -1;
    if (w.answer.empty()) {
        out.says = "Choose a word.";
        return out;
    }
    if (!whole_number_of(w.answer, key) || key >= trace.key_count(head->block))
        return refused("There is no word " + in_quotes(w.answer) + " in the sentence; name its position.");
    const Matrix row = trace.pattern_rows(head->block, head->head, query, 1);
    if (first >= row.cols()) return refused("The sentence has no second token to look at.");
    Index best = 0;
    row.row(0).tail(row.cols() - first).maxCoeff(&best);
    best += first;
    const double weight = double(row(0, key));
    out.tried = true;
    out.used = named_token(keys, key);
    out.value = weight;
    out.now = {percent(weight), float(weight)};
    out.met = key == static_cast<int>(best);
    out.says = std::string(out.met ? "Right. " : "Not this one. ") + asked + " gives " + percent(weight) +
               " to " + said(named_token(keys, key)) + (out.met ? ", more than to any other." : ".");
    if (!out.met)
        out.further = key < first ? "The first word does not count here." : "Another word gets more.";
    return out;
}

// ---- answer

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

/// A word without the punctuation at its end.
std::string bare_word(std::string word) {
    while (word.size() > 1 && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos)
        word.pop_back();
    return word;
}

/// "ball → kite" where words were changed in place; else the sentence.
std::string changed_label(const std::string& from, const std::string& text) {
    const auto a = words_of(from), b = words_of(text);
    if (a.size() != b.size()) return text;
    std::string out;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) out += (out.empty() ? "" : ", ") + bare_word(a[i]) + " → " + bare_word(b[i]);
    return out;
}

Result<Verdict> judge_answer(const Runs& runs, const JudgeRequest& w, ThreadPool& pool) {
    const Trace& trace = runs.shown;
    const auto token = parse_token(*trace.model, w.task.word);
    if (!token) return refused(token.error().message);
    const auto metric = resolved({MetricKind::probability, *token, -1, -1}, trace, pool);
    if (!metric) return refused(metric.error().message);
    const auto top = predictions(trace, metric->position, 1, pool)[0];
    const double now = double(evaluate(*metric, trace, trace, pool).value);
    const std::string word = said(plain_label(*trace.model, *token)),
                      first = said(plain_label(*trace.model, top.id));
    Verdict out;
    out.quantity = "p of " + word;
    out.now = {percent(now), float(now)};
    out.value = now;
    out.count = changed_words(w.from, w.text);
    out.used = changed_label(w.from, w.text);
    out.tried = out.count > 0;
    const bool says_it = top.id == *token, few = out.count <= w.task.changes;
    const bool intervened = runs.own != nullptr;
    out.met = says_it && few && out.tried && !intervened;
    out.says = says_it ? (out.met ? "Done. The model says " : "The model says ") + word + ", with " +
                             percent(now) + "."
                       : "Not yet. The model says " + first + ", with " + percent(double(top.probability)) +
                             "; " + word + " has " + percent(now) + ".";
    if (intervened)
        out.further = "Take back what is masked or changed: the sentence alone counts.";
    else if (!few)
        out.further = std::to_string(out.count) + " words differ from the lesson’s sentence; at most " +
                      std::to_string(w.task.changes) + (w.task.changes == 1 ? " counts." : " count.");
    else if (!out.tried)
        out.further = "No try yet.";
    return out;
}

// ---- layer

Result<Verdict> judge_layer(const Runs& runs, const JudgeRequest& w, ThreadPool& pool,
                            const CancelFlag* cancel) {
    const Trace& trace = runs.shown;
    const auto metric = resolved({MetricKind::probability, -1, -1, -1}, trace, pool);
    if (!metric) return refused(metric.error().message);
    int token = metric->a;
    if (!w.task.word.empty()) {
        const auto named = parse_token(*trace.model, w.task.word);
        if (!named) return refused(named.error().message);
        token = *named;
    }
    TRY(const Lens lens, answer_lens(trace, {metric->position, 1}, pool, cancel));
    const auto says = [&](int row) { return lens.top[row][0].id == token; };
    const int layers = isize(lens.top) - 1;
    int first = 0;
    while (first <= layers && !says(first)) ++first;
    const std::string word = said(plain_label(*trace.model, token));
    Verdict out;
    out.quantity = "first layer that says " + word;
    if (first > layers) return refused("No layer says " + word + " on this sentence; name another word.");
    if (first == 0) return refused("The embedding says " + word + " already; name another word.");
    if (w.answer.empty()) {
        out.says = "Choose a layer.";
        return out;
    }
    int layer = 0;
    if (!whole_number_of(w.answer, layer) || layer >= layers)
        return refused("There is no layer " + in_quotes(w.answer) + "; the model has layers 0 … " +
                       std::to_string(layers - 1) + ".");
    const Prediction there = lens.top[layer + 1][0];
    out.tried = true;
    out.used = "layer " + std::to_string(layer);
    out.value = layer;
    out.met = layer + 1 == first;
    out.says = std::string(out.met ? "Done. " : "Not yet. ") + "After layer " + std::to_string(layer) +
               " the first word is " + said(plain_label(*trace.model, there.id)) + ", with " +
               percent(double(there.probability)) + ".";
    if (!out.met && layer + 1 > first) out.further = "A lower layer says it already.";
    return out;
}

// ---- station

Verdict judge_station(const JudgeRequest& w) {
    Verdict out;
    const bool asks = !w.task.choices.empty();
    out.tried = asks ? !w.answer.empty() : w.answer == (w.task.answered ? "answered" : "read");
    out.used = out.tried ? w.answer : "";
    out.met = out.tried && (!asks || w.answer == w.task.right);
    if (!out.tried)
        out.says = asks              ? "Choose an answer."
                   : w.task.answered ? "Read the station, and answer its question."
                                     : "Read the station.";
    else
        out.says = !asks ? "Done." : out.met ? "Right." : "Not this one.";
    return out;
}

}  // namespace

bool is_answered(TaskKind kind) { return kind != TaskKind::metric && kind != TaskKind::answer; }

int changed_words(const std::string& from, const std::string& text) {
    const auto a = words_of(from), b = words_of(text);
    if (a.size() * b.size() > (1u << 22)) return from == text ? 0 : 1 << 20;  // no lesson's sentence
    std::vector<int> row(b.size() + 1);                                       // Levenshtein 1966, over words
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= a.size(); ++i) {
        int diagonal = std::exchange(row[0], narrow<int>(i));
        for (size_t j = 1; j <= b.size(); ++j) {
            const int least = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = std::exchange(row[j], least);
        }
    }
    return row[b.size()];
}

Result<Verdict> judge(const Runs& runs, const JudgeRequest& w, ThreadPool& pool, const CancelFlag* cancel) {
    if (w.task.kind == TaskKind::station) return judge_station(w);
    if (!runs.shown.has_weights()) return refused("A trace has no weights: open the lesson’s model.");
    switch (w.task.kind) {
        case TaskKind::metric:
            return judge_metric(runs, w, pool);
        case TaskKind::head:
            return judge_head(runs, w, pool, cancel);
        case TaskKind::look:
            return judge_look(runs, w);
        case TaskKind::answer:
            return judge_answer(runs, w, pool);
        default:
            return judge_layer(runs, w, pool, cancel);
    }
}

}  // namespace headlight::lessons
