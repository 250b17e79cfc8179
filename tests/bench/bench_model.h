// The model that is measured, by its folder or the address of a server, and texts for it.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "base/cast.h"
#include "engine/open.h"
#include "trace/trace.h"

namespace headlight {

inline int threads() {
    const char* value = std::getenv("HEADLIGHT_BENCH_THREADS");
    return value ? std::atoi(value) : default_thread_count();
}

inline std::shared_ptr<const Model> model() {
    static const auto opened = open_any_model(
        std::getenv("HEADLIGHT_BENCH_MODEL") ? std::getenv("HEADLIGHT_BENCH_MODEL") : "models/stories");
    if (!opened) {
        std::cerr << opened.error().message << "\n";
        std::exit(1);
    }
    return *opened;
}

inline ForwardRequest request(int n) {
    Sequence s;
    for (int i = 0; i < n; ++i) s.ids.push_back(static_cast<int>((7919LL * i + 13) % model()->config.vocab));
    s.tokens.resize(s.ids.size());
    return {{s}, {}};
}

inline bool too_long(benchmark::State& state) {
    if (state.range(0) <= model()->config.context) return false;
    state.SkipWithError("longer than the model's context");
    return true;
}

}  // namespace headlight
