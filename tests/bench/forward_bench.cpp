// The forward pass at several lengths. HEADLIGHT_BENCH_MODEL names the model folder; forward.py beside this
// file makes one and runs PyTorch and ONNX Runtime on it in the same run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "analysis/attention/head_summary.h"
#include "analysis/attribution/influence.h"
#include "analysis/patching/effects.h"
#include "analysis/prediction/generate.h"
#include "bench_model.h"
#include "machine.h"

using namespace headlight;

namespace {

/// Trace (q, k, v, residuals of all layers) and the next token's logits.
void trace_and_next(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const ForwardRequest r = request(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        const auto trace = *run_trace(model(), r, pool);
        benchmark::DoNotOptimize(predictions(*trace, trace->output().size() - 1, 5, pool));
    }
}

/// Keeps every pattern of every head.
struct AllPatterns : PatternObserver {
    const ModelConfig& config;
    std::vector<Matrix> patterns;  // [queries, keys], by head_index

    AllPatterns(const ModelConfig& c, int n) : config(c), patterns(c.head_count(), Matrix(n, n)) {}
    void begin(int, int) override {}
    void see(int block, const PatternTile& tile) override {
        const Index width = tile.weights.cols();
        auto rows =
            patterns[config.head_index({block, tile.head})].middleRows(tile.first, tile.weights.rows());
        rows.leftCols(tile.first_key).setZero();
        rows.middleCols(tile.first_key, width) = tile.weights;
        rows.rightCols(rows.cols() - tile.first_key - width).setZero();
    }
};

/// The same outputs as PyTorch with output_attentions: every pattern of every head and the logits of every
/// position.
void everything(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const ForwardRequest r = request(static_cast<int>(state.range(0)));
    AllPatterns all(model()->config, r.inputs[0].size());
    for (auto _ : state) {
        const auto trace = *run_trace(model(), r, pool, nullptr, nullptr, &all);
        benchmark::DoNotOptimize(all.patterns.data());
        benchmark::DoNotOptimize(unembed(*model(), trace->normalized().all(), pool));
    }
}

/// The reverse pass of the last position's log p through a trace, which trace_and_next makes.
void backward_pass(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const auto trace = *run_trace(model(), request(static_cast<int>(state.range(0))), pool);
    const Metric metric{MetricKind::log_probability, 7, -1, trace->output().size() - 1};
    for (auto _ : state) {
        const GradientSeed seed = *metric_seed(metric, *trace, nullptr, pool);
        benchmark::DoNotOptimize(backward(*trace, {&seed, 1}, pool));
    }
}

/// How every output answers to every token, estimated from eight probes an output.
void jacobian_of_eight_probes(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const auto trace = *run_trace(model(), request(static_cast<int>(state.range(0))), pool);
    for (auto _ : state) benchmark::DoNotOptimize(jacobian_norms(*trace, 8, pool));
}

/// A head ablated in the last layer, with everything before it taken from the pass without the change.
void change_in_the_last_layer(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const ForwardRequest r = request(static_cast<int>(state.range(0)));
    const auto before = *run_trace(model(), r, pool);
    ForwardRequest changed = r;
    Change ablation;
    ablation.block = model()->config.blocks() - 1;
    ablation.head = 0;
    changed.intervention.changes.push_back(ablation);
    for (auto _ : state) benchmark::DoNotOptimize(*run_trace(model(), changed, pool, nullptr, before.get()));
}

/// Every head ablated in turn, and the change of one token's probability. Beside it: as many full passes.
void head_sweep(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const auto trace = *run_trace(model(), request(static_cast<int>(state.range(0))), pool);
    for (auto _ : state)
        benchmark::DoNotOptimize(head_effects(*trace, nullptr, {MetricKind::probability, 7}, pool));
}
void as_many_full_passes(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const ForwardRequest r = request(static_cast<int>(state.range(0)));
    for (auto _ : state)
        for (int i = 0; i < model()->config.head_count(); ++i)
            benchmark::DoNotOptimize(
                predictions(**run_trace(model(), r, pool), r.inputs[0].size() - 1, 1, pool));
}

/// What a key press computes for the window: trace, thumbnails and statistics of all heads, next tokens.
void window_update(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const ForwardRequest r = request(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        HeadObserver heads(model()->config, r.inputs);
        const auto trace = *run_trace(model(), r, pool, nullptr, nullptr, &heads);
        benchmark::DoNotOptimize(std::move(heads).finish(*trace, pool));
        benchmark::DoNotOptimize(predictions(*trace, trace->output().size() - 1, 5, pool));
    }
}

constexpr int kTyped = 16;  // tokens typed one after another before all of them are deleted again

/// One token typed at the end of others, up to n in all: its trace and the next token's logits.
void typed_token(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const int n = static_cast<int>(state.range(0)), least = std::max(1, n - kTyped);
    const auto start = *run_trace(model(), request(least), pool);
    auto past = start;
    for (auto _ : state) {
        if (past->output().size() == n) past = start;
        const int typed = past->output().size() + 1;
        past = *run_trace(model(), request(typed), pool, nullptr, past.get());
        benchmark::DoNotOptimize(predictions(*past, typed - 1, 5, pool));
    }
}

/// What the window computes for it: the summaries of all heads too, of which what holds is kept.
void typed_token_in_window(benchmark::State& state) {
    if (too_long(state)) return;
    ThreadPool pool(threads());
    const int n = static_cast<int>(state.range(0)), least = std::max(1, n - kTyped);
    const auto start = *run_trace(model(), request(least), pool);
    const auto first = *summarize_heads(*start, kThumbnailSide, pool);
    auto past = start;
    auto before = first;
    for (auto _ : state) {
        if (past->output().size() == n) {
            past = start;
            before = first;
        }
        const ForwardRequest r = request(past->output().size() + 1);
        HeadObserver heads(model()->config, r.inputs);
        auto trace = *run_trace(model(), r, pool, nullptr, past.get(), &heads);
        before = std::move(heads).finish(*trace, pool, nullptr, {past.get(), &before});
        past = std::move(trace);
        benchmark::DoNotOptimize(predictions(*past, past->output().size() - 1, 5, pool));
    }
}

/// What the machine can do at most: bytes read and float operations a second.
void machine(benchmark::State& state) {
    constexpr size_t kBytes = size_t{340} << 20;  // more than any cache, as a model's weights
    ThreadPool pool(threads());
    const std::vector<std::byte> bytes(kBytes, std::byte{1});
    double seconds = 1, flops = 0;
    for (auto _ : state) {
        seconds = reading_seconds(pool, bytes);
        flops = peak_flops(pool);
    }
    state.counters["GB_per_s"] = double(kBytes) / seconds / 1e9;
    state.counters["GFLOP_per_s"] = flops / 1e9;
}
BENCHMARK(machine)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

/// Bytes of this process in memory.
double resident() {
    long pages = 0, resident_pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident_pages;
    return double(resident_pages) * 4096;
}

/// Opening the model whose files are in the system's cache, and what the process grows by.
void open_model(benchmark::State& state) {
    const char* path = std::getenv("HEADLIGHT_BENCH_MODEL");
    double grown = 0;
    for (auto _ : state) {
        const double before = resident();
        const auto opened = Model::open(path ? path : "models/stories");
        if (!opened) return state.SkipWithError(opened.error().message.c_str());
        grown = std::max(grown, resident() - before);
    }
    state.counters["grown_MB"] = grown / 1e6;
}
BENCHMARK(open_model)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

/// One token of a translation of 30 source tokens, its encoder pass and all earlier tokens reused; items:
/// steps.
void decoding_step(benchmark::State& state) {
    constexpr int kSource = 30, kSteps = 20;
    const auto translator = Model::open("models/translator");
    if (!translator) return state.SkipWithError(translator.error().message.c_str());
    ThreadPool pool(threads());
    ForwardRequest r{{Sequence{}, Sequence{}}, {}};
    for (int i = 0; i < kSource; ++i) r.inputs[0].ids.push_back(i + 1 < kSource ? 10 + 7 * i : 0);
    r.inputs[1].ids = {(*translator)->config.start_id};
    const auto past = *run_trace(*translator, r, pool);
    GenerationRequest request{{}, kSteps, {}};
    for (int i = 0; i < kSteps; ++i) request.forced.push_back(40 + i);  // no end comes in between
    for (auto _ : state)
        benchmark::DoNotOptimize(generate(*translator, r, request, pool, nullptr, past.get()));
    state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(decoding_step)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MinTime(1.0)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

#define LENGTHS                         \
    ->Arg(8)                            \
        ->Arg(9)                        \
        ->Arg(16)                       \
        ->Arg(32)                       \
        ->Arg(64)                       \
        ->Arg(256)                      \
        ->Arg(512)                      \
        ->Arg(1024)                     \
        ->Unit(benchmark::kMillisecond) \
        ->UseRealTime()
BENCHMARK(trace_and_next) LENGTHS;
BENCHMARK(backward_pass) LENGTHS;
BENCHMARK(jacobian_of_eight_probes)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(change_in_the_last_layer) LENGTHS;
BENCHMARK(head_sweep)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(as_many_full_passes)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(everything) LENGTHS;
BENCHMARK(window_update) LENGTHS;
BENCHMARK(typed_token) LENGTHS;
BENCHMARK(typed_token_in_window) LENGTHS;

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    ThreadPool pool(threads());
    for (int i = 0; i < 3; ++i)
        benchmark::DoNotOptimize(run_trace(model(), request(std::min(64, model()->config.context)),
                                           pool));  // every page of the file has been touched
    if (!std::getenv("HEADLIGHT_BENCH_MAPPED") && !model()->engine) model()->packed->wait();
    benchmark::RunSpecifiedBenchmarks();
}
