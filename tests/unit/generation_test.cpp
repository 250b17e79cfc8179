// Tests generation: decoding against an exhaustive search, rules, and the window's worker; alignments and
// positions by hand.
#include <cmath>
#include <limits>
#include <mutex>

#include "analysis/attention/layer_patterns.h"
#include "analysis/attention/positions.h"
#include "analysis/comparison/word_alignment.h"
#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "helpers.h"
#include "model/input.h"
#include "session/work/worker.h"

using namespace headlight;

namespace {

ForwardRequest source_of(const Model& model, std::vector<int> ids) {
    ForwardRequest r = request_of(std::move(ids));
    Sequence start;
    start.ids = {model.config.start_id};
    start.tokens = {"<start>"};
    r.inputs.push_back(std::move(start));
    return r;
}

double log_probability(const std::shared_ptr<const Model>& model, ForwardRequest request,
                       const std::vector<int>& ids, ThreadPool& pool) {
    double sum = 0;
    for (const int id : ids) {
        const auto trace = *run_trace(model, request, pool);
        sum += std::log(probabilities_at(*trace, request.inputs.back().size() - 1, pool)[id]);
        append_token(*model, request.inputs.back(), id);
    }
    return sum;
}

}  // namespace

TEST_CASE("generation: greedy takes the most probable token at each step and keeps alternatives") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {5, 9, 200, 0});
    const Generation w = *generate(model, request, {{}, 5, {}}, pool);
    ForwardRequest growing = request;
    double sum = 0;
    for (const GeneratedToken& token : w.tokens) {
        const auto trace = *run_trace(model, growing, pool);
        const Vector p = probabilities_at(*trace, growing.inputs.back().size() - 1, pool);
        CHECK(token.alternatives.size() == kAlternatives);
        CHECK(token.probability == doctest::Approx(p[token.id]).epsilon(1e-4));
        CHECK(token.alternatives[0].probability == doctest::Approx(p.maxCoeff()).epsilon(1e-4));
        sum += std::log(p[token.id]);
        append_token(*model, growing.inputs.back(), token.id);
    }
    CHECK(w.score == doctest::Approx(sum / double(w.tokens.size())).epsilon(1e-3));
    CHECK(w.trace->output().size() == isize(w.tokens));  // it has read all but the last
}

TEST_CASE(
    "generation: with as many beams as there are choices, beam search finds the best text of two tokens") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {7, 7, 31, 0});
    const Generation w = *generate(model, request, {{0, 0, 1, 0, kMaxBeams, 1}, 2, {}}, pool);
    const auto trace = *run_trace(model, request, pool);
    const Vector first = probabilities_at(*trace, 0, pool);
    double best = -1e9;
    for (const int a : ranked_ids(first, kMaxBeams)) {
        ForwardRequest next = request;
        append_token(*model, next.inputs.back(), a);
        const auto read = *run_trace(model, next, pool);
        const Vector second = probabilities_at(*read, 1, pool);
        best = std::max(best, (std::log(double{first[a]}) + std::log(double{second.maxCoeff()})) / 2);
    }
    CHECK(w.score == doctest::Approx(best).epsilon(1e-3));
    CHECK(w.score >= generate(model, request, {{}, 2, {}}, pool)->score - 1e-5f);
}

TEST_CASE("generation: forced tokens come first, each with its probability in the model") {
    ThreadPool pool(1);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {5, 9, 0});
    for (const int beams : {1, 3}) {
        const Generation w = *generate(model, request, {{0, 0, 1, 0, beams, 1}, 6, {33, 44}}, pool);
        REQUIRE(w.tokens.size() >= 2);
        CHECK(w.tokens[0].id == 33);
        CHECK(w.tokens[1].id == 44);
        CHECK(std::log(w.tokens[0].probability) + std::log(w.tokens[1].probability) ==
              doctest::Approx(log_probability(model, request, {33, 44}, pool)).epsilon(1e-3));
    }
}

TEST_CASE("generation: draws follow the probabilities after temperature, top k and top p") {
    Vector logits(4);
    logits << std::log(0.5f), std::log(0.25f), std::log(0.15f), std::log(0.1f);
    const auto shares = [&](const SamplingParams& d) {
        std::array<int, 4> counts{};
        for (int i = 0; i < 1000; ++i) ++counts[draw_token(logits, d, (i + 0.5) / 1000)];
        return counts;
    };
    CHECK(shares({1}) == std::array<int, 4>{500, 250, 150, 100});
    CHECK(shares({1, 2}) == std::array<int, 4>{667, 333, 0, 0});
    CHECK(shares({1, 0, 0.7f}) == std::array<int, 4>{667, 333, 0, 0});
    CHECK(shares({1, 3, 0.8f}) == std::array<int, 4>{667, 333, 0, 0});  // of the three, 0.5 + 0.25 are 0.83
    CHECK(shares({1, 0, 0}) == std::array<int, 4>{1000, 0, 0, 0});
    CHECK(shares({0.5f})[0] == 725);  // 0.25 / (0.25 + 0.0625 + 0.0225 + 0.01)
    CHECK(shares({0}) == std::array<int, 4>{1000, 0, 0, 0});
}

TEST_CASE("generation rules: one id, a list, lists of one id; phrases are ignored, nonsense is refused") {
    GenerationConfig r;
    REQUIRE(parse_generation_config(
        Json::parse(
            R"({"eos_token_id": [2, 7], "bad_words_ids": [[5], [1, 2], [9]], "suppress_tokens": [3], "forced_bos_token_id": 4})"),
        "x", r));
    CHECK(r.eos_token_ids == std::vector<int>{2, 7});
    CHECK(r.suppress_tokens == std::vector<int>{5, 9, 3});
    CHECK(r.forced_bos_token_id == 4);
    REQUIRE(parse_generation_config(Json::parse(R"({"eos_token_id": 1})"), "x", r));
    CHECK(r.eos_token_ids == std::vector<int>{1});
    CHECK(r.suppress_tokens.size() == 3);  // missing entries stay unchanged
    for (const char* bad : {R"({"eos_token_id": "x"})", R"({"bad_words_ids": [["a"]]})",
                            R"({"eos_token_id": 99999999999})", "[]"})
        CHECK(!parse_generation_config(Json::parse(bad), "x", r));
    CHECK(translator()->config.generation.suppress_tokens == std::vector<int>{translator()->config.pad_id});
}

TEST_CASE(
    "worker: the translator writes its target; a step reads a part of it; forced tokens come first; "
    "a typed target is read as it is") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto&& fits) {
        worker.ask(r);
        for (int i = 0; i < 2000; ++i) {
            if (const auto a = worker.poll(); a && a->sentence && a->sentence->trace &&
                                              a->sentence->complete && a->sentence->asked == r.generation &&
                                              a->sentence->second == r.second && fits(*a))
                return a;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        FAIL("no such answer");
        return std::shared_ptr<const WorkAnswer>();
    };
    const auto any = [](const WorkAnswer&) { return true; };
    WorkRequest r;
    r.model_path = (kTests.parent_path() / "models/translator").string();
    r.text = "The cat sat on the mat.";
    const auto whole = answer(r, any);
    REQUIRE(whole->sentence->written);
    const WrittenText& w = *whole->sentence->written;
    CHECK(w.text == "Die Katze saß auf der Matte.");
    CHECK(w.generation.ended);
    CHECK(whole->sentence->trace->output().size() == w.steps() + 1);
    CHECK(whole->sentence->predictions[0].tokens[0].label == "</s>");
    r.generation.step = 2;
    const auto part = answer(r, any);
    CHECK(part->sentence->written == whole->sentence->written);  // not generated again
    CHECK(part->sentence->step == 2);
    CHECK(part->sentence->trace->output().size() == 3);
    r.generation = {};
    r.generation.request.forced = {w.generation.tokens[0].alternatives[1].id};
    const auto forced = answer(r, any);
    CHECK(forced->sentence->written->generation.tokens[0].id == r.generation.request.forced[0]);
    r.generation = {};
    r.second = "Die Katze";
    const auto typed = answer(r, any);
    CHECK(typed->sentence->written->labels ==
          std::vector<std::string>{"Die", "Katze"});  // forced: each token still has its probability
    CHECK(typed->sentence->written->generation.tokens[1].probability > 0.5f);
    CHECK(typed->sentence->trace->output().size() == 3);
    r.second.clear();
    Change ablate;
    ablate.block = 8;
    ablate.head = 0;
    r.intervention.changes = {ablate};
    const auto changed = answer(r, [](const WorkAnswer& a) { return a.sentence->unchanged != nullptr; });
    CHECK(changed->sentence->unchanged->output().ids ==
          changed->sentence->trace->output().ids);  // both read the changed run's output
}

TEST_CASE("worker: a decoder writes on only where it was asked to") {
    Worker worker(2, [] {});
    WorkRequest r;
    r.model_path = (kTests.parent_path() / "models/stories").string();
    r.text = "Once upon a time";
    r.generation.continues = true;
    r.generation.request.length = 5;
    worker.ask(r);
    std::shared_ptr<const WorkAnswer> a;
    for (int i = 0; i < 2000 && !(a && a->sentence && a->sentence->written && a->sentence->complete); ++i) {
        if (auto fresh = worker.poll()) a = fresh;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    REQUIRE(a->sentence->written);
    const int given = a->sentence->written->given;
    CHECK(a->sentence->trace->output().size() == given + 5);
    CHECK(a->sentence->written->generation.tokens.size() == 5);
    r.generation.continues = false;
    worker.ask(r);
    for (int i = 0; i < 2000 && a->sentence->written; ++i) {
        if (auto fresh = worker.poll(); fresh && fresh->sentence && fresh->sentence->asked == r.generation)
            a = fresh;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(!a->sentence->written);
    CHECK(a->sentence->trace->output().size() == given);
}

TEST_CASE("worker: a text is shown while it is written, each time as if read so far") {
    std::mutex mutex;
    std::vector<std::shared_ptr<const WorkAnswer>> seen;
    Worker* reader = nullptr;
    Worker worker(
        2,
        [&] {  // after every answer, on the worker's thread
            const std::lock_guard lock(mutex);
            if (reader)
                if (auto a = reader->poll()) seen.push_back(std::move(a));
        },
        kMaxMapSide, 1024, std::chrono::milliseconds(0));
    {
        const std::lock_guard lock(mutex);
        reader = &worker;
    }
    WorkRequest r;
    r.model_path = (kTests.parent_path() / "models/stories").string();
    r.text = "Once upon a time";
    r.generation.continues = true;
    r.generation.request.length = 8;
    worker.ask(r);
    const auto whole = [&]() -> std::shared_ptr<const SentenceResult> {
        const std::lock_guard lock(mutex);
        if (seen.empty() || !seen.back()->sentence) return nullptr;
        const auto& last = seen.back()->sentence;
        return last->complete && last->written ? last : nullptr;
    };
    for (int i = 0; i < 4000 && !whole(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto all = whole();
    REQUIRE(all);
    const std::lock_guard lock(mutex);
    int partly = 0;
    for (const auto& answer : seen) {
        const SentenceResult* s = answer->sentence.get();
        if (!s || s->complete || !s->written) continue;
        ++partly;
        const int given = all->written->given, n = s->trace->output().size();
        CHECK(n == given + s->step);
        CHECK(s->step < all->step);
        for (int i = 0; i < n; ++i) CHECK(s->trace->output().ids[i] == all->trace->output().ids[i]);
        const Matrix now = s->trace->pattern(1, 2), then = all->trace->pattern(1, 2);
        CHECK((now - then.topLeftCorner(n, n)).cwiseAbs().maxCoeff() < 1e-6f);
    }
    CHECK(partly > 0);
}
