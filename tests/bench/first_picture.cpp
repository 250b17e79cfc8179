// When the window could draw a long text's first picture: first_picture MODEL TOKENS [THREADS] prints, as
// JSON, the tokens that it shows, milliseconds to it and to the picture of the whole text. memory.py beside
// this file runs it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "session/work/worker.h"

using namespace headlight;

namespace {

/// Milliseconds until an answer that the condition holds for.
template <class Condition>
double wait_for(Worker& worker, const Condition& condition) {
    const auto begin = std::chrono::steady_clock::now();
    while (true) {
        const auto answer = worker.poll();
        if (answer && answer->picture && condition(*answer->sentence)) break;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string words(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += i % 3 ? " ball" : " the";
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: first_picture MODEL TOKENS [THREADS]\n");
        return 1;
    }
    Worker worker(argc > 3 ? std::atoi(argv[3]) : default_thread_count(), [] {});
    WorkRequest r;
    r.model_path = argv[1];
    r.text = words(32);
    worker.ask(r);
    wait_for(worker, [](const SentenceResult&) { return true; });
    std::this_thread::sleep_for(std::chrono::seconds(2));  // the weights are laid out behind the first pass
    const size_t before = r.text.size();
    r.text = "Once" + words(std::atoi(argv[2]) - 1);
    int shown = 0;
    worker.ask(r);
    const double first = wait_for(worker, [&](const SentenceResult& s) {
        shown = s.trace->output().size();
        return s.text.size() != before;
    });
    const double rest =
        wait_for(worker, [&](const SentenceResult& s) { return s.complete && s.text.size() != before; });
    std::printf("{\"shown\": %d, \"first_ms\": %.0f, \"whole_ms\": %.0f}\n", shown, first, first + rest);
}
