#include "analysis/prediction/default_place.h"

#include <algorithm>

#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "tokenizer/unicode_forms.h"

namespace headlight {

namespace {

/// Whether a token stands for no text: "</s>", padding, "[SEP]".
bool is_special(const Model& model, int id) {
    const ModelConfig& c = model.config;
    if (contains(c.generation.eos_token_ids, id) || id == c.pad_id || id == c.mask_id) return true;
    if (!model.tokenizer) return false;
    const Tokenizer& tokenizer = *model.target_tokenizer();
    return tokenizer.decode({id}).empty() && tokenizer.bytes(id).find_first_not_of(' ') != std::string::npos;
}

bool has_letter_or_digit(const std::string& text) {
    const std::vector<char32_t> all = code_points(text);
    return std::any_of(all.begin(), all.end(), is_letter_or_digit);
}

/// Without a tokenizer any token that is not special counts.
bool is_word(const Model& model, int id) {
    return !is_special(model, id) && (!model.tokenizer || has_letter_or_digit(prediction_label(model, id)));
}

/// The last token that is a word; without one the last.
int last_word(const Trace& trace) {
    const std::vector<int>& ids = trace.output().ids;
    for (int at = isize(ids) - 1; at >= 0; --at)
        if (is_word(*trace.model, ids[size_t(at)])) return at;
    return trace.output().size() - 1;
}

int most_probable(const Trace& trace, int position, ThreadPool& pool) {
    return predictions(trace, position, 1, pool)[0].id;
}

MetricPlace place_of_decoder(const Trace& trace, int next, ThreadPool& pool) {
    constexpr int kLookedAt = 64;
    const int last = trace.output().size() - 1;
    if (!is_special(*trace.model, next)) return {last, next, ""};
    for (int at = last - 1; at >= std::max(0, last - kLookedAt); --at)
        if (const int token = most_probable(trace, at, pool); is_word(*trace.model, token))
            return {at, token,
                    "Next comes " + prediction_label(*trace.model, next) +
                        ", which is no word; the last word before it is explained."};
    return {last, next, ""};
}

/// Where a model that reads all at once is explained; the mask token first.
MetricPlace place_of_encoder(const Trace& trace) {
    const std::vector<int>& ids = trace.output().ids;
    const auto masked = std::find(ids.begin(), ids.end(), trace.config().mask_id);
    if (masked != ids.end()) return {narrow<int>(masked - ids.begin()), -1, ""};
    return {last_word(trace), -1,
            trace.model->has_logits() ? "No token is masked; the last word is explained."
                                      : "The last word is explained."};
}

}  // namespace

MetricPlace default_place(const Trace& trace, ThreadPool& pool, int next) {
    const ModelConfig& c = trace.config();
    const bool predicts = trace.model->has_logits();
    const int last = trace.output().size() - 1;
    MetricPlace out{c.can.read_image && predicts ? 0 : last, -1, ""};
    if (c.can.fill_masks && !c.can.read_image) out = place_of_encoder(trace);
    if (!predicts) return out;
    const bool known = next >= 0 && out.reason.empty();
    out.token = known ? next : most_probable(trace, out.position, pool);
    return c.can.fill_masks || c.can.read_image ? out : place_of_decoder(trace, out.token, pool);
}

}  // namespace headlight
