#include "machine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace headlight {

namespace {

constexpr int kTries = 7, kTasks = 64;
constexpr int kChains = 12;  // sums side by side: as many as hide how long one multiply-add takes
constexpr int64_t kRounds = 200'000;

double least_seconds(const std::function<void()>& run) {
    double best = 1e9;
    for (int i = 0; i < kTries; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

/// The sums of vectors V, in the instructions of the function that this is inlined into.
template <class V>
[[gnu::always_inline]] inline float run_chains() {
    V sums[kChains] = {};
    for (int chain = 0; chain < kChains; ++chain) sums[chain] += float(chain);  // equal ones would be one
    for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
        for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * 0.5f + 1.0f;
    V all = sums[0];
    for (const V& sum : sums) all += sum;
    return all[0];
}

template <int Lanes>
using Floats [[gnu::vector_size(Lanes * 4)]] = float;

float plain_chains() { return run_chains<Floats<4>>(); }
#ifdef __x86_64__
[[gnu::target("avx512f")]] float wide_chains() { return run_chains<Floats<16>>(); }
[[gnu::target("avx2,fma")]] float middle_chains() { return run_chains<Floats<8>>(); }
#endif

struct Chains {
    float (*run)();
    int lanes;
};

Chains widest() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return {wide_chains, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {middle_chains, 8};
#endif
    return {plain_chains, 4};
}

}  // namespace

double reading_seconds(ThreadPool& pool, std::span<const std::byte> bytes) {
    const auto* const words = reinterpret_cast<const uint64_t*>(bytes.data());
    const auto count = static_cast<int64_t>(bytes.size()) / kTasks / 64 * 8;
    std::atomic<uint64_t> all = 0;
    return least_seconds([&] {
        pool.run(kTasks, [&](int task) {
            uint64_t lanes[8] = {};
            for (int64_t w = count * task; w < count * (task + 1); w += 8)
                for (int64_t lane = 0; lane < 8; ++lane) lanes[lane] += words[w + lane];
            for (const uint64_t lane : lanes) all += lane;
        });
    });
}

double peak_flops(ThreadPool& pool) {
    const Chains chains = widest();
    std::atomic<float> all = 0;
    const double seconds = least_seconds([&] { pool.run(kTasks, [&](int) { all = chains.run(); }); });
    return 2.0 * kTasks * kRounds * kChains * chains.lanes / seconds;
}

}  // namespace headlight
