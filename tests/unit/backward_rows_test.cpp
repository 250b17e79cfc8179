// Tests the reverse pass over nonzero rows: equals the one over all rows; cancels among them.
#include "changed.h"
#include "helpers.h"
#include "trace/trace_gradients.h"

using namespace headlight;

TEST_CASE("backward: zero rows are skipped, and the rest is the same") {
    ThreadPool pool(2), one(1);
    const std::vector<std::pair<const char*, std::vector<std::string>>> runs{
        {"gpt2", {}},
        {"gpt2", {"ablate:1.0:mean", "temperature:0.5"}},
        {"llama", {"mask:4-7>1-3@0.1", "unmask:2>7"}},
        {"gemma2", {}},
        {"gemma3n", {}},
        {"gemma3n", {"skip-attention:1", "skip-mlp:0", "mask:4-7>1-3@3.1"}},
        {"gemma4", {}},
        {"gemma4", {"skip-attention:1", "mask:4-7>1-3@3.1"}},
        {"phi", {"mask:0>0"}},
        {"qwen3", {"positions:shuffle:7"}},
        {"bert", {}},
        {"bart", {}},
        {"marian", {"ablate:cross.0.1:zero", "skip-attention:encoder.0"}},
        {"t5", {"ablate:cross.1.0:mean"}}};
    for (const auto& run : runs) {
        const char* const name = run.first;
        const std::vector<std::string>& changes = run.second;
        const auto trace = changed(reference_model(name), changes, pool);
        const int last = isize(trace->config().stacks) - 1, d = trace->config().d_model,
                  n = trace->output().size(), layers = trace->config().stacks[last].depth();
        std::vector<GradientSeed> seeds;
        for (int i = 0; i < 5; ++i)
            seeds.push_back({last, layers + 1 - i % 3, i * (n - 1) / 4, random_matrix(1, d, unsigned(i)), i});
        seeds.push_back({0, 1, 2, random_matrix(2, d, 9), 1});  // two positions of one output
        const auto all = *backward(*trace, seeds, pool);
        const auto rest = *embedding_gradients(*trace, seeds, pool);
        const auto again = *embedding_gradients(*trace, seeds, one);
        INFO(name, " ", changes.empty() ? "" : changes[0]);
        REQUIRE(rest.size() == all.stacks.size());
        for (size_t s = 0; s < rest.size(); ++s) {
            const Matrix& whole = all.stacks[s].resid[0];
            const Index rows = whole.rows() / 5;
            CHECK(same(rest[s].values, again[s].values));
            for (int i = 0; i < 5; ++i) {
                const Matrix own = whole.middleRows(i * rows, rows), found = rest[s].of(i);
                CHECK((found - own).norm() <= 1e-5 * own.norm());
                CHECK((rest[s].squared_lengths(i) - own.rowwise().squaredNorm()).norm() <=
                      1e-5 * own.squaredNorm());
            }
        }
        if (name == std::string("gpt2") && changes.empty())
            for (int i = 0; i < 5; ++i)  // exactly what an output depends on
                CHECK(rest[0].rows.part(i).tokens.end == std::max(i * (n - 1) / 4 + 1, i == 1 ? 4 : 0));
    }
}

TEST_CASE("backward: gradients of texts of several tiles propagate together, each over its own rows") {
    ThreadPool pool(2);
    std::vector<int> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(3 + 7 * i % 90);
    const auto trace = trace_of(reference_model("llama"), ids, pool);
    std::vector<GradientSeed> seeds;
    for (int i = 0; i < 20; ++i)
        seeds.push_back({0, 2, 5 * i + 2, random_matrix(1, trace->config().d_model, unsigned(i)), i});
    const auto together = *embedding_gradients(*trace, seeds, pool);
    for (int i = 0; i < 20; i += 3) {
        GradientSeed seed = seeds[size_t(i)];
        seed.output = 0;
        const Matrix alone = backward(*trace, {&seed, 1}, pool)->stacks[0].resid[0];
        CHECK((together[0].of(i) - alone).norm() <= 1e-5 * alone.norm());
        CHECK(together[0].rows.part(i).tokens.end == seed.row + 1);
    }
}

TEST_CASE("backward: cancelled within a block, it visits no further tile") {
    ThreadPool pool(1);
    std::string text;
    for (int i = 0; i < 30; ++i) text += "Lily had a red ball. ";
    const auto story = run_story(text, pool);  // of two tiles per head or more
    const int n = story->output().size();
    REQUIRE(n > 128);
    struct : GradientObserver {
        CancelFlag flag = false;
        int tiles = 0;
        void begin(int) override {}
        void see(int, const GradientTile&) override { flag = ++tiles == 2; }
    } canceller;
    const GradientSeed seed{0, 4, 0, random_matrix(n, story->config().d_model, 7)};
    const auto g = embedding_gradients(*story, {&seed, 1}, pool, &canceller.flag, &canceller);
    REQUIRE(!g);
    CHECK((g.error().cancelled && canceller.tiles == 2));
}
