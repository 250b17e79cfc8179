// One token through GPT-2 small's block matrices in each format of weights, beside how fast this machine
// reads them: of_reading is the time ÷ that of reading the same bytes. HEADLIGHT_KERNELS chooses the
// instruction set.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "base/cast.h"
#include "machine.h"
#include "model/linear.h"

using namespace headlight;

namespace {

constexpr int kLayers = 12, kWidth = 768;
constexpr std::pair<int, int> kShapes[] = {
    {kWidth, 3 * kWidth}, {kWidth, kWidth}, {kWidth, 4 * kWidth}, {4 * kWidth, kWidth}};

ThreadPool& pool() {
    static const char* const wanted = std::getenv("HEADLIGHT_BENCH_THREADS");
    static ThreadPool threads(wanted ? std::atoi(wanted) : default_thread_count());
    return threads;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Random weights; the bytes that hold exponents keep every format's values near 1.
const std::vector<std::byte>& weights() {
    static const std::vector<std::byte> all = [] {
        std::vector<std::byte> out(size_t{kLayers} * 12 * kWidth * kWidth * 4);
        std::minstd_rand random(1);
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = std::byte(random() >> 8) & std::byte(i % 2 ? 0x3b : 0xff);
        return out;
    }();
    return all;
}

/// The matrices of all layers, one behind another, and their bytes.
std::pair<std::vector<Linear>, int64_t> matrices(const DType& format) {
    std::vector<Linear> out;
    int64_t at = 0;
    for (int layer = 0; layer < kLayers; ++layer)
        for (const auto& [in, outputs] : kShapes) {
            out.push_back({weights().data() + at, nullptr, in, outputs, format.size(in), WeightLayout::out_in,
                           &format});
            at += format.size(in) * outputs;
        }
    return {out, at};
}

void tokens(benchmark::State& state, const DType* format) {
    const auto [all, bytes] = matrices(*format);
    const Matrix x = Matrix::Random(state.range(0), 4 * kWidth);
    const double least = reading_seconds(pool(), std::span(weights()).first(size_t(bytes)));
    double best = 1e9;
    for (auto _ : state) {
        const auto begin = std::chrono::steady_clock::now();
        for (const Linear& w : all) {
            Matrix y(x.rows(), w.out);
            apply_linear(pool(), x.leftCols(w.in), w, y);
            benchmark::DoNotOptimize(y.data());
        }
        best = std::min(best, seconds_since(begin));
    }
    state.counters["MB"] = double(bytes) / 1e6;
    state.counters["best_ms"] = best * 1e3;
    state.counters["of_reading"] = best / least;
}

void register_format(const DType& format) {
    benchmark::RegisterBenchmark(format.name, tokens, &format)
        ->ArgName("rows")
        ->Arg(1)
        ->Arg(4)
        ->Arg(64)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    for (const char* name :
         {"F32",   "F16",    "BF16",    "Q8_0",   "Q6_K",  "Q5_K",  "Q5_1",  "Q5_0",  "Q4_K",
          "Q4_1",  "Q4_0",   "IQ4_NL",  "IQ4_XS", "Q3_K",  "Q2_K",  "MXFP4", "IQ3_S", "IQ3_XXS",
          "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ1_S",  "IQ1_M", "TQ1_0", "TQ2_0"})
        for (uint32_t id = 0; id < 40; ++id)
            if (const DType* format = find_gguf_type(id); format && format->name == std::string_view(name))
                register_format(*format);
    for (const char* name : {"F8_E4M3", "F8_E5M2"}) register_format(*find_dtype(name));
    for (const char* name : {"INT4/128", "INT4/32", "NF4/64", "FP4/64", "INT8/128", "F8_E4M3/128"})
        register_format(laid_out_type(name));
    benchmark::RunSpecifiedBenchmarks();
}
