// Reads the sense of a word off what attention added to it.
#include "learn/word_senses.h"

#include "analysis/circuits/direct.h"
#include "analysis/prediction/predict.h"
#include "learn/nearest_tokens.h"
#include "model/input.h"

namespace headlight {

namespace {

/// Returns the whole words that a vector in the stream raises most.
std::vector<std::string> raised_words(const Trace& trace, const Vector& added, ThreadPool& pool) {
    constexpr int kListed = 5;
    const int last = trace.output().size() - 1;
    const Model& model = *trace.model;
    const Vector logits = DirectPath::at(trace, last)->logits(added.transpose(), pool).row(0).transpose();
    const auto count = narrow<int>(logits.size());
    const std::vector<bool> whole = whole_words(**model.tokenizer, count);
    std::vector<std::string> out;
    for (const int id : ranked_ids(logits, count))
        if (whole[id] && isize(out) < kListed) out.push_back(token_label(**model.tokenizer, id));
    return out;
}

}  // namespace

Result<std::optional<std::vector<WordSense>>> word_senses(const std::shared_ptr<const Model>& model,
                                                          const std::vector<std::string>& sentences,
                                                          ThreadPool& pool, const CancelFlag* cancel) {
    std::optional<std::vector<WordSense>> out;
    const ModelConfig& c = model->config;
    if (!c.can.continue_text || isize(c.stacks) > 1 || !model->tokenizer || !has_direct_path(*model))
        return out;
    out.emplace();
    for (const std::string& sentence : sentences) {
        TextInput typed;
        typed.text = sentence;
        TRY(ModelInput input, encode_input(*model, typed));
        TRY(const auto trace, run_trace(model, {std::move(input.sequences), {}}, pool, cancel));
        const int last = trace->output().size() - 1;
        Vector added = Vector::Zero(c.d_model);
        for (int block = 0; block < c.blocks(); ++block)
            added += carried_share(*model, block) * trace->attn_out(block, last, 1, pool).row(0).transpose();
        out->push_back({sentence, raised_words(*trace, added, pool)});
    }
    return out;
}

}  // namespace headlight
