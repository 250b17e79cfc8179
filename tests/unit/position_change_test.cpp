// Tests positions switched off or shuffled: under full attention, moving a text's positions permutes it.
#include <numeric>

#include "base/draws.h"
#include "changed.h"
#include "model/input.h"

using namespace headlight;

namespace {

/// Runs one stack over its ids, every query attending to every key.
std::shared_ptr<const Trace> run_unmasked(const std::shared_ptr<const Model>& model,
                                          const std::vector<int>& ids, const std::string& change,
                                          ThreadPool& pool) {
    ForwardRequest request = request_of(ids);
    if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4}).inputs[0]);
    request.intervention.mask = *Mask::parse("none");
    if (!change.empty()) request.intervention.changes.push_back(*parse_change(model->config, change));
    return *run_trace(model, request, pool);
}

/// Models with learned, rotary, ALiBi, relative and sinusoidal positions, of one stack or two.
constexpr const char* kSchemes[] = {"gpt2", "bert", "llama", "phi", "bloom", "t5", "marian", "bart"};

/// Returns the distance between the tokens of `a` and those of `b` at other positions, relative to their
/// size.
float apart(const Trace& a, const Trace& b, const std::vector<int>& places) {
    const Matrix x = a.stack(0).resid_final.all(), y = b.stack(0).resid_final.all();
    float out = 0;
    for (int i = 0; i < isize(places); ++i)
        out = std::max(out, (x.row(i) - y.row(places[i])).cwiseAbs().maxCoeff());
    return out / x.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("positions: a shuffled text equals its tokens in that order, in every scheme") {
    ThreadPool pool(2);
    const std::vector<int> order = shuffled_as_it_grows(isize(kIds), 7);
    std::vector<int> moved(kIds.size());
    for (int i = 0; i < isize(order); ++i) moved[order[i]] = kIds[i];
    for (const char* name : kSchemes) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto shuffled = run_unmasked(model, kIds, "positions:shuffle:7", pool);
        CHECK(shuffled->rule(0).positions.shuffled == order);
        CHECK(apart(*shuffled, *run_unmasked(model, moved, "", pool), order) < 1e-5f);
        CHECK(apart(*shuffled, *run_unmasked(model, kIds, "", pool), order) > 1e-3f);
    }
}

TEST_CASE("positions: switched off, order has no effect, in every scheme") {
    ThreadPool pool(2);
    const std::vector<int> order = shuffled_as_it_grows(isize(kIds), 3);
    std::vector<int> moved(kIds.size());
    for (int i = 0; i < isize(order); ++i) moved[order[i]] = kIds[i];
    for (const char* name : kSchemes) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto off = run_unmasked(model, kIds, "positions:off", pool);
        CHECK(apart(*off, *run_unmasked(model, moved, "positions:off", pool), order) < 1e-5f);
        CHECK(apart(*off, *run_unmasked(model, kIds, "", pool), order) > 1e-3f);
    }
}

TEST_CASE("positions: of one stack alone, and the last change counts") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const int decoder = model->config.stacks[0].depth();
    const auto one = changed(model, {"positions:off@encoder", "positions:shuffle:2@decoder"}, pool);
    CHECK(one->rule(0).positions.off);
    CHECK(one->rule(decoder).positions.shuffled == shuffled_as_it_grows(4, 2));
    const auto last = changed(model, {"positions:off", "positions:shuffle:2"}, pool);
    CHECK(!last->rule(0).positions.off);
    CHECK(last->rule(0).positions.shuffled == shuffled_as_it_grows(10, 2));
}

TEST_CASE("positions: a growing permutation changes in one element") {
    for (int n = 1; n < 40; ++n) {
        const auto before = shuffled_as_it_grows(n, 5), now = shuffled_as_it_grows(n + 1, 5);
        int differ = 0;
        for (int i = 0; i < n; ++i) differ += before[i] != now[i];
        CHECK(differ <= 1);
        std::vector<int> all = now, numbers(n + 1);
        std::sort(all.begin(), all.end());
        std::iota(numbers.begin(), numbers.end(), 0);
        CHECK(all == numbers);
    }
}

TEST_CASE("positions: a score's bias is that of the two positions") {
    ThreadPool pool(1);
    for (const char* name : {"bloom", "t5"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto own = run_unmasked(model, kIds, "", pool),
                   shuffled = run_unmasked(model, kIds, "positions:shuffle:7", pool);
        const std::vector<int> order = shuffled->rule(0).positions.shuffled;
        Matrix before = Matrix::Zero(10, 10), now = before;
        own->rule(0).bias.add(1, 0, 0, before);
        shuffled->rule(0).bias.add(1, 0, 0, now);
        for (int q = 0; q < 10; ++q)
            for (int k = 0; k < 10; ++k) CHECK(now(q, k) == before(order[q], order[k]));
        CHECK(!run_unmasked(model, kIds, "positions:off", pool)->rule(0).has_bias());
    }
}
