// Tests the station "Watch heads form": its run, and its page at each step.
#include "analysis/attention/head_summary.h"
#include "learn/stations/formation.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

const std::filesystem::path kFolder = kTests.parent_path() / "models/formation";

std::shared_ptr<const FormationRun> built_in() {
    static const auto run = *open_formation_run(kFolder);
    return run;
}

/// Writes a run.json with this text, beside the last step's model, and returns the error.
std::string refusal(const std::string& text) {
    TemporaryFolder folder;
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"})
        std::filesystem::copy(kFolder / file, folder.path);
    write_bytes(folder.path / "run.json", text);
    const auto run = open_formation_run(folder.path);
    REQUIRE(!run);
    return run.error().message;
}

/// Scores one head on repeated random tokens.
float score_of(const std::shared_ptr<const Model>& model, const char* key, AttentionHead head) {
    ThreadPool pool(2);
    const auto trace = trace_of(model, repeated_random_ids(model->config.vocab, 48, 1), pool);
    const auto summaries = *summarize_heads(*trace, 1, pool);
    return summaries[head].statistics[find_statistic(key) - head_statistics().data()];
}

learn::Page page_of(const std::string& text, const FormationState& state) {
    ThreadPool pool(2);
    StationInput input;
    input.text = text;
    return *formation_page(input, state, pool);
}

}  // namespace

TEST_CASE("learn formation: half way from the first score to the largest, by hand") {
    CHECK(half_way(std::vector<float>{0.1f, 0.2f, 0.5f, 0.9f, 0.7f}) == 2);  // (0.1 + 0.9) / 2
    CHECK(half_way(std::vector<float>{0.1f, 0.2f, 0.49f, 0.9f}) == 3);
    CHECK(half_way(std::vector<float>{0.3f, 0.3f}) == 0);
    CHECK(half_way({}) == 0);
}

TEST_CASE("learn formation: twelve steps of a run in which no head was an induction head at first") {
    const auto run = built_in();
    REQUIRE(run->steps.size() == FormationState::kLastStep + 1);
    CHECK(run->steps.front() == 0);
    CHECK(std::is_sorted(run->steps.begin(), run->steps.end()));
    const AttentionHead head = run->strongest(&FormationRun::Measured::induction);
    CHECK(score_of(run->models.front(), "induction", head) < 0.05f);
    CHECK(score_of(run->models.back(), "induction", head) > 0.5f);
    CHECK(run->appearance() > run->steps.front());
    CHECK(run->appearance() <= run->steps.back());
    CHECK(run->curve.back().again < run->curve.back().once - 2);
}

TEST_CASE("learn formation: what was measured in training is what the kept weights do") {
    const auto run = built_in();
    for (const auto& measured : run->curve) {
        const auto kept = std::find(run->steps.begin(), run->steps.end(), measured.step);
        if (kept == run->steps.end()) continue;
        CAPTURE(measured.step);
        for (int i = 0; i < isize(measured.induction); ++i) {
            const auto& model = run->models[kept - run->steps.begin()];
            const float here = score_of(model, "induction", model->config.head_at(i));
            CHECK(std::abs(here - measured.induction[i]) < 0.12f);  // other random tokens
        }
    }
}

TEST_CASE("learn formation: the steps of a run share the tokenizer that lies beside the last one") {
    for (const auto& model : built_in()->models) {
        REQUIRE(model->tokenizer);
        CHECK((*model->tokenizer)->decode((*model->tokenizer)->encode("Tom had a red ball.")->ids) ==
              "Tom had a red ball.");
    }
}

TEST_CASE("learn formation: the page shows the chosen head at the chosen step") {
    FormationState state;
    const learn::Page last = page_of("Tom and Lily", state);
    check_page(last);
    const auto maps = blocks_of<learn::Grid>(last);
    REQUIRE(maps.size() == 1);
    const int n = narrow<int>(maps[0].values.rows());
    REQUIRE(n % 2 == 0);
    for (int i = 0; i < n / 2; ++i) CHECK(maps[0].rows[i] == maps[0].rows[n / 2 + i]);
    for (int q = 0; q < n; ++q) CHECK(maps[0].values.row(q).head(q + 1).sum() == doctest::Approx(1));
    for (const Curves& curves : blocks_of<Curves>(last))
        CHECK(curves.mark_x == float(built_in()->appearance()));

    state.step = 0;
    state.twice = false;
    state.head = 5;
    const learn::Page first = page_of("Tom and Lily", state);
    check_page(first);
    CHECK(blocks_of<learn::Grid>(first)[0].title == "Head 0.3 at step 0");
    CHECK(blocks_of<learn::Grid>(first)[0].rows.size() == size_t(n) / 2);
}

TEST_CASE("learn formation: the scores of the sentence are those of its pattern") {
    FormationState state;
    state.head = 1;
    const learn::Page page = page_of("Tom and Lily", state);
    const Matrix pattern = blocks_of<learn::Grid>(page)[0].values;
    float previous = 0;
    for (int q = 1; q < pattern.rows(); ++q) previous += pattern(q, q - 1) / float(pattern.rows() - 1);
    CHECK(blocks_of<learn::Table>(page)[0].values.back()[1] == doctest::Approx(previous).epsilon(1e-4));
}

TEST_CASE("learn formation: a long sentence is cut, and the page says so") {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "dog ";
    const learn::Page page = page_of(text, {});
    check_page(page);
    CHECK(blocks_of<learn::Grid>(page)[0].rows.size() == 128);
    CHECK(blocks_of<learn::Words>(page)[0].text.find("128 tokens") != std::string::npos);
}

TEST_CASE("learn formation: a broken run is refused in one sentence") {
    CHECK(refusal(R"({"kept": [], "curve": []})").find("names no step") != std::string::npos);
    CHECK(refusal(R"({"kept": [5], "curve": []})").find("holds no measurement") != std::string::npos);
    CHECK(refusal(R"({"kept": [5, 5], "curve": []})").find("kept") != std::string::npos);
    CHECK(refusal(R"({"kept": [4, 5], "curve": []})").find("checkpoint-4") != std::string::npos);
    CHECK(refusal(R"({"kept": [5], "curve": [{"step": 5, "previous": [1], "induction": [1]}]})")
              .find("each of the 8 heads") != std::string::npos);
}
