// Runs a worker for tests.
#pragma once

#include <chrono>
#include <thread>

#include "helpers.h"
#include "session/work/worker.h"

namespace headlight {

/// Sends a request, and waits for the first answer that satisfies the condition.
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
