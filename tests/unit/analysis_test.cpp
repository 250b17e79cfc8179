#include <cmath>
#include <limits>
#include <thread>

#include "analysis/cell.h"
#include "analysis/generate.h"
#include "analysis/head_stats.h"
#include "analysis/links.h"
#include "base/cast.h"
#include "base/check.h"
#include "figure/figure.h"
#include "helpers.h"
#include "session/mailbox.h"
#include "session/session.h"
#include "session/worker.h"
#include "session/workspace.h"

using namespace headlight;

namespace {
/// Asks, and waits for the first answer that the condition holds for.
template <class Condition>
std::shared_ptr<const WorkAnswer> answer_of(Worker& worker, const WorkRequest& request,
                                            const Condition& condition) {
    worker.ask(request);
    for (int i = 0; i < 2000; ++i) {
        if (const auto a = worker.poll(); a && condition(*a)) return a;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("no answer");
    return nullptr;
}

float statistic(const char* key, std::vector<float> row, int q, std::vector<int> ids) {
    return find_statistic(key)->of_query(row, q, ids);
}
}  // namespace

TEST_CASE("statistics of one query, by hand") {
    const std::vector<int> ids{7, 8, 7, 9};
    CHECK(statistic("entropy", {0.5f, 0.25f, 0.25f, 0}, 2, ids) == doctest::Approx(1.5));
    CHECK(statistic("entropy", {1, 0, 0, 0}, 2, ids) == doctest::Approx(0));
    CHECK(statistic("previous", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.6));
    CHECK(std::isnan(statistic("previous", {1, 0, 0, 0}, 0, ids)));
    CHECK(statistic("first", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.1));
    CHECK(statistic("self", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.3));
    CHECK(statistic("duplicate", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.1));  // id 7 stood at 0
    CHECK(statistic("induction", {0.1f, 0.6f, 0.3f, 0}, 2, ids) ==
          doctest::Approx(0.6));  // what followed it stands at 1
    CHECK(std::isnan(statistic("induction", {0.1f, 0.6f, 0.3f, 0}, 3, ids)));
    CHECK(statistic("distance", {0.5f, 0, 0.5f, 0}, 2, ids) == doctest::Approx(1));
}

TEST_CASE("summaries agree with the patterns, and thumbnails keep the largest") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 45; ++i) ids.push_back(i * 11 % 420);
    const auto trace = trace_of(model, ids, pool);
    const auto heads = summarize_heads(*trace, 8, pool);
    REQUIRE(heads);
    for (int i = 0; i < isize(*heads); ++i) {
        const Matrix p = trace->pattern(i / 4, i % 4);
        const Matrix& t = (*heads)[i].thumbnail;
        CHECK(t.rows() == 8);
        for (int r = 0; r < 8; ++r)
            for (int c = 0; c < 8; ++c) {
                const auto first = [](int entry) { return entry * 45 / 8; };
                const auto block =
                    p.block(first(r), first(c), first(r + 1) - first(r), first(c + 1) - first(c));
                if (c > r)
                    CHECK(t(r, c) == -1.0f);
                else
                    CHECK(t(r, c) == doctest::Approx(block.maxCoeff()));
            }
        double previous = 0;
        for (int q = 1; q < 45; ++q) previous += p(q, q - 1);
        CHECK((*heads)[i].statistics[1] == doctest::Approx(previous / 44).epsilon(1e-4));
    }
}

TEST_CASE("links: the heaviest keys that make up the share, and no more of them than asked") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9, 77, 300}, pool);
    const auto links = answer(*trace, LinksWanted{1, 0.7f}, pool);
    REQUIRE(links);
    for (int h = 0; h < 4; ++h) {
        const Matrix p = trace->pattern(1, h);
        for (int q = 0; q < 8; ++q) {
            const auto& row = links->of_head[h][q];
            float mass = 0, before_last = 0;
            for (const Link& link : row) {
                CHECK(link.weight == p(q, link.key));
                before_last = mass;
                mass += link.weight;
            }
            CHECK(row[0].weight == p.row(q).maxCoeff());
            CHECK(before_last < 0.7f);
            CHECK(mass >= 0.7f);
        }
    }
}

TEST_CASE("head colours are the design's, dark and light") {
    const char* dark[] = {"#F98F87", "#E5A14B", "#AFBB52", "#5ACA94",
                          "#00C8D8", "#6DB6FF", "#B7A0FB", "#E88FCB"};
    const char* light[] = {"#AB413E", "#9A5600", "#687100", "#00804C",
                           "#007E8F", "#116BB5", "#7055B0", "#9B4382"};
    for (int h = 0; h < 8; ++h)
        for (const bool on_dark : {true, false}) {
            const Rgb c = head_color(h, 8, on_dark), want = parse_hex(on_dark ? dark[h] : light[h]);
            CHECK(std::abs(c.r - want.r) <= 1);
            CHECK(std::abs(c.g - want.g) <= 1);
            CHECK(std::abs(c.b - want.b) <= 1);
        }
}

TEST_CASE("halving keeps the largest, odd ends included") {
    Matrix m(3, 3);
    m << 1, 2, 3, 4, 5, 6, 7, 8, -1;
    const Matrix h = halve(m);
    CHECK(h(0, 0) == 5);
    CHECK(h(0, 1) == 6);
    CHECK(h(1, 0) == 8);
    CHECK(h(1, 1) == -1);
}

TEST_CASE("the inspector's numbers agree with the trace") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9}, pool);
    const CellReport r = report_cell(*trace, {1, 2, 4, 3}, pool);
    const Matrix p = trace->pattern(1, 2);
    CHECK(r.weight == doctest::Approx(p(4, 3)));
    CHECK(r.score == doctest::Approx(trace->scores(1, 2)(4, 3)).epsilon(1e-4));
    CHECK(r.dot == doctest::Approx(r.score * std::sqrt(12.0)).epsilon(1e-4));
    CHECK(r.allowed);
    CHECK(!report_cell(*trace, {1, 2, 3, 4}, pool).allowed);
    CHECK(r.row.size() == 5);
    CHECK(r.row[0].probability == doctest::Approx(p.row(4).maxCoeff()));
    CHECK(r.scaled == doctest::Approx(r.score));
    CHECK(r.delta_norm == doctest::Approx(trace->results(1, 4, pool).row(2).norm()));
    CHECK(r.weight_by_head.size() == 12);
    CHECK(r.weight_by_head[6] == doctest::Approx(r.weight));
    float shares = 0;
    for (int h = 0; h < 4; ++h) shares += report_cell(*trace, {1, h, 4, 3}, pool).layer_share;
    CHECK(shares == doctest::Approx(1));
}

TEST_CASE("predictions are sorted, sum to less than 1, and greedy takes the first") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const auto trace = trace_of(model, {5, 9, 200}, pool);
    CHECK(predicting_positions(*trace) == std::vector<int>{2});
    const auto next = predictions(*trace, 2, 420, pool);
    float sum = 0;
    for (size_t i = 0; i < next.size(); ++i) {
        sum += next[i].probability;
        if (i) CHECK(next[i - 1].probability >= next[i].probability);
    }
    CHECK(sum == doctest::Approx(1));
    CHECK((*generated_ids(model, request_of({5, 9, 200}), {{}, 3, {}}, pool))[0] == next[0].id);
    CHECK(*generated_ids(model, request_of({5, 9, 200}), {{1.0f, 20, 0.9f, 7}, 8, {}}, pool) ==
          *generated_ids(model, request_of({5, 9, 200}), {{1.0f, 20, 0.9f, 7}, 8, {}}, pool));
    CHECK(generated_ids(model, request_of(std::vector<int>(47, 1)), {{}, 9, {}}, pool)->size() ==
          1);  // the context holds 48
}

TEST_CASE("scales lead into the colour map") {
    CHECK(scale_position(Scale::linear, 0.5f, 1.0f, 0.5f) == doctest::Approx(0.5));
    CHECK(scale_position(Scale::row, 0.5f, 1.0f, 0.5f) == doctest::Approx(1));
    CHECK(scale_position(Scale::log, kLogFloor, 1.0f, 1.0f) == doctest::Approx(0));
    CHECK(scale_position(Scale::log, 0.01f, 1.0f, 1.0f) == doctest::Approx(0.5));
    CHECK(scale_position(Scale::linear, 0.0f, 0.0f, 0.0f) == 0);
    const Colormap& dark = colormap("viridis", true);
    const Colormap& light = colormap("viridis", false);
    CHECK(dark[0].r == light[255].r);
    CHECK(parse_hex("#FFB454").g == 0xB4);
}

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
    box.answer(std::make_shared<const int>(7));
    box.answer(std::make_shared<const int>(8));
    CHECK(*box.poll() == 8);
    CHECK(!box.poll());
    box.close();
    CHECK(!box.take());
}

TEST_CASE("the mailbox under two threads loses nothing that matters") {
    Mailbox<int, int> box;
    std::thread worker([&] {
        while (const auto request = box.take()) box.answer(std::make_shared<const int>(*request));
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

TEST_CASE("the worker answers what was asked last and survives a wrong path") {
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

TEST_CASE(
    "worker: what cannot be computed leaves the old picture and says why, once; the next text is read "
    "again") {
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

TEST_CASE("worker: a request that throws becomes a sentence") {
    Worker worker(2, [] {});
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    const auto first = answer_of(worker, r, [](const WorkAnswer& a) { return a.picture != nullptr; });
    abort_on_failed_check(false);
    WordAlignmentWanted impossible;
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

TEST_CASE("worker: a text that is too long for its map is shown as the largest of squares") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 41; ++i) ids.push_back(3 + i * 7 % 200);
    const auto trace = trace_of(model, ids, pool);
    const Matrix whole = masked_pattern(*trace, 1, 2);
    for (const bool drop : {false, true}) {
        const HeadPicture full = make_picture(*trace, 1, 2, pool, drop),
                          small = make_picture(*trace, 1, 2, pool, drop, 10);
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

TEST_CASE(
    "worker: another run beside the first, a wrong model for it, a sweep that ends and one that is "
    "cancelled") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto condition) { return answer_of(worker, r, condition); };
    WorkRequest r;
    r.model_path = (kTests / "reference/models/gpt2").string();
    r.text = "The cat sat";
    r.head = 1;
    r.other = OtherRun{"", 0, "The dog sat"};
    r.questions = {HeadPairWanted{{Versus::other, {}}, 0, 1, 0, 1}};
    const auto two = answer(r, [](const WorkAnswer& a) {
        return a.other && a.other->trace && a.found<HeadPairWanted>() &&
               a.found<HeadPairWanted>()->answer.map.a.size() > 0;
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
    r.sweep = -1;
    const auto swept = answer(r, [](const WorkAnswer& a) { return a.sweep && a.sweep->ended(); });
    CHECK(swept->sweep->change().size() == static_cast<size_t>(swept->sweep->heads()));
    CHECK(swept->other_error.empty());
    ThreadPool pool(1);
    CHECK(swept->sweep->change().values() == head_effects(*swept->sentence->trace,
                                                          swept->sentence->trace->output().size() - 1,
                                                          swept->sweep->token(), pool)
                                                 ->values());
    r.text = "The cat sat on the mat and the dog sat on the log";
    worker.ask(r);
    r.sweep.reset();
    CHECK(answer(r, [&](const WorkAnswer& a) { return a.sentence->text == r.text && !a.sweep; }));
}

TEST_CASE(
    "workspace: everything that is looked at comes back, nothing else does; foreign and broken files are "
    "refused") {
    const TemporaryFolder folder;
    const auto path = folder.path / "a b é.headlight.json";
    const auto model = reference_model("gpt2");
    Session s;
    s.document.model_path = "some model";
    s.document.text = "naïve 😀";
    s.document.comparison.text = "B";
    s.selection.view_name = "compare";
    s.selection.locked = std::pair{3, 1};
    s.document.comparison.what = Compared::sentences;
    s.document.comparison.alignment = {AlignBy::position, {{1, 2}, {3, -1}}};
    s.document.intervention.mask = *Mask::parse("window:4");
    for (const char* text : {"mask:3-5>1-2@0.1", "temperature:0.5", "score:4>1@0.3=12.5",
                             "freeze:1.2=Another text", "ablate:1.0:keep", "skip-mlp:1"})
        s.document.intervention.changes.push_back(*parse_change(model->config, text));
    note_changes(s.document, model->config);
    REQUIRE(save_workspace(s, path));
    Session before;
    before.preferences.dark = false;
    before.preferences.recent_texts = {"mine"};
    before.document.changes = {"mask:1>0"};
    auto back = open_workspace(path, before);
    REQUIRE(back);
    CHECK((back->document.text == s.document.text && back->document.comparison.text == "B" &&
           back->selection.view_name == "compare" && back->document.model_path == "some model"));
    CHECK((back->selection.locked == s.selection.locked &&
           back->document.comparison.alignment == s.document.comparison.alignment &&
           back->document.comparison.what == s.document.comparison.what));
    CHECK((!back->preferences.dark && back->preferences.recent_texts == before.preferences.recent_texts &&
           back->document.changes_wait));
    restore_changes(*back, model->config);
    CHECK(back->document.intervention == s.document.intervention);
    CHECK((back->notice.empty() && !back->document.changes_wait));
    back->document.changes = {"ablate:99.0"};
    restore_changes(*back, model->config);
    CHECK((back->document.intervention.changes.empty() && !back->notice.empty()));
    for (const char* broken : {"", "{", "[]", "{}", "{\"format\": \"other\"}",
                               "{\"format\": \"headlight-workspace\", \"version\": 99}",
                               "{\"format\": \"headlight-workspace\", \"version\": 1, \"text\": 5}"}) {
        write_bytes(path, broken);
        const auto refused = open_workspace(path, {});
        CHECK_MESSAGE(!refused, broken);
        if (!refused) CHECK(refused.error().message.find("headlight.json") != std::string::npos);
    }
    write_bytes(path,
                "{\"format\": \"headlight-workspace\", \"version\": 1, \"layer\": -3, \"temperature\": 70}");
    CHECK((open_workspace(path, {})->selection.block == 0 &&
           open_workspace(path, {})->document.generation.decoding.temperature == 10));
    CHECK((is_workspace(path) && !is_workspace("model.json") && !is_workspace(".headlight.json")));
    std::filesystem::create_directory(folder.path / "model");
    s.document.model_path = "model";  // beside the file, wherever that is moved
    note_changes(s.document, model->config);
    REQUIRE(save_workspace(s, path));
    CHECK(open_workspace(path, {})->document.model_path ==
          std::filesystem::weakly_canonical(folder.path / "model").string());
}

TEST_CASE("figures: the same bytes on two runs and with any number of threads") {
    const TemporaryFolder folder;
    ThreadPool one(1), three(3);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9}, one);
    for (const auto& kind : figure_kinds())
        for (const char* end : {".png", ".pdf", ".svg"}) {
            const auto a = folder.path / (std::string("a") + end), b = folder.path / (std::string("b") + end);
            REQUIRE(write_figure(a, kind, trace, {}, one));
            REQUIRE(write_figure(b, kind, trace, {}, three));
            CHECK(read_bytes(a).size() > 1000);
            CHECK(read_bytes(a) == read_bytes(b));
        }
    CHECK(!write_figure(folder.path / "a.gif", *find_figure("head"), trace, {}, one));
    FigureOptions huge;
    huge.width_px = 50000;
    huge.height_px = 50000;
    CHECK(!write_figure(folder.path / "a.png", *find_figure("head"), trace, huge, one));
}