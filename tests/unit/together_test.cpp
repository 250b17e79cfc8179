// Tests that passes run together give what each gives alone.
#include "random_user.h"
#include "summaries.h"

using namespace headlight;

TEST_CASE("together: several passes at once give the traces of one after another, bit for bit") {
    ThreadPool pool(2);
    for (const std::string name : {"gpt2",
                                   "llama",
                                   "mistral",
                                   "gemma2",
                                   "gemma3n",
                                   "gemma4",
                                   "bloom",
                                   "phi",
                                   "opt",
                                   "bert",
                                   "marian",
                                   "t5",
                                   "qwen3_5_text",
                                   "nemotron_h",
                                   "falcon_h1",
                                   "lfm2",
                                   "bart",
                                   "gpt2_f16",
                                   "gpt2_bf16",
                                   "llama_gguf/llama-q4_0.gguf",
                                   "llama_gguf/llama-q8_0.gguf"}) {
        const auto model = reference_model(name);
        for (unsigned seed = 0; seed < 20; ++seed) {
            RandomUser user(*model, seed);
            const ForwardRequest first = user.request();
            const auto past = *run_trace(model, first, pool);
            std::vector<TraceRequest> requests{{first, nullptr}, {user.request(), nullptr}};
            for (int i = 0; i < 4; ++i) requests.push_back({user.edited(first), past.get()});
            requests.push_back({user.request(), past.get()});
            const auto together = run_traces(model, requests, pool);
            REQUIRE(together);
            for (size_t i = 0; i < requests.size(); ++i) {
                CAPTURE(name);
                CAPTURE(seed);
                CAPTURE(described(requests[i].request, model->config));
                const auto alone = *run_trace(model, requests[i].request, pool);
                CHECK((*together)[i]->request.inputs == alone->request.inputs);
                CHECK(differing(*(*together)[i], *alone) == "");
            }
        }
    }
}

TEST_CASE("together: the encoder's stack is shared by all texts that read it; what one cannot read is said") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    ForwardRequest request = request_of({5, 9, 200, 31});
    request.inputs.push_back(request_of({2}).inputs[0]);
    const auto past = *run_trace(model, request, pool);
    std::vector<TraceRequest> requests;
    for (const int id : {7, 8, 9}) {
        requests.push_back({request, past.get()});
        requests.back().request.inputs[1].ids.push_back(id);
        requests.back().request.inputs[1].tokens.resize(2);
    }
    const auto together = run_traces(model, requests, pool);
    REQUIRE(together);
    for (const auto& trace : *together) CHECK(trace->activations.stacks[0] == past->activations.stacks[0]);
    requests[1].request.inputs[1].ids = {1 << 30};
    CHECK(!run_traces(model, requests, pool));
    CHECK(run_traces(model, {}, pool)->empty());
}

TEST_CASE("together: each pass shows the patterns of its own rows, and cancelling stops all") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const ForwardRequest two = request_of({5, 9}), five = request_of({5, 9, 200, 31, 7});
    HeadObserver of_two(model->config, two.inputs, 4), of_five(model->config, five.inputs, 4);
    const auto together = run_traces(model, {{two, nullptr, &of_two}, {five, nullptr, &of_five}}, pool);
    REQUIRE(together);
    CHECK(first_difference(std::move(of_two).finish(*(*together)[0], pool),
                           *summarize_heads(*(*together)[0], 4, pool)) == -1);
    CHECK(first_difference(std::move(of_five).finish(*(*together)[1], pool),
                           *summarize_heads(*(*together)[1], 4, pool)) == -1);
    const CancelFlag cancel{true};
    CHECK(!run_traces(model, {{two}, {five}}, pool, &cancel));
}
