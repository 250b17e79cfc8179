// Tests that what a pass reuses of an earlier one equals what it would compute: under every mask, change and
// edit.
#include "trace/reuse.h"

#include <array>
#include <thread>

#include "io/json.h"
#include "model/interventions/rules.h"
#include "random_user.h"
#include "summaries.h"

using namespace headlight;

TEST_CASE("reuse: a pass with reused activations equals a fresh one, for any mask, changes and edit") {
    ThreadPool pool(2);
    for (const std::string name : {"gpt2",
                                   "llama",
                                   "mistral",
                                   "gemma2",
                                   "gemma3n",
                                   "gemma4",
                                   "bloom",
                                   "phi",
                                   "opt",
                                   "bert",
                                   "marian",
                                   "t5",
                                   "qwen3_5_text",
                                   "nemotron_h",
                                   "falcon_h1",
                                   "lfm2",
                                   "bart",
                                   "gpt2_f16",
                                   "gpt2_bf16",
                                   "llama_gguf/llama-q4_0.gguf",
                                   "llama_gguf/llama-q8_0.gguf"}) {
        const auto model = reference_model(name);
        for (unsigned seed = 0; seed < 60; ++seed) {
            RandomUser user(*model, seed);
            const ForwardRequest first = user.request(), second = user.edited(first);
            CAPTURE(name);
            CAPTURE(seed);
            CAPTURE(described(first, model->config));
            CAPTURE(described(second, model->config));
            const auto past = *run_trace(model, first, pool);
            HeadObserver quick(model->config, second.inputs, 4), lone(model->config, second.inputs, 4),
                fresh(model->config, second.inputs, 4);
            const auto now = *run_trace(model, second, pool, nullptr, past.get(), &quick);
            REQUIRE(run_trace(model, second, pool, nullptr, past.get(), &lone));
            CHECK(differing(*now, **run_trace(model, second, pool, nullptr, nullptr, &fresh)) == "");
            CHECK(summary_that_differs(*now, *past, 4, pool) == -1);
            const auto whole = *summarize_heads(*now, 4, pool), before = *summarize_heads(*past, 4, pool);
            CHECK(first_difference(std::move(fresh).finish(*now, pool), whole) == -1);
            CHECK(first_difference(std::move(lone).finish(*now, pool), whole) == -1);
            CHECK(first_difference(std::move(quick).finish(*now, pool, nullptr, {past.get(), &before}),
                                   whole) == -1);
        }
    }
}

TEST_CASE("reuse: a fully masked row attends to later tokens too, so typing one recomputes it") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const ForwardRequest brief = with_change(request_of({5, 9, 200}), *model, "mask:0>0"),
                         longer = with_change(request_of({5, 9, 200, 31}), *model, "mask:0>0");
    const auto past = *run_trace(model, brief, pool);
    const auto quick = *run_trace(model, longer, pool, nullptr, past.get()),
               fresh = *run_trace(model, longer, pool);
    CHECK(differing(*quick, *fresh) == "");
    CHECK((quick->normalized().row(0) - past->normalized().row(0)).cwiseAbs().maxCoeff() >
          1e-3f);  // the case is one
}

TEST_CASE("reuse: activations are shared row by row, so that typing costs only the new tokens") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto rows_kept = [&](const ForwardRequest& before, const ForwardRequest& now) {
        const auto past = *run_trace(model, before, pool);
        const auto rules = attention_rules(*model, now.inputs, now.intervention);
        REQUIRE(rules);
        return reusable(past.get(), *model, now, *rules).stacks[0];
    };
    const ForwardRequest four = request_of({5, 9, 200, 31}), five = request_of({5, 9, 200, 31, 7});
    CHECK(rows_kept(four, four).whole);
    CHECK(rows_kept(four, five).rows == 4);
    CHECK(rows_kept(five, four).rows == 4);
    CHECK(rows_kept(with_change(four, *model, "mask:2>1"), with_change(five, *model, "mask:2>1")).rows == 4);
    CHECK(rows_kept(with_change(four, *model, "mask:2>0-3"), with_change(five, *model, "mask:2>0-3")).rows ==
          2);  // row 2 is fully masked
    CHECK(rows_kept(four, with_change(four, *model, "mask:3>1")).rows ==
          3);  // rows before the first that differs
    CHECK(rows_kept(four, with_change(five, *model, "unmask:1>4")).rows == 1);
    CHECK(
        rows_kept(with_change(four, *model, "ablate:0.0:mean"), with_change(five, *model, "ablate:0.0:mean"))
            .rows == 0);
    CHECK(rows_kept(four, with_change(four, *model, "ablate:1.0")).layers == 1);
    CHECK(rows_kept(four, with_change(four, *model, "skip-mlp:1")).layers == 1);
    ForwardRequest open = four;
    open.intervention.mask = *Mask::parse("none");
    CHECK(rows_kept(four, open).rows == 0);
}

TEST_CASE("reuse: dynamic rotary positions depend on the length beyond the original context") {
    ThreadPool pool(2);
    TemporaryFolder folder;
    const auto model = [&] {
        const auto source = kTests / "reference/models/llama";
        for (const auto& file : std::filesystem::directory_iterator(source))
            if (file.path().extension() == ".safetensors" &&
                file.path().filename().string().rfind("model", 0) == 0)
                std::filesystem::copy(file.path(), folder.path / file.path().filename());
        Json config = Json::parse(read_bytes(source / "config.json"));
        config["max_position_embeddings"] = 8;
        config["rope_parameters"] = {{"rope_type", "dynamic"}, {"rope_theta", 10000.0}, {"factor", 2.0}};
        write_bytes(folder.path / "config.json", config.dump());
        auto opened = Model::open(folder.path);
        REQUIRE(opened);
        return *opened;
    }();
    const std::vector<int> ids{5, 9, 20, 31, 7, 8, 11, 12, 3, 44, 6, 70};
    for (int n = 4; n < 12; ++n) {
        const auto past = trace_of(model, {ids.begin(), ids.begin() + n}, pool);
        const ForwardRequest longer = request_of({ids.begin(), ids.begin() + n + 1});
        CHECK(differing(**run_trace(model, longer, pool, nullptr, past.get()),
                        **run_trace(model, longer, pool)) == "");
    }
}

namespace {
/// Cancels its pass when the second block begins.
struct CancelsLate : PatternObserver {
    CancelFlag flag = false;
    void begin(int block, int) override {
        if (block == 1) flag = true;
    }
    void see(int, const PatternTile&) override {}
};
}  // namespace

TEST_CASE("reuse: a cancelled pass leaves its past unchanged, for the next one too") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto first = *run_trace(model, request_of({5, 9, 200}), pool),
               past = *run_trace(model, request_of({5, 9, 200, 31}), pool, nullptr, first.get());
    const ForwardRequest one = request_of({5, 9, 200, 31, 77}), other = request_of({5, 9, 200, 31, 12});
    CancelsLate late;
    CHECK(!run_trace(model, one, pool, &late.flag, past.get(), &late));
    CHECK(late.flag);
    for (const ForwardRequest& next : {other, one, other})
        CHECK(differing(**run_trace(model, next, pool, nullptr, past.get()),
                        **run_trace(model, next, pool)) == "");
    CHECK(differing(*past, **run_trace(model, past->request, pool)) == "");
}

TEST_CASE("reuse: several threads extend one trace, and each gets what a fresh pass gives") {
    const auto model = reference_model("gpt2");
    ThreadPool pool(1);
    const auto first = *run_trace(model, request_of({5, 9}), pool),
               past = *run_trace(model, request_of({5, 9, 200}), pool, nullptr, first.get());
    std::array<std::string, 4> apart;
    std::vector<std::thread> threads;
    for (int i = 0; i < isize(apart); ++i)
        threads.emplace_back([&, i] {
            ThreadPool own(1);
            const ForwardRequest next = request_of({5, 9, 200, 31 + i, 7});
            apart[i] =
                differing(**run_trace(model, next, own, nullptr, past.get()), **run_trace(model, next, own));
        });
    for (std::thread& t : threads) t.join();
    for (const std::string& where : apart) CHECK(where == "");
}

TEST_CASE("reuse: patching every layer and position costs less than half as many whole passes") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models/stories");
    std::vector<int> ids(16);
    for (int i = 0; i < isize(ids); ++i) ids[i] = 100 + i;
    const auto past = *run_trace(model, request_of(ids), pool);
    const int layers = model->config.layers(), n = isize(ids);
    double computed = 0;
    for (int layer = 0; layer < layers; ++layer)
        for (int position = 0; position < n; ++position) {
            ForwardRequest one =
                with_change(past->request, *model,
                            "patch-resid:" + std::to_string(position) + "@" + std::to_string(layer));
            one.intervention.changes.back().pattern =
                std::make_shared<const Matrix>(random_matrix(n, model->config.d_model, 1));
            const auto rules = attention_rules(*model, one.inputs, one.intervention);
            REQUIRE(rules);
            const StackReuse kept = reusable(past.get(), *model, one, *rules).stacks[0];
            CHECK((kept.rows == position || kept.layers == layer));
            computed += (1 - double(kept.rows) / n) * (1 - double(kept.layers) / layers);
        }
    CHECK(computed < 0.5 * layers * n);
}
