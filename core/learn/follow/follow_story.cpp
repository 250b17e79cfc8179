// Tells how the model knew the next word: it looks back one word, finds the match, copies what followed; and
// measures the proof, a run in which the word cannot be looked at.
#include <algorithm>
#include <cmath>

#include "analysis/circuits/direct.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/follow/follow_run.h"
#include "model/heads.h"

namespace headlight::learn {

namespace {

using Stop = Thread::Node;

constexpr float kLeastLook = 0.2f, kLeastLookBack = 0.3f;
constexpr int kMaxRows = 128;  // of long texts, from which the look back is measured

/// Returns the words that a vector added to the stream at the query raises most, above the mean logit.
std::vector<Prediction> raised(const Trace& trace, const Vector& added, int query, int block, int count,
                               ThreadPool& pool) {
    std::vector<Prediction> out;
    const auto path = DirectPath::at(trace, query, block);
    if (!path) return out;
    const Vector logits = path->logits(added.transpose(), pool).row(0).transpose();
    const float mean = logits.mean();
    for (const int id : ranked_ids(logits, count)) out.push_back({id, logits[id] - mean});
    return out;
}

float weight_on(const Matrix& row, const std::vector<int>& keys) {
    float sum = 0;
    for (const int key : keys) sum += row(0, key);
    return sum;
}

/// Finds the head with the most weight on the sources among those that raise the answer most of all words.
void find_head(const Trace& trace, int query, Copying& found, ThreadPool& pool) {
    const ModelConfig& config = trace.config();
    for (int i = 0; i < config.head_count(); ++i) {
        const AttentionHead head = config.head_at(i);
        if (!trace.has_scores(head.block)) continue;
        const Matrix row = trace.pattern_rows(head.block, head.head, query, 1);
        const float look = weight_on(row, found.sources);
        const bool past = looks_past_first(row);
        if (look <= kLeastLook || past < found.past_first) continue;
        if (past == found.past_first && look <= found.look) continue;
        const Vector added = trace.head_additions(head.block, query, pool).row(head.head).transpose();
        const auto most = raised(trace, added, query, head.block, 1, pool);
        if (most.empty() || most[0].id != found.answer) continue;
        found.head = head;
        found.look = look;
        found.past_first = past;
    }
}

/// Finds the head of an earlier block with the most mean weight on the previous token.
void find_look_back(const Trace& trace, Copying& found) {
    for (int block = 0; block < found.head.block; ++block)
        for (int head = 0; head < trace.config().heads(block); ++head) {
            const int rows = std::min(kMaxRows, trace.query_count(block));
            const float mean = trace.pattern_rows(block, head, 0, rows).diagonal(-1).head(rows - 1).mean();
            if (mean <= std::max(found.look_back, kLeastLookBack)) continue;
            found.before = {block, head};
            found.look_back = mean;
        }
}

/// Returns one head's row over the shown keys, as a band.
Thread::Band row_band(const FollowRun& r, AttentionHead head, int query) {
    const Matrix row = masked_pattern_rows(r.trace, head.block, head.head, query, 1);
    Thread::Band out{Thread::Band::Kind::shares, "weight", "head " + head_name(r.config(), head), {}, {}, 2};
    for (const int key : r.shown) out.values.push_back(row(0, key) < 0 ? std::nanf("") : row(0, key));
    return out;
}

Vector strip_of_band(const Thread::Band& band) {
    Vector out(isize(band.values));
    for (int i = 0; i < isize(band.values); ++i) out[i] = std::isnan(band.values[i]) ? 0.0f : band.values[i];
    return out;
}

Stop look_stop(const FollowRun& r, const std::string& name, AttentionHead head, int query, float weight) {
    Stop out{name, "head " + head_name(r.config(), head), decimals(double(weight), 3)};
    out.bands = {row_band(r, head, query)};
    out.strip = strip_of_band(out.bands[0]);
    out.look = Thread::Look::shares;
    return out;
}

Stop look_back_stop(const FollowRun& r, const Copying& c) {
    const int source = c.source;
    const float weight = r.trace.pattern_rows(c.before.block, c.before.head, source, 1)(0, source - 1);
    Stop out = look_stop(r, "look back", c.before, source, weight);
    out.title = "look back one word";
    out.door = "positions";
    out.sentence = "Long before it is needed, " + said_at(r.words, source) +
                   " notes what stands before it: head " + head_name(r.config(), c.before) + " gives " +
                   percent(double(weight)) + " of its attention to " + said(r.words[source - 1]) + ".";
    out.worked_title = "Found by its measure: the mean weight on the previous word, over this text";
    out.worked = {"the most of all heads before block " + block_name(r.config(), c.head.block),
                  decimals(double(c.look_back), 3)};
    return out;
}

Stop match_stop(const FollowRun& r, const Copying& c) {
    const Matrix row = r.trace.pattern_rows(c.head.block, c.head.head, r.query, 1);
    const float weight = row(0, c.source);
    Stop out = look_stop(r, "find the match", c.head, r.query, weight);
    out.title = "find what followed";
    out.door = "formation";
    out.sentence = "Now " + said(r.word()) + " asks who noted " + said(r.word()) + ". " +
                   said_at(r.words, c.source) + " did, and head " + head_name(r.config(), c.head) +
                   " gives it " + percent(double(weight)) + ".";
    if (out.sentence.find(". the ") != std::string::npos)
        out.sentence.replace(out.sentence.find(". the "), 6, ". The ");
    if (c.sources.size() > 1) {
        out.worked_title = "On every " + said(r.words[c.source]) + " before";
        std::string text;
        for (const int at : c.sources) text += (text.empty() ? "" : " + ") + decimals(double(row(0, at)), 3);
        out.worked = {text, decimals(double(c.look), 3)};
    }
    return out;
}

/// Returns what the head adds at the query for one key alone: its weighted value through W_O.
Vector added_by_key(const FollowRun& r, const Copying& c) {
    const Index d = r.config().d_value(c.head.block);
    const float weight = r.trace.pattern_rows(c.head.block, c.head.head, r.query, 1)(0, c.source);
    Matrix z = Matrix::Zero(1, d * r.config().heads(c.head.block));
    z.block(0, Index{c.head.head} * d, 1, d) = r.trace.v(c.head.block, c.head.head).row(c.source) * weight;
    const AttentionWeights& w = r.trace.weights(c.head.block);
    const Matrix nothing = Matrix::Zero(1, z.cols());
    return (project_out(w, z, r.pool) - project_out(w, nothing, r.pool)).row(0).transpose();
}

Stop copy_stop(const FollowRun& r, const Copying& c) {
    constexpr int kListed = 5;
    const auto most = raised(r.trace, added_by_key(r, c), r.query, r.head.block, kListed, r.pool);
    Stop out{"copy", "head " + head_name(r.config(), c.head),
             most.empty() ? "" : "+" + two(double(most[0].probability))};
    out.title = "what is copied";
    out.door = "qkv";
    out.bars_are =
        "What the value of " + said_at(r.words, c.source) + " adds to each word’s logit, above the mean";
    out.heading = "logit";
    out.numbers_are = {"logit above the mean"};
    for (const Prediction& one : most) {
        const float share = one.probability / std::max(most[0].probability, 1e-6f);
        out.bars.push_back({r.label(one.id),
                            std::clamp(share, 0.0f, 1.0f),
                            "+" + two(double(one.probability)),
                            "",
                            one.id == c.answer,
                            {one.probability}});
    }
    if (!most.empty()) out.strip = Vector::Constant(1, 1.0f);
    out.look = Thread::Look::bar;
    const bool itself = !most.empty() && most[0].id == c.answer;
    out.sentence = "It takes the value of " + said_at(r.words, c.source) + " along. Through W_O, of all " +
                   std::to_string(r.config().vocab) + " words this raises " +
                   (itself ? said(r.words[c.source]) + " itself the most."
                           : said(r.label(most.empty() ? c.answer : most[0].id)) + " the most.");
    return out;
}

std::string all_sources(const FollowRun& r, const Copying& c) {
    const std::string word = said(r.words[c.source]);
    return c.sources.size() == 1   ? word
           : c.sources.size() == 2 ? "both " + word
                                   : "all " + std::to_string(c.sources.size()) + " " + word;
}

Change hides(int query, int key) {
    Change out;
    out.kind = ChangeKind::mask;
    out.query = query;
    out.key = key;
    return out;
}

struct HiddenRun {
    std::string name;
    std::vector<int> keys;
    float probability = 0;
    std::string says = {};
};

/// Runs the model with some keys hidden from the query, in every head.
Status run_hidden(const FollowRun& r, int answer, HiddenRun& run) {
    ForwardRequest request = r.trace.request;
    for (const int key : run.keys) request.intervention.changes.push_back(hides(r.query, key));
    TRY(const auto trace, run_trace(r.trace.model, std::move(request), r.pool, r.cancel, &r.trace));
    const Vector p = probabilities_at(*trace, r.query, r.pool);
    Index most = 0;
    p.maxCoeff(&most);
    run.probability = p[answer];
    run.says = r.label(narrow<int>(most));
    return success();
}

Result<std::vector<HiddenRun>> hidden_runs(const FollowRun& r, const Copying& c) {
    constexpr int kMaxAlone = 3;
    std::vector<HiddenRun> out;
    const int count = isize(c.sources);
    for (int i = 0; count > 1 && count <= kMaxAlone && i < count; ++i)
        out.push_back({said_at(r.words, c.sources[i]) + " hidden", {c.sources[i]}});
    out.push_back({(count == 1   ? said(r.words[c.source])
                    : count == 2 ? "both"
                                 : "all " + std::to_string(count)) +
                       " hidden",
                   c.sources});
    for (HiddenRun& run : out) TRY_STATUS(run_hidden(r, c.answer, run));
    return out;
}

Result<Stop> hide_stop(const FollowRun& r, const Copying& c, std::string& promise) {
    TRY(const auto runs, hidden_runs(r, c));
    const float before = r.answer.probability, after = runs.back().probability;
    Stop out{"hide it", "and see", percent(double(after))};
    out.strip = Vector::Constant(1, after);
    out.look = Thread::Look::bar;
    out.title = "hide it and see";
    out.door = "masks";
    const bool falls = after < 0.8f * before;
    promise = "Hide " + all_sources(r, c) + " from " + said(r.word()) + " and the answer " +
              (falls ? "falls from " : "goes from ") + percent(double(before)) + " to " +
              percent(double(after)) + ".";
    out.sentence = promise + " The model says " + said(runs.back().says) + (falls ? " instead." : ".");
    if (runs.back().says == r.label(c.answer)) out.sentence = promise + " The model still says it.";
    out.bars_are = "p of " + said(r.label(c.answer)) + ", each in a run of its own";
    out.heading = "p";
    out.numbers_are = {"p"};
    out.bars.push_back({c.sources.size() == 2 ? "both seen" : "all seen",
                        before,
                        percent(double(before)),
                        "says " + r.label(r.answer.tokens.front().id),
                        false,
                        {before}});
    for (const HiddenRun& run : runs)
        out.bars.push_back({run.name,
                            run.probability,
                            percent(double(run.probability)),
                            "says " + run.says,
                            &run == &runs.back(),
                            {run.probability}});
    return out;
}

/// Says why there is no story, in the place of its first stop.
void tell_none(const FollowRun& r, Thread& thread) {
    const std::string answer = r.predicts ? r.label(r.answer.token) : "";
    const bool before = r.predicts && std::find(r.words.begin(), r.words.begin() + r.query, answer) !=
                                          r.words.begin() + r.query;
    Stop out{"no story here", "", ""};
    out.title = "no copy to follow";
    out.door = "formation";
    out.sentence =
        !r.predicts || !r.config().can.continue_text
            ? "The story is about a model that writes on: here no word follows " + said(r.word()) + "."
        : !before ? said(answer) +
                        " stands nowhere before, so it was not copied: the model knows it from its training."
                  : said(answer) + " stands before, but no single head finds it by a word that matches " +
                        said(r.word()) + " and copies it.";
    out.sentence += " In the sample sentence such a story holds.";
    thread.stops = {std::move(out)};
    thread.question =
        r.predicts && !answer.empty() ? "How did it know " + said(answer) + "?" : "How did it know?";
    thread.promise = thread.stops[0].sentence;
}

}  // namespace

bool looks_past_first(const Matrix& row) {
    Index most = 0;
    row.row(0).maxCoeff(&most);
    return most > 0;
}

std::optional<Copying> find_copying(const Trace& trace, int query, ThreadPool& pool) {
    const bool writes_on = trace.config().can.continue_text && trace.has_weights() &&
                           has_direct_path(*trace.model) && isize(trace.config().stacks) == 1;
    if (!writes_on || query < 1) return std::nullopt;
    Copying out;
    out.answer = predictions(trace, query, 1, pool).front().id;
    const std::vector<int>& ids = trace.request.inputs[0].ids;
    for (int i = 1; i < query; ++i)
        if (ids[i] == out.answer) out.sources.push_back(i);
    if (out.sources.empty()) return std::nullopt;
    find_head(trace, query, out, pool);
    if (out.look == 0) return std::nullopt;
    const Matrix row = trace.pattern_rows(out.head.block, out.head.head, query, 1);
    for (const int at : out.sources)
        if (ids[at - 1] == ids[query] && (out.source < 0 || row(0, at) > row(0, out.source))) out.source = at;
    find_look_back(trace, out);
    if (out.source < 0 || out.before.block < 0) return std::nullopt;
    return out;
}

Status tell_story(const FollowRun& r, const std::optional<Copying>& found, Thread& thread) {
    if (!found) {
        tell_none(r, thread);
        return success();
    }
    thread.told = true;
    thread.question = "How did it know " + said(r.label(found->answer)) + "?";
    TRY(Stop hidden, hide_stop(r, *found, thread.promise));
    thread.stops = {look_back_stop(r, *found), match_stop(r, *found), copy_stop(r, *found),
                    std::move(hidden)};
    return success();
}

}  // namespace headlight::learn
