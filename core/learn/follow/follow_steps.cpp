// Makes the first seven steps of "Follow a word": from the word's vector to its attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/attribution/embedding_parts.h"
#include "base/quoted.h"
#include "learn/block_parts.h"
#include "learn/follow/follow_run.h"
#include "learn/page_parts.h"
#include "model/heads.h"

namespace headlight::learn {

namespace {

using Node = Thread::Node;
using Strip = Thread::Strip;
using Band = Thread::Band;

std::string count_of(Index n) { return std::to_string(n) + (n == 1 ? " number" : " numbers"); }

Strip plain(const std::string& sign, const Vector& values, bool bright = false) {
    return {.sign = sign, .values = values, .measure = length(values), .bright = bright};
}

Vector part_of(const StreamParts& parts, StreamPart::Kind kind) {
    for (int i = 0; i < isize(parts.parts); ++i)
        if (parts.parts[i].kind == kind) return parts.rows.row(i).transpose();
    return {};
}

/// Returns the places of the query's own stack whose vectors are shown beside its own.
std::vector<int> own_places(const FollowRun& r) {
    if (!r.crosses()) return r.shown;
    std::vector<int> out;
    for (int i = std::max(0, r.query + 1 - kMaxColumns); i <= r.query; ++i) out.push_back(i);
    return out;
}

Node embedding_step(const FollowRun& r) {
    Node out{"E", "the vector of " + said(r.word()), ""};
    out.door = "no-weights";
    out.title = "the word becomes numbers";
    out.heading = "length";
    int copies = 0;
    for (const int place : own_places(r)) {
        const StreamParts parts = embedding_parts(r.trace, r.at.stack, place, r.pool);
        const Vector e = part_of(parts, StreamPart::Kind::token);
        const bool own = place == r.query, copy = r.words[place] == r.word();
        copies += copy && !own;
        out.strips.push_back({"E", place, r.words[place], e, length(e), own || copy, own});
        if (own) out.strip = e;
    }
    out.measure = length(out.strip);
    out.sentence = said(r.word()) + " is " + count_of(out.strip.size()) + ", learned with the model; every " +
                   said(r.word()) + " begins with the same.";
    if (copies)
        out.sentence = said(r.word()) + " is " + count_of(out.strip.size()) +
                       (copies == 1 ? ". The other " : ". Every other ") + said(r.word()) +
                       " begins with exactly the same.";
    return out;
}

/// Explains a scheme that adds no vector.
void other_position(const FollowRun& r, Node& out, const Vector& e) {
    const std::string place = std::to_string(r.query);
    const PositionScheme scheme = r.config().positions;
    out.strips = {plain("E", e, true)};
    out.gloss = "place " + place + ", not added";
    if (r.trace.rule(r.head.block).positions.off) {
        out.sentence = "Positions are switched off: " + said(r.word()) + " does not know that it stands at " +
                       place + ".";
    } else if (r.config().attention(r.head.block).rope.dims) {
        out.gloss = "place " + place + " turns q and k";
        out.sentence = "Here nothing is added for the place: it turns q and k instead, " + said(r.word()) +
                       " by " + place + " steps. Only how far two words stand apart then counts.";
        const bool normed =
            r.stage(ChainStep::q_norm).size() && !r.config().attention(r.head.block).norm_rotated;
        const Vector q = r.stage(normed ? ChainStep::q_norm : ChainStep::q),
                     k = r.stage(normed ? ChainStep::k_norm : ChainStep::k);
        const Vector turned_q = r.stage(ChainStep::q_rotated), turned_k = r.stage(ChainStep::k_rotated);
        if (!turned_q.size()) return;
        out.strips = {{"q", r.query, r.word(), q, length(q)},
                      {"turned", r.query, r.word(), turned_q, length(turned_q), true, true},
                      {"k", r.key, r.keys[r.key], k, length(k), false, false, true},
                      {"turned", r.key, r.keys[r.key], turned_k, length(turned_k), true}};
    } else if (scheme == PositionScheme::alibi || scheme == PositionScheme::relative ||
               scheme == PositionScheme::disentangled) {
        out.sentence =
            "Here nothing is added to the vector: step 6 adds a number to each score for how far "
            "the two words stand apart.";
    } else {
        out.sentence = "This model adds nothing for the place, " + place +
                       ": only the mask tells it which words stand before others.";
    }
}

Node position_step(const FollowRun& r) {
    Node out{"position", "place " + std::to_string(r.query) + " is added", ""};
    out.door = "positions";
    out.title = "where the word stands";
    out.heading = "length";
    const StreamParts parts = embedding_parts(r.trace, r.at.stack, r.query, r.pool);
    const Vector e = part_of(parts, StreamPart::Kind::token),
                 place = part_of(parts, StreamPart::Kind::position);
    out.strip = parts.rows.colwise().sum().transpose();
    out.measure = length(out.strip);
    if (!place.size()) {
        other_position(r, out, e);
        return out;
    }
    out.strips = {plain("E", e), plain("+ place", place), plain("= sum", out.strip, true)};
    out.strips.back().framed = true;
    const Vector segment = part_of(parts, StreamPart::Kind::segment);
    if (segment.size()) out.strips.insert(out.strips.end() - 1, plain("+ segment", segment));
    out.sentence = said(r.word()) + " stands at " + std::to_string(r.query) +
                   ", counted from 0. The vector of that place is added, number by number.";
    Index most = 0;
    place.cwiseAbs().maxCoeff(&most);
    out.worked_title = "The place changes entry " + std::to_string(most) + " most";
    const float rest = out.strip[most] - e[most] - place[most];
    out.worked = {two(double(e[most])) + and_two(double(place[most])) +
                      (std::abs(rest) < 0.005f ? "" : and_two(double(rest))),
                  two(double(out.strip[most]))};
    return out;
}

std::string arrival(const FollowRun& r) {
    const int layer = r.at.layer;
    if (r.crosses()) return "The words written so far have been taken in";
    if (layer == 0) return "No block has added anything yet";
    return layer == 1 ? "Block 0 has added what it found"
                      : "Blocks 0 to " + std::to_string(layer - 1) + " have added what they found";
}

Node norm_step(const FollowRun& r) {
    Node out{"norm", r.at.layer ? "the stream, evened out" : "evened out", ""};
    out.door = "parameters";
    out.title = "even sizes";
    out.heading = "length";
    const Vector x = r.stage(ChainStep::query_in), y = r.stage(ChainStep::query_norm);
    out.strip = y.size() ? y : x;
    out.measure = length(out.strip);
    out.strips = {plain("stream", x, !y.size())};
    if (!y.size()) {
        out.gloss = "as it arrives";
        out.sentence = arrival(r) +
                       ". In this model sizes are evened after adding, in step 11, so the block reads " +
                       said(r.word()) + " as it arrives.";
        return out;
    }
    const Vector even = normalized_alone(r.config(), x);
    out.strips.push_back(plain("evened", even));
    out.strips.push_back(plain("weighed", y, true));
    out.strips.back().framed = true;
    out.sentence = arrival(r) + ". The norm evens the sizes of the " + count_of(x.size()) + ": length " +
                   length(x) + " becomes " + length(y) + ".";
    const float mean = r.config().norm == NormKind::layer_norm ? x.mean() : 0.0f;
    const float deviation = std::sqrt((x.array() - mean).square().mean() + r.config().norm_eps);
    Index most = 0;
    y.cwiseAbs().maxCoeff(&most);
    const bool centered = r.config().norm == NormKind::layer_norm;
    out.worked_title = "Entry " + std::to_string(most) + ", before its learned weight";
    out.worked = {(centered ? "(" + two(double(x[most])) + and_two(-double(mean)) + ", the mean)"
                            : two(double(x[most]))) +
                      " ÷ " + two(double(deviation)),
                  two(double(even[most]))};
    return out;
}

Vector products(const FollowRun& r) {
    return r.trace.q(r.head.block, r.head.head)
        .row(r.query)
        .cwiseProduct(r.trace.k(r.head.block, r.head.head).row(r.key))
        .transpose();
}

/// Returns the two largest products, and how much the others add.
std::string largest_products(const FollowRun& r, const Vector& p) {
    std::vector<int> order(p.size());
    for (int i = 0; i < isize(order); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return p[a] > p[b]; });
    const Vector q = r.trace.q(r.head.block, r.head.head).row(r.query).transpose(),
                 k = r.trace.k(r.head.block, r.head.head).row(r.key).transpose();
    std::string out;
    double rest = double(p.sum());
    const int named = std::min(2, isize(order));
    for (int i = 0; i < named; ++i) {
        const int at = order[i];
        rest -= double(p[at]);
        out += (i ? " + " : "") + (i ? factor(double(q[at])) : two(double(q[at]))) + " × " +
               factor(double(k[at]));
    }
    if (isize(order) > named)
        out += and_two(rest) + " (the other " + std::to_string(isize(order) - named) + ")";
    return out;
}

/// Starts a step whose picture has a column for each word.
Node columns_step(const char* name, std::string gloss, const char* title, const char* door) {
    Node out{name, std::move(gloss), ""};
    out.title = title;
    out.door = door;
    return out;
}

Node query_key_step(const FollowRun& r) {
    const Vector q = r.trace.q(r.head.block, r.head.head).row(r.query).transpose();
    Node out = columns_step("q and k", count_of(q.size()) + " that ask", "q and all k", "qkv");
    out.strip = q;
    out.measure = length(q);
    out.heading = "q·k";
    out.strips = {{"q", r.query, r.word(), q, "", true, true}};
    for (const int key : r.shown) {
        const Vector k = r.trace.k(r.head.block, r.head.head).row(key).transpose();
        out.strips.push_back({"k", key, r.keys[key], k, two(double(r.steps.keys[key].dot)), key == r.key,
                              false, key == r.shown.front()});
    }
    const Vector p = products(r);
    out.worked_title = "q × k of " + said_at(r.keys, r.key) + ": " + count_of(p.size()) + " to add";
    out.below = {{"q × k", -1, "", p, two(double(r.steps.keys[r.key].dot)), true}};
    out.worked = {largest_products(r, p), two(double(r.steps.keys[r.key].dot))};
    out.sentence = said(r.word()) + " asks with " + count_of(q.size()) + ". Every word " +
                   (r.crosses() ? "of the source " : "") + "holds up " + std::to_string(q.size()) +
                   " of its own. The more they agree, the higher the score.";
    return out;
}

template <class Number>
std::vector<float> of_shown(const FollowRun& r, const Number& number) {
    std::vector<float> out;
    for (const int key : r.shown) out.push_back(float(number(r.steps.keys[key])));
    return out;
}

/// NaN for keys that the mask hides.
template <class Number>
std::vector<float> of_allowed(const FollowRun& r, const Number& number) {
    return of_shown(r, [&](const KeyStep& k) {
        return k.allowed ? float(number(k)) : std::numeric_limits<float>::quiet_NaN();
    });
}

Vector strip_from(const std::vector<float>& values) {
    Vector out(isize(values));
    for (int i = 0; i < isize(values); ++i) out[i] = std::isnan(values[i]) ? 0.0f : values[i];
    return out;
}

Node scores_step(const FollowRun& r) {
    Node out = columns_step("scores", "q meets every key", "scores", "score-functions");
    const auto dots = of_shown(r, [](const KeyStep& k) { return k.dot; });
    out.bands = {{Band::Kind::heights, "score", "q·k", dots}};
    out.strip = strip_from(dots);
    const Vector p = products(r);
    const auto most = std::max_element(r.steps.keys.begin(), r.steps.keys.end(),
                                       [](const KeyStep& a, const KeyStep& b) { return a.dot < b.dot; });
    const int best = narrow<int>(most - r.steps.keys.begin());
    out.measure = two(double(r.steps.keys[r.key].dot));
    out.sentence = "Where they agree the score is high: " + said_at(r.keys, r.key) + " gets " + out.measure +
                   (best == r.key ? ", the most of all."
                                  : "; " + said_at(r.keys, best) + " gets the most, " +
                                        two(double(most->dot)) + ", before steps 6 and 7.");
    out.worked_title = "The arithmetic of the bright column: " + std::to_string(p.size()) + " products";
    out.worked = {largest_products(r, p), out.measure};
    return out;
}

/// Says how the mask acts on the query: how many words it hides, and where they stand.
std::string hidden_words(const FollowRun& r) {
    int hidden = 0, later = 0;
    for (int i = 0; i < isize(r.steps.keys); ++i)
        if (!r.steps.keys[i].allowed) {
            ++hidden;
            later += i > r.query;
        }
    if (!hidden) {
        const bool last = !r.crosses() && r.query + 1 == isize(r.steps.keys);
        return last && r.trace.config().can.continue_text ? " No word comes later, so none is hidden."
                                                          : " No word is hidden.";
    }
    const std::string some = hidden == 1 ? "One word is" : std::to_string(hidden) + " words are";
    return " " + some + (hidden == later && !r.crosses() ? " later and hidden." : " hidden.");
}

/// "÷ √32", "× 0.12", or "" for a factor of 1.
std::string factor_of(const FollowRun& r) {
    const float scale = r.trace.rule(r.head.block).scale;
    const Index d = r.config().d_head(r.head.block);
    if (scale == 1) return "";
    const bool root = std::abs(scale * std::sqrt(float(d)) - 1) < 1e-4f;
    return root ? "÷ √" + std::to_string(d) : "× " + decimals(double(scale), 3);
}

Node scale_step(const FollowRun& r) {
    const std::string factor = factor_of(r);
    Node out = columns_step("scale, mask", factor.empty() ? "the mask" : factor + ", then the mask",
                            "scale and mask", "scale");
    const KeyStep& k = r.steps.keys[r.key];
    const auto scores = of_allowed(r, [](const KeyStep& step) { return step.score; });
    out.bands = {{Band::Kind::heights, "score", factor, scores}};
    out.strip = strip_from(scores);
    out.measure = two(double(k.score));
    std::string worked = two(double(k.dot)) + (factor.empty() ? "" : " " + factor);
    if (k.capped != k.scaled) worked += ", bent to " + two(double(k.capped));
    if (k.bias != 0) worked += and_two(double(k.bias)) + " for the distance";
    if (k.edited) worked += ", set by you to " + two(double(k.before));
    if (k.score != k.before) worked += " ÷ " + two(double(r.steps.temperature)) + " (temperature)";
    out.worked_title = "The arithmetic of the bright column";
    out.worked = {worked, out.measure};
    const std::string divides =
        factor.empty() ? "This model does not divide: "
        : factor.starts_with("÷")
            ? "Divided by " + factor.substr(factor.find("√")) + ", so that softmax does not turn hard, "
            : "Times " + factor.substr(factor.find("×") + 3) + ", ";
    out.sentence = divides + two(double(k.dot)) + (k.score == k.dot ? " stays" : " becomes " + out.measure) +
                   "." + hidden_words(r);
    return out;
}

void explain_softmax(const FollowRun& r, Node& out) {
    const KeyStep& k = r.steps.keys[r.key];
    const bool shifted = r.steps.shift != 0;
    const std::string power = shifted ? "e^(" + two(double(k.score)) + " − " + two(r.steps.shift) + ")"
                                      : "e^" + two(double(k.score));
    out.worked_title = "The arithmetic of the bright column";
    const int digits = r.steps.sum < 100 ? 2 : 1;
    out.worked = {power + " = " + decimals(k.exp, digits) + "   ÷   " + decimals(r.steps.sum, digits) +
                      " (all " + std::to_string(r.steps.keys.size()) + " added)",
                  decimals(double(k.weight), 3)};
}

Node softmax_step(const FollowRun& r) {
    Node out = columns_step("softmax", "shares that sum to 1", "softmax", "database");
    const KeyStep& k = r.steps.keys[r.key];
    const auto weights = of_allowed(r, [](const KeyStep& step) { return step.weight; });
    const Band share{Band::Kind::shares, "weight", "sums to 1", weights, {}, 2};
    out.strip = strip_from(weights);
    out.look = Thread::Look::shares;
    out.measure = decimals(double(k.weight), 3);
    out.sentence = said(r.word()) + " gives " + percent(double(k.weight)) + " of its attention to " +
                   said_at(r.keys, r.key) + ". The other " + std::to_string(r.steps.keys.size() - 1) +
                   " words share what is left.";
    if (r.crosses() && r.predicts)
        out.sentence = "To write " + said(r.label(r.answer.token)) + " after " + said(r.word()) +
                       ", the decoder gives " + percent(double(k.weight)) + " of its attention to " +
                       said_at(r.keys, r.key) + ".";
    if (r.steps.keys.size() == 1) out.sentence = "There is one word to look at, so it gets all attention.";
    if (r.steps.weights_by == WeightsBy::given) {
        out.bands = {share};
        out.sentence += " The pattern is frozen: no score makes it.";
        return out;
    }
    if (r.steps.weights_by == WeightsBy::heaviest) {
        out.bands = {share};
        out.sentence = "At temperature 0 the highest score takes all: " + said_at(r.keys, r.key) + ".";
        return out;
    }
    out.bands = {
        {Band::Kind::heights, "score", factor_of(r),
         of_allowed(r, [](const KeyStep& step) { return step.score; })},
        {Band::Kind::numbers, "e to that", r.steps.shift != 0 ? "less " + two(r.steps.shift) : "power",
         of_allowed(r, [](const KeyStep& step) { return step.exp; })},
        share};
    explain_softmax(r, out);
    return out;
}

}  // namespace

std::vector<Thread::Node> follow_steps(const FollowRun& r) {
    std::vector<Node> out{embedding_step(r), position_step(r), norm_step(r),   query_key_step(r),
                          scores_step(r),    scale_step(r),    softmax_step(r)};
    for (Node& later : follow_later_steps(r)) out.push_back(std::move(later));
    return out;
}

}  // namespace headlight::learn
