#include "machine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

float plain_chains() {
    float sums[kChains] = {};
    for (int64_t i = 0; i < kRounds; ++i)
        for (float& sum : sums) sum = sum * 0.5f + 1.0f;
    return sums[0] + sums[kChains - 1];
}

#ifdef __x86_64__
__attribute__((target("avx512f"))) float wide_chains() {
    __m512 sums[kChains];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    const __m512 half = _mm512_set1_ps(0.5f), one = _mm512_set1_ps(1);
    for (int64_t i = 0; i < kRounds; ++i)
        for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, half, one);
    __m512 all = sums[0];
    for (const __m512& sum : sums) all = _mm512_add_ps(all, sum);
    return _mm512_cvtss_f32(all);
}

__attribute__((target("avx2,fma"))) float middle_chains() {
    __m256 sums[kChains];
    for (__m256& sum : sums) sum = _mm256_setzero_ps();
    const __m256 half = _mm256_set1_ps(0.5f), one = _mm256_set1_ps(1);
    for (int64_t i = 0; i < kRounds; ++i)
        for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, half, one);
    __m256 all = sums[0];
    for (const __m256& sum : sums) all = _mm256_add_ps(all, sum);
    return _mm256_cvtss_f32(all);
}
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
    return {plain_chains, 1};
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
