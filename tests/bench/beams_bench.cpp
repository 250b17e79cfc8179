// A step of a beam search: its texts together, and one after another.
#include "analysis/prediction/predict.h"
#include "bench_model.h"

using namespace headlight;

namespace {

/// Texts of a beam search: 64 tokens with another last one each.
std::vector<TraceRequest> beams(int count, const Trace& past) {
    std::vector<TraceRequest> out;
    for (int i = 0; i < count; ++i) {
        out.push_back({request(past.output().size() + 1), &past});
        out.back().request.inputs[0].ids.back() = 100 + i;
    }
    return out;
}

/// Their next traces and logits.
void beam_step(benchmark::State& state) {
    ThreadPool pool(threads());
    const auto past = *run_trace(model(), request(63), pool);
    for (auto _ : state) {
        const auto traces = *run_traces(model(), beams(static_cast<int>(state.range(0)), *past), pool);
        Matrix last(isize(traces), model()->config.d_model);
        for (int i = 0; i < isize(traces); ++i) last.row(i) = traces[i]->normalized().row(63);
        benchmark::DoNotOptimize(unembed(*model(), last, pool));
    }
}
void beams_in_turn(benchmark::State& state) {
    ThreadPool pool(threads());
    const auto past = *run_trace(model(), request(63), pool);
    for (auto _ : state)
        for (TraceRequest& beam : beams(static_cast<int>(state.range(0)), *past)) {
            const auto trace = *run_trace(model(), std::move(beam.request), pool, nullptr, past.get());
            benchmark::DoNotOptimize(logits_at(*trace, 63, pool));
        }
}

void numbers_of_beams(benchmark::internal::Benchmark* step) {
    for (const int beams : {1, 2, 4, 8}) step->Arg(beams);
    step->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(3)->ReportAggregatesOnly();
}
BENCHMARK(beam_step)->Apply(numbers_of_beams);
BENCHMARK(beams_in_turn)->Apply(numbers_of_beams);

}  // namespace
