// Makes the last five steps of "Follow a word": from the values to the next word.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/follow/follow_run.h"
#include "learn/page_parts.h"
#include "model/heads.h"

namespace headlight::learn {

namespace {

using ThreadNode = Thread::Node;

std::string numbers_of(Index n) { return std::to_string(n) + (n == 1 ? " number" : " numbers"); }

Thread::Strip strip_row(const std::string& sign, const Vector& values, bool bright = false,
                        bool apart = false) {
    return {.sign = sign, .values = values, .measure = length(values), .bright = bright, .apart = apart};
}

Vector value_at(const FollowRun& r, int key) {
    return r.trace.v(r.head.block, r.head.head).row(key).transpose();
}

/// [entries, tokens]: values as columns, times their weights if `weighed`.
Matrix value_columns(const FollowRun& r, bool weighed) {
    Matrix out(r.config().d_value(r.head.block), isize(r.shown));
    for (int i = 0; i < isize(r.shown); ++i)
        out.col(i) = value_at(r, r.shown[i]) * (weighed ? r.steps.keys[r.shown[i]].weight : 1.0f);
    return out;
}

std::vector<float> weights_of(const FollowRun& r) {
    std::vector<float> out;
    for (const int key : r.shown) {
        const KeyStep& k = r.steps.keys[key];
        out.push_back(k.allowed || k.weight > 0 ? k.weight : std::nanf(""));
    }
    return out;
}

ThreadNode values_step(const FollowRun& r) {
    const float weight = r.steps.keys[r.key].weight;
    const Vector v = value_at(r, r.key), part = v * weight;
    ThreadNode out{"values", percent(double(weight)) + " of what " + said(r.keys[r.key]) + " offers",
                   length(part), part};
    out.title = "values";
    out.door = "hard-soft";
    out.sentence = "Each word offers " + numbers_of(v.size()) + ", its value; " + said(r.word()) + " takes " +
                   percent(double(weight)) + " of those of " + said_at(r.keys, r.key) + ".";
    out.bands = {{Thread::Band::Kind::shares, "weight", "", weights_of(r), {}, 2},
                 {Thread::Band::Kind::cells, "v", numbers_of(v.size()), {}, value_columns(r, false)}};
    out.worked_title = "What arrives from the bright column";
    out.below = {strip_row("v", v), strip_row("× " + decimals(double(weight), 3), part, true)};
    return out;
}

/// Writes an entry of z as the sum of its largest terms.
void explain_mixture(const FollowRun& r, const Vector& z, ThreadNode& out) {
    Index most = 0;
    z.cwiseAbs().maxCoeff(&most);
    std::vector<int> order(r.steps.keys.size());
    std::iota(order.begin(), order.end(), 0);
    const auto v = r.trace.v(r.head.block, r.head.head);
    const auto term = [&](int key) { return double(r.steps.keys[key].weight * v.row(key)[most]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(term(a)) > std::abs(term(b)); });
    std::string text;
    double rest = double(z[most]);
    const int named = std::min(2, isize(order));
    for (int i = 0; i < named; ++i) {
        rest -= term(order[i]);
        text += (i ? " + " : "") + decimals(double(r.steps.keys[order[i]].weight), 3) + " × " +
                factor(double(v.row(order[i])[most]));
    }
    if (isize(order) > named)
        text += and_two(rest) + " (the other " + std::to_string(isize(order) - named) + ")";
    out.worked_title = "Entry " + std::to_string(most) + ", the largest, from weights times values";
    out.worked = {text, two(double(z[most]))};
}

ThreadNode mixture_step(const FollowRun& r) {
    const Vector& z = r.steps.z;
    ThreadNode out{"z", "the mixture", length(z), z};
    out.title = "z, the mixture";
    out.door = "worked-example";
    out.bands = {{Thread::Band::Kind::shares, "weight", "", weights_of(r), {}, 2},
                 {Thread::Band::Kind::cells, "weight × v", "", {}, value_columns(r, true)}};
    out.below = {strip_row("z", z, true)};
    out.sentence = "The " + std::to_string(r.steps.keys.size()) +
                   " weighted values are added, row by row. The sum, z, is " + numbers_of(z.size()) +
                   ": mostly " + said(r.keys[r.key]) + ".";
    if (r.steps.keys[r.key].weight < 0.5f)
        out.sentence = "The weighted values are added, row by row. The sum, z, is " + numbers_of(z.size()) +
                       " mixed from many words.";
    if (r.steps.z_by == ZBy::weights) {
        explain_mixture(r, z, out);
        return out;
    }
    out.sentence = r.steps.z_by == ZBy::zero ? "You switched this head off: z is 0, whatever the values say."
                   : r.steps.z_by == ZBy::mean
                       ? "You replaced z by its mean over the text: the weights no longer count."
                       : "You replaced z: the weights no longer count.";
    return out;
}

ThreadNode output_step(const FollowRun& r) {
    constexpr int kMaxHeads = 10;
    const Vector added = r.trace.attn_out(r.head.block, r.query, 1, r.pool).row(0).transpose();
    const Matrix heads = r.trace.head_additions(r.head.block, r.query, r.pool);
    const int count = narrow<int>(heads.rows());
    ThreadNode out{"W_O", count == 1 ? "through W_O" : "all " + std::to_string(count) + " heads, joined",
                   length(added), added};
    out.title = "all heads through W_O";
    out.door = "qkv";
    out.heading = "length";
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        if ((a == r.head.head) != (b == r.head.head)) return a == r.head.head;
        return heads.row(a).norm() > heads.row(b).norm();
    });
    if (count > kMaxHeads) order.resize(kMaxHeads);
    std::sort(order.begin(), order.end());
    Vector rest = added;
    for (const int head : order) {
        out.strips.push_back(strip_row(head_name(r.config(), r.head.block, head), heads.row(head).transpose(),
                                       head == r.head.head));
        rest -= heads.row(head).transpose();
    }
    if (rest.norm() > 1e-4f * std::max(1.0f, added.norm()))
        out.strips.push_back(strip_row(count > kMaxHeads ? "others" : "bias", rest));
    out.strips.push_back(strip_row("= output", added, true, true));
    out.strips.back().framed = true;
    const Vector own = heads.row(r.head.head).transpose();
    out.sentence = "W_O turns the z of " + std::string(count == 1 ? "the head" : "each head") + " into " +
                   numbers_of(added.size()) + ", and their sum goes on. Head " +
                   head_name(r.config(), r.head) + " brings length " + length(own) + " of " + length(added) +
                   ".";
    if (r.steps.out_by == OutBy::skipped)
        out.sentence = "You switched this attention block off: nothing is added.";
    else if (r.steps.out_by == OutBy::given)
        out.sentence = "You replaced what this block adds; its heads no longer count.";
    return out;
}

/// Returns a row of a matrix of the stream, as a vector.
Vector at_query(const FollowRun& r, const Matrix& all) { return all.row(r.query).transpose(); }

/// Says what a layer adds beside attention and its MLP.
std::string rest_of(const FollowRun& r) {
    const StackConfig& stack = r.config().stacks[r.at.stack];
    if (stack.cross()) return "cross-attention";
    if (stack.beside()) return "the mixer beside attention";
    return stack.streams ? "the product beside attention, and the other streams"
                         : "the layer's own embedding and scale";
}

ThreadNode stream_step(const FollowRun& r) {
    const int stack = r.at.stack, layer = r.at.layer;
    const Vector before = at_query(r, r.trace.resid_before(r.head.block, r.pool)),
                 added = r.trace.attn_out(r.head.block, r.query, 1, r.pool).row(0).transpose(),
                 mlp = at_query(r, r.trace.mlp_out(stack, layer, r.pool)),
                 after = r.trace.resid_post(stack, layer).row(r.query).transpose();
    ThreadNode out{"add, MLP", "the heads, then the MLP", length(after), after};
    out.title = "added to the stream, twice";
    out.door = "parameters";
    out.heading = "length";
    const Vector sum = before + added;
    out.strips = {strip_row("stream", before), strip_row("+ output", added),
                  strip_row("= sum", sum, false, true)};
    if (const Vector normed = r.stage(ChainStep::next_norm); normed.size())
        out.strips.push_back(strip_row("norm", normed));
    out.strips.push_back(strip_row("+ MLP", mlp));
    out.strips.push_back(strip_row("= stream", after, true, true));
    out.strips.back().framed = true;
    Index most = 0;
    after.cwiseAbs().maxCoeff(&most);
    out.sentence = "What the heads found is added to " + said(r.word()) +
                   ", number by number; then the MLP works on it alone and adds its own. Length " +
                   length(before) + " becomes " + length(after) + ".";
    const float rest = after[most] - before[most] - added[most] - mlp[most];
    out.worked_title = "Entry " + std::to_string(most) + ", the largest of the new stream";
    std::string text = two(double(before[most])) + and_two(double(added[most])) + and_two(double(mlp[most]));
    if (const LayerSpec& spec = r.config().layer_of(r.head.block); std::abs(rest) >= 0.005f)
        text += spec.norms_sum() ? ", each sum evened out" : and_two(double(rest)) + " (" + rest_of(r) + ")";
    out.worked = {text, two(double(after[most]))};
    return out;
}

/// Says where a block's stream goes if no word is predicted from it.
ThreadNode unpredicted(const FollowRun& r) {
    const Vector last = r.trace.stack(r.at.stack).normalized.row(r.query).transpose();
    ThreadNode out{"logits", "no word is predicted here", length(last), last};
    out.title = "the block's output";
    out.door = "formation";
    out.heading = "length";
    out.strips = {strip_row(r.word(), last, true)};
    const bool encodes = r.at.stack + 1 < isize(r.config().stacks), fills = r.config().can.fill_masks;
    out.sentence = encodes ? "After the last block the decoder reads " + said(r.word()) + " as these " +
                                 numbers_of(last.size()) + "; this half of the model predicts no word."
                   : fills && r.trace.model->has_logits()
                       ? "This model fills in masked words only; select a [MASK] token to see its prediction."
                       : "This model ends here, in " + numbers_of(last.size()) + " for " + said(r.word()) +
                             "; it predicts no word.";
    return out;
}

std::string place_of_layer(int layer) { return layer == 0 ? "E" : "block " + std::to_string(layer - 1); }

/// Shows the probability of the answer after each layer, of a long model after some of them.
void show_layers(const FollowRun& r, ThreadNode& out) {
    constexpr int kMost = 9;
    const std::vector<float>& p = r.answer.after_layer;
    const int count = isize(p), here = r.at.layer + 1, step = (count + kMost - 1) / kMost;
    for (int i = 0; i < count; ++i) {
        if (i != here && i + 1 != count && (i % step != 0 || std::abs(i - here) < step / 2)) continue;
        out.columns.push_back(
            {place_of_layer(i), p[i], percent(double(p[i])), "says " + r.says[i], i == here, {p[i]}});
    }
    out.columns_are = "p of " + said(r.label(r.answer.token)) + " if the model stopped here";
}

std::string arrived(const FollowRun& r, const std::string& says) {
    const std::vector<float>& p = r.answer.after_layer;
    const int here = r.at.layer + 1;
    const std::string was =
        "Before block " + std::to_string(r.at.layer) + " it was " + percent(double(p[here - 1]));
    if (p[here] - p[here - 1] > 0.3f) return says + was + ", so this is the block where the word arrived.";
    return says + was + ", after it " + percent(double(p[here])) + ".";
}

ThreadNode logits_step(const FollowRun& r) {
    if (!r.predicts) return unpredicted(r);
    const std::string answer = r.label(r.answer.token);
    ThreadNode out{"logits", r.config().can.fill_masks ? "which word is masked" : "which word comes next",
                   percent(double(r.answer.probability))};
    out.strip = Vector::Constant(1, r.answer.probability);
    out.look = Thread::Look::bar;
    out.title = "logits";
    out.door = "formation";
    show_layers(r, out);
    const std::string share = percent(double(r.answer.probability)) + ". ";
    out.sentence = arrived(r, (r.config().can.fill_masks ? "Behind " + said(r.word()) + " it reads "
                                                         : "After " + said(r.word()) + " comes ") +
                                  said(answer) + ": " + share);
    out.bars_are = "Every word has a logit; softmax makes shares of them, as in step 7";
    out.heading = "logit, p";
    out.numbers_are = {"p", "logit"};
    const float largest = r.logits[r.answer.tokens.front().id];
    for (const Prediction& one : r.answer.tokens) {
        const float logit = r.logits[one.id];
        out.bars.push_back({r.label(one.id),
                            std::clamp(logit / std::max(largest, 1e-6f), 0.0f, 1.0f),
                            percent(double(one.probability)),
                            two(double(logit)),
                            one.id == r.answer.token,
                            {one.probability, logit}});
    }
    return out;
}

}  // namespace

std::vector<Thread::Node> follow_later_steps(const FollowRun& r) {
    return {values_step(r), mixture_step(r), output_step(r), stream_step(r), logits_step(r)};
}

}  // namespace headlight::learn
