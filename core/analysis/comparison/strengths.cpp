// Runs a text at strengths of an adapter, the coarse ones first.
#include "analysis/comparison/strengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/cast.h"
#include "base/pace.h"
#include "base/quoted.h"
#include "model/loading/adapter.h"

namespace headlight {

namespace {

constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();
constexpr int kBase = 10, kTrained = 20;  // the points of strengths 0 and 1
static_assert(StrengthCurve::kLast - StrengthCurve::kFirst == 3 && StrengthCurve::kCount == 31);

/// Orders the points so that each halves the widest gap of those before.
std::vector<int> coarse_first() {
    std::vector<int> out{kBase, kTrained, 0, StrengthCurve::kCount - 1};
    std::vector<std::pair<int, int>> gaps{
        {0, kBase}, {kBase, kTrained}, {kTrained, StrengthCurve::kCount - 1}};
    for (size_t i = 0; i < gaps.size(); ++i) {
        const auto [from, to] = gaps[i];
        const int middle = (from + to) / 2;
        if (middle == from) continue;
        out.push_back(middle);
        gaps.insert(gaps.end(), {{from, middle}, {middle, to}});
    }
    return out;
}

/// Holds what the curve is made of, all probabilities at each measured strength.
struct MeasuredPoints {
    StrengthCurve curve;
    std::map<int, Vector> probabilities;  // [vocab], by point

    MeasuredPoints() {
        curve.values.assign(StrengthCurve::kCount, kNoValue);
        curve.first.assign(StrengthCurve::kCount, -1);
    }
    void add(int point, const Vector& logits, float value);
    std::vector<int> kept_tokens() const;
    void update_tokens(const Model& model);
};

void MeasuredPoints::add(int point, const Vector& logits, float value) {
    Vector p = headlight::probabilities(logits);
    curve.first[size_t(point)] = ranked_ids(p, 1)[0];
    curve.values[size_t(point)] = value;
    probabilities[point] = std::move(p);
    ++curve.done;
}

/// Returns the tokens to keep, in the order of strengths.
std::vector<int> MeasuredPoints::kept_tokens() const {
    std::vector<int> all;
    for (const int id : curve.first)
        if (id >= 0 && !contains(all, id)) all.push_back(id);
    const auto weight = [&](int id) {
        const bool marked = id == curve.first[kBase] || id == curve.first[kTrained];
        return std::count(curve.first.begin(), curve.first.end(), id) + (marked ? StrengthCurve::kCount : 0);
    };
    std::vector<int> ranked = all;
    std::stable_sort(ranked.begin(), ranked.end(), [&](int a, int b) { return weight(a) > weight(b); });
    ranked.resize(std::min(ranked.size(), StrengthCurve::kMaxTokens));
    std::erase_if(all, [&](int id) { return !contains(ranked, id); });
    return all;
}

void MeasuredPoints::update_tokens(const Model& model) {
    curve.tokens.clear();
    for (const int id : kept_tokens()) {
        StrengthToken token{id, prediction_label(model, id),
                            std::vector<float>(StrengthCurve::kCount, kNoValue)};
        for (const auto& [point, p] : probabilities) token.probabilities[size_t(point)] = p[id];
        curve.tokens.push_back(std::move(token));
    }
}

}  // namespace

float StrengthCurve::strength(int point) { return float(point + int(std::lround(kFirst * 10))) / 10; }

int StrengthCurve::point_at(float strength) {
    return int(std::lround((std::clamp(strength, kFirst, kLast) - kFirst) * 10));
}

const StrengthToken* StrengthCurve::token(int id) const {
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [id](const StrengthToken& token) { return token.id == id; });
    return found == tokens.end() ? nullptr : &*found;
}

Result<StrengthCurve> strength_curve(const Trace& shown, const Metric& wanted, ThreadPool& pool,
                                     const CancelFlag* cancel,
                                     const std::function<void(const StrengthCurve&)>& seen) {
    const Model& model = *shown.model;
    if (!model.adapter)
        return Error{printable(model.name) + " has no adapter; name one with --adapter, or drop its folder."};
    if (!model.has_logits()) return predicts_nothing(model);
    const CancelScope scope(pool, cancel);
    MeasuredPoints now;
    Vector of_base;
    for (const int point : coarse_first()) {
        TRY(const auto at, model.at_strength(StrengthCurve::strength(point)));
        TRY(const auto run, run_trace(at, shown.request, pool, cancel));
        if (point == kBase) {
            TRY(now.curve.metric, resolved(wanted, *run, pool));
        }
        const Vector logits = logits_at(*run, now.curve.metric.position, pool);
        if (stopped(cancel)) return cancelled();
        if (point == kBase) of_base = logits;
        now.add(point, logits, evaluate(now.curve.metric, logits, of_base).value);
        now.update_tokens(model);
        if (seen) seen(now.curve);
    }
    return now.curve;
}

bool StrengthsRequest::same_for(const Trace& a, const Trace& b) {
    return a.model->store == b.model->store && a.model->adapter && b.model->adapter &&
           a.model->adapter->info().folder == b.model->adapter->info().folder &&
           a.request.inputs == b.request.inputs && a.request.intervention == b.request.intervention;
}

Result<StrengthsFound> measure_strengths(const Runs& runs, const StrengthsRequest& request, ThreadPool& pool,
                                         const CancelFlag* cancel,
                                         const std::function<void(StrengthsFound)>& seen) {
    Pace pace(std::chrono::milliseconds(50));
    TRY(StrengthCurve curve,
        strength_curve(runs.shown, request.metric, pool, cancel, [&](const StrengthCurve& now) {
            if (seen && pace.is_due()) seen({std::make_shared<const StrengthCurve>(now), ""});
        }));
    return StrengthsFound{std::make_shared<const StrengthCurve>(std::move(curve)), ""};
}

std::string strength_summary(const StrengthCurve& curve, const Model& model) {
    constexpr int kMaxChanges = 3;
    if (curve.done < StrengthCurve::kCount) return "";
    std::vector<int> predicted{curve.first[kBase]};
    const std::string of_base = prediction_label(model, predicted[0]);
    std::string out;
    for (int point = kBase + 1; point < StrengthCurve::kCount && isize(predicted) <= kMaxChanges; ++point) {
        const int now = curve.first[size_t(point)];
        if (now == predicted.back()) continue;
        out += std::string(out.empty() ? " From " : ", from ") + decimals(StrengthCurve::strength(point), 1) +
               " on " + (out.empty() ? "the model predicts " : "") + prediction_label(model, now) +
               (contains(predicted, now) ? " again" : "");
        predicted.push_back(now);
    }
    if (out.empty()) return "The model predicts " + of_base + " at every strength from 0 to 2.";
    return "The base predicts " + of_base + "." + out + ".";
}

}  // namespace headlight
