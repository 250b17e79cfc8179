// A worker that is asked by a test.
#pragma once

#include <chrono>
#include <thread>

#include "helpers.h"
#include "session/work/worker.h"

namespace headlight {

/// Asks, and waits for the first answer that the condition holds for.
template <class Condition>
std::shared_ptr<const WorkAnswer> answer_of(Worker& worker, const WorkRequest& request,
                                            const Condition& condition) {
    worker.ask(request);
    for (int i = 0; i < 2000; ++i) {
        if (const auto a = worker.poll(); a && condition(*a)) return a;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("no answer");
    return nullptr;
}

}  // namespace headlight
