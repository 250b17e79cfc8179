#include "analysis/prediction/default_place.h"

#include <utf8proc.h>

#include <algorithm>

#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "base/utf8.h"

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
    for (size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text, at);
        at += c.length;
        const auto kind = utf8proc_category(static_cast<utf8proc_int32_t>(c.value));
        const bool letter = kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO,
                   digit = kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
        if (letter || digit) return true;
    }
    return false;
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

MetricPlace place_of_decoder(const Trace& trace, ThreadPool& pool) {
    constexpr int kLookedAt = 64;
    const int last = trace.output().size() - 1;
    const auto predicted = [&](int at) { return predictions(trace, at, 1, pool)[0].id; };
    const int next = predicted(last);
    if (!is_special(*trace.model, next)) return {last, ""};
    for (int at = last - 1; at >= std::max(0, last - kLookedAt); --at)
        if (is_word(*trace.model, predicted(at)))
            return {at, "Next comes " + prediction_label(*trace.model, next) +
                            ", which is no word; the last word before it is explained."};
    return {last, ""};
}

}  // namespace

MetricPlace default_place(const Trace& trace, ThreadPool& pool) {
    const ModelConfig& c = trace.config();
    const int last = trace.output().size() - 1;
    if (c.can.read_image) return {trace.model->has_logits() ? 0 : last, ""};
    if (c.can.fill_masks) {
        const std::vector<int>& ids = trace.output().ids;
        const auto masked = std::find(ids.begin(), ids.end(), c.mask_id);
        if (masked != ids.end()) return {narrow<int>(masked - ids.begin()), ""};
        return {last_word(trace), trace.model->has_logits() ? "No token is masked; the last word is explained."
                                                            : "The last word is explained."};
    }
    if (!trace.model->has_logits()) return {last, ""};
    return place_of_decoder(trace, pool);
}

}  // namespace headlight
