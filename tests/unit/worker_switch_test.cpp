// Tests requests made for one model that reach the next.
#include "helpers.h"
#include "worker_bench.h"

using namespace headlight;

TEST_CASE("worker: a request for one model is not answered by the next") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto condition) { return answer_of(worker, r, condition); };
    WorkRequest r;
    r.model_path = (kTests / "reference/models/llama").string();
    r.text = "The cat sat";
    const auto first = answer(r, [](const WorkAnswer& a) { return a.picture != nullptr; });
    r.asked_of = first->sentence->model;
    for (const char* text : {"patch-resid:*@1=the ball", "patch-head:0@1.3", "freeze:1.3=the ball"})
        r.intervention.changes.push_back(*parse_change(r.asked_of->config, text));
    r.generation.request.forced = {60'000, 9};
    const Metric metric{MetricKind::logit, 60'000, -1, -1};
    r.jobs = {HeadSweep::Request{metric}};
    r.questions = {MetricRequest{metric}};
    const auto changed = answer(
        r, [&](const WorkAnswer& a) { return a.sentence && a.sentence->intervention == r.intervention; });
    CHECK(changed->sentence->trace);
    r.model_path = (kTests / "reference/models/bert").string();
    r.model_attempt = 1;
    const auto next =
        answer(r, [&](const WorkAnswer& a) { return a.sentence && a.sentence->model != r.asked_of; });
    CHECK((next->failure.empty() && next->text_error.empty() && !next->job<HeadSweep>() &&
           next->sentence->trace));
    CHECK((next->sentence->intervention == Intervention{} && next->sentence->asked.request.forced.empty()));
    CHECK(!next->sentence->unchanged);
}
