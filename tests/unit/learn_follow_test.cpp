// Tests Follow a word: its steps against what Arithmetic shows and the trace, its story against masked runs.
#include <cmath>
#include <numeric>
#include <set>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/follow/follow.h"
#include "learn/numbers.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

constexpr const char* kSample = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

struct Followed {
    ThreadPool pool{2};
    std::shared_ptr<const Trace> trace;
    StationInput input;
    learn::Page page;

    explicit Followed(std::shared_ptr<const Trace> of) : trace(std::move(of)) {
        input.trace = trace.get();
        input.model = trace->model.get();
        const auto cell = followed_head(*trace, {}, pool);
        if (cell) std::tie(input.block, input.head) = std::pair{cell->head.block, cell->head.head};
        compute();
    }
    void compute() {
        auto made = follow_page(input, {}, pool);
        REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
        page = *std::move(made);
    }
    const Thread& thread() const { return std::get<Thread>(page.blocks.front()); }
    const Thread::Node& step(int number) const { return thread().steps[number - 1]; }
    headlight::Steps shown() {
        return *answer_steps(*trace, {input.block, input.head, thread().query}, pool, nullptr);
    }
    BlockChain chain() {
        return *answer_block_chain(*trace, {input.block, input.head, thread().query, thread().bright}, pool);
    }
};

const Thread::Strip& strip_named(const Thread::Node& node, const std::string& sign, int place = -1) {
    for (const auto* strips : {&node.strips, &node.below})
        for (const Thread::Strip& strip : *strips)
            if (strip.sign == sign && strip.place == place) return strip;
    FAIL("no strip " << sign << " at " << place << " in " << node.name);
    throw 0;
}

const Thread::Band& band_named(const Thread::Node& node, const std::string& name) {
    for (const Thread::Band& band : node.bands)
        if (band.name == name) return band;
    FAIL("no band " << name << " in " << node.name);
    throw 0;
}

float far_apart(const Vector& a, const Vector& b) {
    REQUIRE(a.size() == b.size());
    return (a - b).cwiseAbs().maxCoeff();
}

void check_words(const Thread::Node& node) {
    CAPTURE(node.name);
    CHECK(!node.sentence.empty());
    CHECK(node.sentence.back() == '.');
    CHECK(find_station(node.door) != nullptr);
    CHECK(node.strip.size() + isize(node.strips) + isize(node.bands) + isize(node.bars) > 0);
}

/// Runs the sample with all cells from the last word to these keys masked.
float probability_without(const Trace& trace, const std::string& changes, int answer, ThreadPool& pool) {
    ForwardRequest request = trace.request;
    std::istringstream in(changes);
    for (std::string one; in >> one;)
        request.intervention.changes.push_back(*parse_change(trace.config(), one));
    const auto run = *run_trace(trace.model, request, pool);
    return probabilities_at(*run, run->output().size() - 1, pool)[answer];
}

}  // namespace

TEST_CASE("follow: the steps up to the weights hold the numbers that Arithmetic shows") {
    Followed f(read_by_stories(kSample));
    REQUIRE(f.thread().steps.size() == kFollowSteps);
    for (const Thread::Node& node : f.thread().steps) check_words(node);
    const headlight::Steps shown = f.shown();
    const BlockChain chain = f.chain();
    CHECK(f.thread().word == "red");
    CHECK(f.thread().tokens.size() == 17);
    CHECK(far_apart(f.step(3).strip, chain.find(ChainStep::query_norm)->values) == 0);
    CHECK(far_apart(strip_named(f.step(3), "stream").values, chain.find(ChainStep::query_in)->values) == 0);
    CHECK(far_apart(f.step(4).strip, chain.find(ChainStep::q)->values) == 0);
    CHECK(far_apart(strip_named(f.step(4), "k", f.thread().bright).values,
                    chain.find(ChainStep::k)->values) == 0);
    float sum = 0;
    for (int i = 0; i < 17; ++i) {
        const KeyStep& key = shown.keys[i];
        CHECK(f.step(4).strips[size_t(i) + 1].measure == two(double(key.dot)));
        CHECK(f.step(5).bands[0].values[i] == key.dot);
        CHECK(f.step(6).bands[0].values[i] == key.score);
        CHECK(band_named(f.step(7), "e to that").values[i] == doctest::Approx(key.exp));
        CHECK(band_named(f.step(7), "weight").values[i] == key.weight);
        sum += band_named(f.step(7), "weight").values[i];
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    const Vector products = strip_named(f.step(4), "q × k").values;
    CHECK(products.sum() == doctest::Approx(shown.keys[f.thread().bright].dot).epsilon(1e-5));
    const auto largest =
        std::max_element(shown.keys.begin(), shown.keys.end(),
                         [](const KeyStep& a, const KeyStep& b) { return a.weight < b.weight; });
    CHECK(f.thread().bright == largest - shown.keys.begin());
}

TEST_CASE("follow: the steps after the weights add up to the next word") {
    Followed f(read_by_stories(kSample));
    const headlight::Steps shown = f.shown();
    const Matrix& cells = band_named(f.step(9), "weight × v").cells;
    CHECK(far_apart(cells.rowwise().sum(), f.step(9).strip) < 1e-5f);
    CHECK(far_apart(f.step(9).strip, shown.z) == 0);
    CHECK(far_apart(band_named(f.step(8), "v").cells.col(4), f.chain().find(ChainStep::v)->values) == 0);
    CHECK(far_apart(f.step(8).strip, f.chain().find(ChainStep::v)->values * shown.keys[4].weight) < 1e-6f);
    Vector heads = Vector::Zero(f.step(10).strip.size());
    for (const Thread::Strip& strip : f.step(10).strips)
        if (strip.sign != "= output") heads += strip.values;
    CHECK(far_apart(heads, f.step(10).strip) < 1e-4f);
    CHECK(far_apart(f.step(10).strip, f.chain().find(ChainStep::projected)->values) == 0);
    const Thread::Node& stream = f.step(11);
    const Vector whole = strip_named(stream, "stream").values + strip_named(stream, "+ output").values +
                         strip_named(stream, "+ MLP").values;
    CHECK(far_apart(whole, stream.strip) < 1e-4f);
    CHECK(far_apart(stream.strip,
                    f.trace->stack(0).layers[f.input.block + 1]->resid_pre.row(16).transpose()) == 0);
    const Vector p = probabilities_at(*f.trace, 16, f.pool);
    Index best = 0;
    CHECK(f.step(12).bars[0].numbers[0] == doctest::Approx(p.maxCoeff(&best)).epsilon(1e-5));
    CHECK(f.step(12).columns.size() == size_t(f.trace->config().layers()) + 1);
    CHECK(f.step(12).columns.back().numbers[0] == doctest::Approx(p[best]).epsilon(1e-5));
    CHECK(prediction_label(*f.trace->model, narrow<int>(best)) == "ball");
}

TEST_CASE("follow: a row that rests on the first token is told from one that looks past it") {
    Matrix rests(1, 3), looks(1, 3);
    rests << 0.47f, 0.4f, 0.13f;
    looks << 0.3f, 0.5f, 0.2f;
    CHECK_FALSE(looks_past_first(rests));
    CHECK(looks_past_first(looks));
    ThreadPool pool(2);
    const auto trace = read_by_stories(kSample);
    const auto copying = find_copying(*trace, 16, pool);
    REQUIRE(copying);
    CHECK(copying->past_first);
    CHECK(copying->look == doctest::Approx(0.955).epsilon(0.01));  // of head 1.0 on both balls
}

TEST_CASE("follow: the word and its place add up to what enters the first block") {
    Followed f(read_by_stories(kSample));
    const Thread::Node& place = f.step(2);
    const Vector sum = strip_named(place, "E").values + strip_named(place, "+ place").values;
    CHECK(far_apart(sum, strip_named(place, "= sum").values) < 1e-6f);
    CHECK(far_apart(sum, f.trace->stack(0).layers[0]->resid_pre.row(16).transpose()) < 1e-6f);
    CHECK(far_apart(strip_named(f.step(1), "E", 3).values, strip_named(f.step(1), "E", 16).values) == 0);
}

TEST_CASE("follow: the story of the sample is that of runs in which the words are hidden") {
    Followed f(read_by_stories(kSample));
    const Thread& thread = f.thread();
    REQUIRE(thread.told);
    REQUIRE(thread.stops.size() == kStoryStops);
    for (const Thread::Node& stop : thread.stops) check_words(stop);
    const auto copying = find_copying(*f.trace, 16, f.pool);
    REQUIRE(copying);
    CHECK(copying->sources == std::vector<int>{4, 10});
    CHECK(copying->source == 4);  // the other follows "blue"
    CHECK(copying->before.block < copying->head.block);
    CHECK(copying->head == AttentionHead{f.input.block, f.input.head});
    const std::vector<Thread::Bar>& bars = thread.stops[3].bars;
    REQUIRE(bars.size() == 4);
    const float seen = probability_without(*f.trace, "", copying->answer, f.pool),
                both = probability_without(*f.trace, "mask:16>4 mask:16>10", copying->answer, f.pool);
    CHECK(bars[0].numbers[0] == doctest::Approx(seen).epsilon(1e-4));
    CHECK(bars[1].numbers[0] ==
          doctest::Approx(probability_without(*f.trace, "mask:16>4", copying->answer, f.pool)).epsilon(1e-4));
    CHECK(bars[3].numbers[0] == doctest::Approx(both).epsilon(1e-4));
    CHECK(both < 0.5f * seen);
    CHECK(thread.promise.find(percent(double(both))) != std::string::npos);
    const float weight = f.trace->pattern(copying->head.block, copying->head.head)(16, 4);
    CHECK(thread.stops[1].bands[0].values[4] == weight);
    CHECK(thread.stops[2].bars[0].bright);  // its value raises "ball" most
}

TEST_CASE("follow: the story takes what the search for its head found, of the same run and word alone") {
    Followed f(read_by_stories(kSample));
    for (const int query : {15, 16}) {
        f.input.ground = CopySearch{f.trace.get(), query, std::nullopt};
        f.compute();
        CHECK(f.thread().told == (query == 15));
    }
}

TEST_CASE("follow: a sentence without such a story says so, and offers the sample") {
    Followed f(read_by_stories("The cat sat on a mat"));
    CHECK_FALSE(f.thread().told);
    REQUIRE(f.thread().stops.size() == 1);
    CHECK(f.thread().stops[0].sentence.find("sample sentence") != std::string::npos);
    CHECK(f.thread().stops[0].bars.empty());
}

TEST_CASE("follow: every reference model can be followed, in every block") {
    for (const char* name : {"gpt2", "llama", "bert", "marian", "t5", "vit", "gemma2", "bloom"}) {
        if (!std::filesystem::exists(kTests / "reference/models" / name)) continue;
        CAPTURE(name);
        const auto model = reference_model(name);
        if (model->config.can.read_image) continue;
        Opened open(name);
        for (int block = 0; block < model->config.blocks(); ++block) {
            open.input.block = block;
            auto page = follow_page(open.input, {}, open.pool);
            REQUIRE_MESSAGE(page, (page ? "" : page.error().message));
            const auto& thread = std::get<Thread>(page->blocks.front());
            REQUIRE(thread.steps.size() == kFollowSteps);
            for (const Thread::Node& node : thread.steps) check_words(node);
            check_page(*page);
            CHECK(!page_numbers(*page).empty());
        }
    }
}

TEST_CASE("follow: where positions turn q and k, nothing is added, and the turned ones score") {
    Opened open("llama", 1);
    const auto page = *follow_page(open.input, {}, open.pool);
    const auto& thread = std::get<Thread>(page.blocks.front());
    const Thread::Node& place = thread.steps[1];
    CHECK(place.sentence.find("turns q and k") != std::string::npos);
    CHECK(far_apart(place.strip, thread.steps[0].strip) == 0);
    const Vector turned = strip_named(place, "turned", thread.query).values;
    CHECK(far_apart(turned, thread.steps[3].strip) == 0);
    CHECK(turned.norm() ==
          doctest::Approx(strip_named(place, "q", thread.query).values.norm()).epsilon(1e-4));
}

TEST_CASE("follow: what is changed in the run shows in the steps") {
    const auto clean = read_by_stories(kSample);
    ForwardRequest request = clean->request;
    ThreadPool pool(2);
    request.intervention.changes.push_back(*parse_change(clean->config(), "mask:16>4"));
    Followed masked(*run_trace(clean->model, request, pool));
    CHECK(std::isnan(masked.step(6).bands[0].values[4]));
    CHECK(std::isnan(band_named(masked.step(7), "weight").values[4]));
    CHECK(masked.step(6).sentence.find("hidden") != std::string::npos);
    request = clean->request;
    request.intervention.changes.push_back(*parse_ablation(clean->config(), "1.2"));
    Followed off(*run_trace(clean->model, request, pool));
    off.input.block = 1;
    off.input.head = 2;
    off.compute();
    CHECK(off.step(9).strip.norm() == 0);
    CHECK(off.step(9).sentence.find("switched this head off") != std::string::npos);
}

TEST_CASE("follow: a long text has columns for the words with the most weight") {
    std::string text;
    for (int i = 0; i < 4; ++i) text += "Lily had a red ball. Tom had a blue ball. ";
    Followed f(read_by_stories(text + "Lily gave Tom the red"));
    const std::vector<int>& places = f.thread().places;
    CHECK(places.size() == kMaxColumns);
    CHECK(std::is_sorted(places.begin(), places.end()));
    CHECK(std::find(places.begin(), places.end(), f.thread().query) != places.end());
    CHECK(std::find(places.begin(), places.end(), f.thread().bright) != places.end());
    for (const Thread::Band& band : f.step(7).bands) CHECK(band.values.size() == kMaxColumns);
}

TEST_CASE("follow: all steps are numbers, with their sentences") {
    Followed f(read_by_stories(kSample));
    const auto tables = page_numbers(f.page);
    REQUIRE(tables.front().name == "thread");
    CHECK(tables.front().rows.size() == kFollowSteps + kStoryStops);
    CHECK(tables.front().texts[0].find("red") != std::string::npos);
    CHECK(tables.front().values(6, 0) == doctest::Approx(f.shown().keys[4].weight).epsilon(1e-3));
    std::set<std::string> names;
    for (const NumberTable& table : tables) CHECK(names.insert(table.name).second);
    CHECK(names.count("7 softmax") == 1);
    CHECK(names.count("16 hide it") == 1);
}
