// What a pass for the window takes at its peak beside the model: memory_bench MODEL TOKENS [THREADS] prints,
// as JSON, megabytes at the peak, those of the arrays that the trace keeps, and seconds. memory.py beside
// this file runs it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "analysis/attention/head_summary.h"
#include "analysis/prediction/predict.h"
#include "model/loading/packed.h"

using namespace headlight;

namespace {

/// Bytes of this process that no file backs: without the mapped model.
double anonymous() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) return 1024 * std::atof(line.c_str() + sizeof "RssAnon:");
    return 0;
}

/// The most of them while `run` runs, looked at each millisecond.
template <class Run>
double most_anonymous(const Run& run) {
    std::atomic<bool> over = false;
    double most = 0;
    std::thread watch([&] {
        while (!over) {
            most = std::max(most, anonymous());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    run();
    over = true;
    watch.join();
    return most;
}

/// What earlier passes have freed is no longer this process's.
void give_back_freed() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

ForwardRequest request(const Model& model, int n) {
    Sequence s;
    for (int i = 0; i < n; ++i) s.ids.push_back(static_cast<int>((7919LL * i + 13) % model.config.vocab));
    s.tokens.resize(s.ids.size());
    return {{s}, {}};
}

void run_for_window(const std::shared_ptr<const Model>& model, int n, ThreadPool& pool) {
    const ForwardRequest r = request(*model, n);
    HeadObserver heads(model->config, r.inputs);
    const auto trace = *run_trace(model, r, pool, nullptr, nullptr, &heads);
    static_cast<void>(std::move(heads).finish(*trace, pool));
    static_cast<void>(predictions(*trace, n - 1, 5, pool));
}

/// Bytes of q, k, v and the residual stream of n tokens.
double kept_bytes(const ModelConfig& c, int n) {
    const AttentionSpec& a = c.attention(0);
    const double columns = a.d_head * (a.heads + 2.0 * a.kv_heads) + c.d_model;
    return 4.0 * n * (c.layers() * columns + 2.0 * c.d_model);
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 2 ? std::atoi(argv[2]) : 0;
    const auto model = argc > 2 ? Model::open(argv[1]) : Error{"usage: memory_bench MODEL TOKENS [THREADS]"};
    if (!model || n < 1 || n > (*model)->config.context) {
        std::fprintf(stderr, "%s\n", model ? "no such number of tokens" : model.error().message.c_str());
        return 1;
    }
    ThreadPool pool(argc > 3 ? std::atoi(argv[3]) : default_thread_count());
    run_for_window(*model, std::min(n, 64), pool);
    (*model)->packed->wait();
    give_back_freed();
    const double before = anonymous();
    const auto begin = std::chrono::steady_clock::now();
    const double most = most_anonymous([&] { run_for_window(*model, n, pool); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("{\"peak_MB\": %.1f, \"kept_MB\": %.1f, \"seconds\": %.2f}\n", (most - before) / 1e6,
                kept_bytes((*model)->config, n) / 1e6, took.count());
}
