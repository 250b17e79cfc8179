// What a person feels at the limits: how soon Cancel takes effect inside a layer of a 7 B model, and inside a
// block that is followed back, what the picture of a long text takes, and what more threads than cores cost.
// Prints one line a figure; weights are random and shared by all matrices.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "analysis/attribution/influence.h"
#include "base/memory.h"
#include "trace/large_pattern.h"

using namespace headlight;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// One layer in the shape of a Llama, without a file behind it.
struct RandomModel {
    std::vector<float> values, weight;
    std::shared_ptr<Model> model = std::make_shared<Model>();

    RandomModel(int d_model, int heads, int d_mlp, int context)
        : values(static_cast<size_t>(d_model) * static_cast<size_t>(std::max(d_mlp, 1000))),
          weight(d_model, 1.0f) {
        std::mt19937 random(1);
        std::normal_distribution<float> normal(0, 0.02f);
        for (float& v : values) v = normal(random);
        ModelConfig& c = model->config;
        LayerSpec layer;
        c.stacks[0].vocab = c.vocab = 1000;
        layer.attention.heads = layer.attention.kv_heads = heads;
        c.d_model = c.d_embed = d_model;
        layer.attention.d_head = d_model / heads;
        c.context = context;
        c.norm = NormKind::rms_norm;
        layer.mlp.activation = Activation::silu;
        layer.mlp.gated = true;
        layer.mlp.width = d_mlp;
        c.stacks[0].layers = {layer};
        c.number_blocks();
        const auto matrix = [this](int in, int out) {
            return Linear::of_floats(values.data(), nullptr, in, out, WeightLayout::out_in);
        };
        StackWeights s;
        s.token_embedding = matrix(d_model, 1000);
        LayerWeights l;
        l.self.norm = l.mlp_norm = s.final_norm = {weight.data(), nullptr};
        l.self.q = l.self.k = l.self.v = l.self.o = matrix(d_model, d_model);
        l.mlp_gate = l.mlp_in = matrix(d_model, d_mlp);
        l.mlp_out = matrix(d_mlp, d_model);
        s.layers.push_back(l);
        model->weights.stacks.push_back(s);
    }

    ForwardRequest request(int n) const {
        Sequence s;
        for (int i = 0; i < n; ++i) s.ids.push_back(i * 7919 % 1000);
        s.tokens.resize(s.ids.size());
        return {{s}, {}};
    }
};

/// Whether it came to its end.
using Work = std::function<bool(const CancelFlag*)>;

/// Cancels it at many moments; the slowest answer, in ms, is what counts.
double cancel_latency(const std::string& what, const Work& work) {
    const auto begin = Clock::now();
    if (!work(nullptr)) return 0;
    const double whole = milliseconds_since(begin);
    std::vector<double> late;
    for (int i = 0; i < 20; ++i) {
        CancelFlag cancel{false};
        Clock::time_point at;
        std::thread person([&] {
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(whole * (i + 0.5) / 20));
            at = Clock::now();
            cancel = true;
        });
        const bool ended = work(&cancel);
        const auto end = Clock::now();
        person.join();
        if (!ended) late.push_back(std::chrono::duration<double, std::milli>(end - at).count());
    }
    std::sort(late.begin(), late.end());
    if (late.empty()) return 0;
    std::printf("cancel in %s: whole %.0f ms, cancelled after %.1f ms (median), %.1f ms (worst of %zu)\n",
                what.c_str(), whole, late[late.size() / 2], late.back(), late.size());
    return late.back();
}

void cancelled_layer(int threads) {
    const RandomModel seven(4096, 32, 11008, 512);
    ThreadPool pool(threads);
    cancel_latency("a 7 B layer, 512 tokens, " + std::to_string(threads) + " threads",
                   [&](const CancelFlag* cancel) {
                       return bool(run_trace(seven.model, seven.request(512), pool, cancel));
                   });
}

/// One block of GPT-2 small's shape followed back from the last token, on the one thread that the window
/// gives to it.
void cancelled_block() {
    constexpr int kTokens = 1024;
    constexpr double kBar = 100;
    const RandomModel small(768, 12, 3072, kTokens);
    ThreadPool pool(1);
    const auto trace = run_trace(small.model, small.request(kTokens), pool);
    if (!trace) return;
    std::vector<GradientSeed> seeds;
    for (int i = 0; i < gradients_together(**trace); ++i)
        seeds.push_back({0, 1, 0, Matrix::Constant(kTokens, 768, 0.01f * float(i + 1)), i});
    const std::vector<int> positions(seeds.size(), kTokens - 1);
    const std::pair<const char*, Work> works[] = {
        {"contributions",
         [&](const CancelFlag* cancel) {
             return bool(contribution_paths(**trace, std::vector{kTokens - 1}, pool, cancel));
         }},
        {"relevance",
         [&](const CancelFlag* cancel) {
             return bool(relevance_paths(**trace, positions, seeds, pool, cancel));
         }},
        {"rows of the Jacobian", [&](const CancelFlag* cancel) {
             return bool(jacobian_rows(**trace, {}, kTokens - 1, 1, 8, pool, cancel));
         }}};
    for (const auto& [name, work] : works) {
        const double worst = cancel_latency(std::string(name) + " of a block, 1,024 tokens, 1 thread", work);
        std::printf(
            "bar | cancel in %s of a block of GPT-2 small's shape, 1,024 tokens | %.1f ms |  | ≤ %.0f ms | "
            "%s\n",
            name, worst, kBar, worst <= kBar ? "met" : "missed");
    }
}

/// The picture of one head of a long text against n² float32.
void memory_of_a_picture(int tokens) {
    const RandomModel small(64, 1, 64, tokens);
    ThreadPool pool(default_thread_count());
    const auto trace = run_trace(small.model, small.request(tokens), pool);
    if (!trace) return;
    const int64_t before = peak_memory();
    const auto begin = Clock::now();
    const int step = map_step(tokens, tokens, kMaxMapSide);
    const Matrix map = max_pool_squares(tokens, tokens, step, pool, [&](int first, int rows) {
        return masked_pattern_rows(**trace, 0, 0, first, rows);
    });
    std::printf(
        "map of %d tokens: %.0f ms, %lld x %lld entries, %lld MB more at the peak (n x n float32: %lld MB)\n",
        tokens, milliseconds_since(begin), static_cast<long long>(map.rows()),
        static_cast<long long>(map.cols()), static_cast<long long>((peak_memory() - before) >> 20),
        static_cast<long long>(int64_t{tokens} * tokens * 4 >> 20));
}

/// The same products with as many threads as cores and with 16.
void more_threads_than_cores() {
    const RandomModel layer(1024, 16, 4096, 256);
    for (const int threads : {1, default_thread_count(), 16}) {
        ThreadPool pool(threads);
        std::vector<double> times;
        for (int i = 0; i < 9; ++i) {
            const auto begin = Clock::now();
            if (!run_trace(layer.model, layer.request(256), pool)) return;
            times.push_back(milliseconds_since(begin));
        }
        std::sort(times.begin(), times.end());
        std::printf("%2d threads on %u cores: %.1f ms (median of 9), %.1f ms (worst)\n", threads,
                    std::thread::hardware_concurrency(), times[4], times.back());
    }
}

}  // namespace

int main() {
    memory_of_a_picture(8192);  // before anything else has set the peak
    memory_of_a_picture(25'000);
    for (const int threads : {1, default_thread_count(), 16}) cancelled_layer(threads);
    cancelled_block();
    more_threads_than_cores();
}
