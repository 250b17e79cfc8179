// The engine of a page in which the reader types: opens a model from memory, runs a text, and hands out every
// head's weights. The page's worker (assets/live) calls these functions.
#include <memory>

#include "figure/page/page_data.h"
#include "files.h"
#include "io/eight_bits.h"
#include "model/input.h"
#include "trace/trace.h"

namespace headlight {

namespace {

constexpr const char* kFolder = "/model";

/// Holds what the page asks about, and the answer until the next question.
struct Live {
    ThreadPool pool{1};
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Trace> trace, written;  // written: the pass that wrote the last target
    std::string asked, answer;
    std::vector<float> weights;
};

Live& live() {
    static Live all;
    return all;
}

Result<Json> open_model() {
    auto& files = memory_files();
    for (auto& [path, bytes] : files) {
        if (!path.ends_with(".safetensors")) continue;
        TRY(bytes, from_eight_bits(std::move(bytes), path));
    }
    TRY(live().model, Model::open(kFolder));
    TRY_STATUS(live().model->tokenizer);
    return Json{{"context", live().model->config.context_of(live().model->config.stacks[0])}};
}

/// Describes all blocks, and collects their weights one after another.
Json blocks_of(const Trace& trace, std::vector<float>& out) {
    Json blocks = Json::array();
    out.clear();
    for (int b = 0; b < trace.config().blocks(); ++b) {
        const PagePatterns weights(trace, b);
        Json facts = block_facts(trace, b, weights);
        facts["encoding"] = "f32";
        facts["first"] = out.size();
        for (const Matrix& pattern : weights.patterns)
            weights.each(pattern, [&](float w) { out.push_back(w); });
        facts["count"] = out.size() - facts["first"].get<size_t>();
        blocks.push_back(std::move(facts));
    }
    return blocks;
}

Result<Json> run(const Json& asked) {
    Live& l = live();
    TextInput typed;
    typed.text = asked.at("text").get<std::string>();
    TRY(ModelInput input, encode_input(*l.model, typed));
    if (input.sequences[0].size() == 0) return Error{"Type a text."};
    const size_t tokens = input.tokens_in_all, read = size_t(input.sequences[0].size());
    TRY(ForwardRequest request, with_target(l.model, {std::move(input.sequences), {}}, l.pool, l.written));
    TRY(l.trace, run_trace(l.model, std::move(request), l.pool, nullptr, l.trace.get()));
    Json out{{"blocks", blocks_of(*l.trace, l.weights)},
             {"sequences", sequences_of(*l.trace)},
             {"next", next_of(*l.trace, l.pool)},
             {"left_out", tokens - read}};
    if (asked.value("lens", false) && l.model->has_logits()) {
        TRY(const Lens lens, answer_lens(*l.trace, {0, l.trace->output().size()}, l.pool, nullptr));
        out["lens"] = lens_of(*l.trace, lens);
    }
    return out;
}

/// Keeps an answer, or {"error": sentence}.
template <class Ask>
const char* answered(const Ask& ask) {
    const Result<Json> result = guarded(ask);
    live().answer = json_text(result ? *result : Json{{"error", result.error().message}});
    return live().answer.c_str();
}

}  // namespace

}  // namespace headlight

using namespace headlight;

extern "C" {

/// Returns where a text of this many bytes goes: a name, or a question.
[[gnu::visibility("default")]] char* live_text(size_t bytes) {
    live().asked.assign(bytes, '\0');
    return live().asked.data();
}
/// Returns where the bytes of the file go whose name was written to live_text().
[[gnu::visibility("default")]] char* live_file(size_t bytes) {
    std::string& file = memory_files()[std::string(kFolder) + "/" + live().asked];
    file.assign(bytes, '\0');
    return file.data();
}
/// Opens the model. These return JSON.
[[gnu::visibility("default")]] const char* live_open() { return answered(open_model); }
/// Answers the question in live_text(), {"text": …, "lens": whether to add it}.
[[gnu::visibility("default")]] const char* live_run() {
    return answered([]() -> Result<Json> {
        TRY(const Json asked, parse_json(live().asked, "The question"));
        return run(asked);
    });
}
[[gnu::visibility("default")]] const float* live_weights() { return live().weights.data(); }
}
