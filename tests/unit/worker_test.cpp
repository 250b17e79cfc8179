// Tests the worker and its mailbox: the latest request wins, and failures become sentences.
#include "session/work/worker.h"

#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "base/check.h"
#include "helpers.h"
#include "session/session.h"
#include "session/work/mailbox.h"
#include "worker_bench.h"

using namespace headlight;

TEST_CASE("the mailbox: the latest request wins, and a newer one cancels") {
    Mailbox<int, int> box;
    box.put(1, Supersedes::nothing);
    box.put(2, Supersedes::nothing);
    CHECK(*box.take() == 2);
    CHECK(!box.cancel());
    CHECK(box.busy());
    box.put(3, Supersedes::questions);
    CHECK((!box.cancel() && box.cancel_questions()));
    box.put(3, Supersedes::everything);
    CHECK((box.cancel() && box.cancel_questions()));
    CHECK(*box.take() == 3);
    CHECK((!box.cancel() && !box.cancel_questions()));
    box.answer(std::make_shared<const int>(7), false);
    box.answer(std::make_shared<const int>(8), false);
    CHECK(*box.poll() == 8);
    CHECK(!box.poll());
    box.close();
    CHECK(!box.take());
}

TEST_CASE("the mailbox is not busy once the last answer can be read") {
    Mailbox<int, int> box;
    box.put(1, Supersedes::nothing);
    CHECK(*box.take() == 1);
    box.answer(std::make_shared<const int>(1), false);
    CHECK(box.busy());
    box.answer(std::make_shared<const int>(2), true);
    CHECK(!box.busy());
    box.put(2, Supersedes::nothing);
    CHECK(box.busy());
}

TEST_CASE("the mailbox under two threads loses nothing that matters") {
    Mailbox<int, int> box;
    std::thread worker([&] {
        while (const auto request = box.take()) box.answer(std::make_shared<const int>(*request), true);
    });
    for (int i = 1; i <= 20000; ++i) box.put(i, static_cast<Supersedes>(i % 3));
    int last = 0;
    while (last != 20000)
        if (const auto answer = box.poll()) {
            CHECK(*answer > last);
            last = *answer;
        }
    box.close();
    worker.join();
}

TEST_CASE("the worker answers the last request and survives a wrong path") {
    std::atomic<int> done{0};
    Worker worker(2, [&] { ++done; });
    const std::string good = (kTests / "reference/models/gpt2").string();
    const auto answer = [&](const WorkRequest& r, auto condition) { return answer_of(worker, r, condition); };
    const auto has = [](const char* text) {
        return [text](const WorkAnswer& a) {
            return a.sentence && a.sentence->text == text && a.sentence->trace && a.cell;
        };
    };
    WorkRequest r;
    r.model_path = good;
    r.block = 1;
    r.head = 2;
    r.cell = std::pair{0, 0};
    for (const char* typed : {"T", "Th", "The"}) {
        r.text = typed;
        worker.ask(r);
    }
    r.text = "The cat";
    const auto first = answer(r, has("The cat"));
    CHECK(first->block == 1);
    CHECK(first->picture->levels.back().rows() == 1);
    r.model_path = "/nowhere/at all";
    const auto failed = answer(r, [](const WorkAnswer& a) { return !a.model_error.empty(); });
    CHECK(failed->sentence->model->name == "gpt2");
    r.model_path = good;
    r.text = "";
    CHECK(answer(r, [](const WorkAnswer& a) { return a.sentence && a.sentence->text.empty(); })->picture ==
          nullptr);
    r.text = std::string(100'000, 'x');
    const auto longest = answer(r, [](const WorkAnswer& a) {
        return a.sentence && a.sentence->text.size() == 100'000 && a.sentence->trace;
    });
    CHECK(longest->sentence->trace->query_count(0) == 48);
    CHECK(longest->sentence->tokens_in_all > 48);
    CHECK(longest->sentence->bytes_read < 100'000);
}

TEST_CASE("worker: a failure keeps the old picture and is reported once; the next text is read again") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto condition) { return answer_of(worker, r, condition); };
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    const auto first = answer(r, [](const WorkAnswer& a) { return a.picture != nullptr; });
    Change change = *parse_change(first->sentence->model->config, "score:1>0@0.0=1");
    change.value = std::numeric_limits<float>::infinity();
    r.intervention.changes = {change};
    const auto failed = answer(r, [](const WorkAnswer& a) { return !a.failure.empty(); });
    CHECK(failed->failure.find("layer 0's outputs are not finite") != std::string::npos);
    CHECK((failed->sentence == first->sentence && failed->picture == first->picture));
    r.cell = std::pair{1, 0};
    CHECK(answer(r, [](const WorkAnswer& a) { return a.cell != nullptr; })->failure == failed->failure);
    r.intervention = {};
    r.text = "The dog sat";
    const auto next = answer(r, [](const WorkAnswer& a) { return a.sentence->text == "The dog sat"; });
    CHECK((next->failure.empty() && next->sentence->trace));
}

TEST_CASE("worker: a long text is shown progressively and ends as if read at once") {
    std::mutex mutex;
    std::vector<std::shared_ptr<const WorkAnswer>> seen;
    const auto sizes = [&] {
        std::lock_guard lock(mutex);
        std::vector<int> out;
        for (const auto& a : seen)
            if (a->sentence && a->sentence->trace && a->picture) {
                const int n = a->sentence->trace->output().size();
                if (out.empty() || out.back() != n) out.push_back(n);
                CHECK((a->sentence->complete == (n == 48) && a->picture->levels[0].rows() == n));
                CHECK((n == 48 || a->sentence->bytes_read < a->sentence->text.size()));
            }
        return out;
    };
    Worker* reader = nullptr;
    Worker worker(
        2,
        [&] {
            std::lock_guard lock(mutex);
            if (auto answer = reader ? reader->poll() : nullptr) seen.push_back(std::move(answer));
        },
        kMaxMapSide, 8);
    {
        std::lock_guard lock(mutex);
        reader = &worker;
    }
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    for (int i = 0; i < 40; ++i) r.text += "The cat sat on " + std::to_string(i) + ". ";
    const auto wait = [&](size_t count) {
        for (int i = 0; i < 2000 && (sizes().size() < count || worker.busy()); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    worker.ask(r);
    wait(4);
    CHECK(sizes() == std::vector{8, 16, 32, 48});

    Worker at_once(2, [] {});
    const auto whole = answer_of(at_once, r, [](const WorkAnswer& a) { return a.picture != nullptr; });
    const SentenceResult &a = *seen.back()->sentence, &b = *whole->sentence;
    CHECK(a.trace->normalized().all() == b.trace->normalized().all());
    CHECK((a.heads[AttentionHead{1, 2}].thumbnail == b.heads[AttentionHead{1, 2}].thumbnail));
    CHECK(a.bytes_read == b.bytes_read);

    r.text.insert(r.text.size() - 1, "!");  // the shown text does not shrink while it is edited
    worker.ask(r);
    wait(4);
    r.text = "A dog. " + r.text;
    r.cell = std::pair{20, 3};  // the first picture contains the selected cell
    worker.ask(r);
    wait(6);
    CHECK(sizes() == std::vector{8, 16, 32, 48, 32, 48});
}

TEST_CASE("worker: promoted tokens are computed when shown, also for the same cell") {
    Worker worker(2, [] {});
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    r.block = 1;
    r.cell = std::pair{2, 1};
    r.cell_tokens = false;
    const auto without = answer_of(worker, r, [](const WorkAnswer& a) { return a.cell != nullptr; })->cell;
    CHECK((!without->tokens_asked && without->promoted.empty() && without->suppressed.empty()));
    r.cell_tokens = true;
    const auto with =
        answer_of(worker, r, [](const WorkAnswer& a) { return a.cell && a.cell->tokens_asked; })->cell;
    CHECK((with->cell == without->cell && with->delta_norm == without->delta_norm));
    CHECK((!with->promoted.empty() && !with->suppressed.empty()));
}

TEST_CASE("worker: an exception becomes an error") {
    Worker worker(2, [] {});
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    const auto first = answer_of(worker, r, [](const WorkAnswer& a) { return a.picture != nullptr; });
    abort_on_failed_check(false);
    WordAlignmentRequest impossible;
    impossible.heads = {-5};
    r.questions = {impossible};
    const auto failed = answer_of(worker, r, [](const WorkAnswer& a) { return !a.failure.empty(); });
    abort_on_failed_check(true);
    CHECK(failed->failure.find("Headlight made a mistake") != std::string::npos);
    CHECK(failed->sentence == first->sentence);
    r.questions = {};
    CHECK(answer_of(worker, r, [](const WorkAnswer& a) { return a.failure.empty(); })->sentence ==
          first->sentence);
}

TEST_CASE("worker: a text too long for its map is shown as maxima of squares") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 41; ++i) ids.push_back(3 + i * 7 % 200);
    const auto trace = trace_of(model, ids, pool);
    const Matrix whole = masked_pattern(*trace, 1, 2);
    for (const bool drop : {false, true}) {
        const HeadPicture full = make_picture(*trace, {1, 2, drop}, pool),
                          small = make_picture(*trace, {1, 2, drop}, pool, 10);
        CHECK((full.step == 1 && small.step == 5 && small.levels[0].rows() == 9 &&
               small.levels[0].cols() == 9));
        if (!drop) CHECK((full.levels[0] - whole).cwiseAbs().maxCoeff() < 1e-6f);
        for (int q = 0; q < 41; ++q)
            for (int k = 0; k < 41; ++k) {
                CHECK(full.at(q, k) == full.levels[0](q, k));
                CHECK(small.at(q, k) == full.levels[0]
                                            .block(q / 5 * 5, k / 5 * 5, std::min(5, 41 - q / 5 * 5),
                                                   std::min(5, 41 - k / 5 * 5))
                                            .maxCoeff());
            }
        CHECK(small.largest == full.largest);
        CHECK(small.levels.back().size() == 1);
    }
}

TEST_CASE("worker: a second run to compare, a wrong model for it, a finished and a cancelled sweep") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto condition) { return answer_of(worker, r, condition); };
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    r.head = 1;
    r.other = OtherRun{"", 0, "The dog sat"};
    r.questions = {HeadPairRequest{{Versus::other, {}}, 0, 1, 0, 1}};
    const auto two = answer(r, [](const WorkAnswer& a) {
        return a.other && a.other->trace && a.found<HeadPairRequest>() &&
               a.found<HeadPairRequest>()->answer.map.a.size() > 0;
    });
    CHECK(two->other->text == "The dog sat");
    CHECK(two->other->model == two->sentence->model);
    r.other = OtherRun{(kTests / "reference/models/llama").string(), 1, "The cat sat"};
    CHECK(answer(r, [](const WorkAnswer& a) {
              return a.other && a.other->trace && a.other->model != a.sentence->model;
          })->other->model->name == "llama");
    r.other = OtherRun{"/nowhere", 2, "The cat sat"};
    const auto failed = answer(r, [](const WorkAnswer& a) { return !a.other_error.empty(); });
    CHECK(!failed->other);
    r.other.reset();
    r.jobs = {HeadSweep::Request{Metric{}}};
    const auto swept =
        answer(r, [](const WorkAnswer& a) { return a.job<HeadSweep>() && a.job<HeadSweep>()->ended(); });
    CHECK(swept->job<HeadSweep>()->found().effects->change.size() ==
          static_cast<size_t>(swept->sentence->model->config.head_count()));
    CHECK(swept->other_error.empty());
    ThreadPool pool(1);
    CHECK(swept->job<HeadSweep>()->found().effects->change ==
          head_effects(*swept->sentence->trace, nullptr, Metric{}, pool)->change);
    r.text = "The cat sat on the mat and the dog sat on the log";
    worker.ask(r);
    r.jobs.clear();
    CHECK(answer(r, [&](const WorkAnswer& a) { return a.sentence->text == r.text && !a.job<HeadSweep>(); }));
}
