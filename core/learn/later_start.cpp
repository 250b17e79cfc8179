// Measures words that begin later.
#include "learn/later_start.h"

#include <algorithm>
#include <cmath>

#include "analysis/prediction/generate.h"
#include "learn/bottleneck.h"
#include "learn/questions/parts.h"
#include "learn/translation_choices.h"
#include "model/input.h"

namespace headlight {

namespace {

constexpr int kLongest = 512;

std::vector<int> starts_of(int tokens, int context) {
    const int last = std::min(context > 0 ? context : kLongest, kLongest) - tokens;
    std::vector<int> out;
    for (int first = 0; first < last; first = first ? 2 * first : 1) out.push_back(first);
    if (last >= 0) out.push_back(last);
    return out;
}

/// Requests the text after `first` tokens that no query attends to.
Result<ForwardRequest> request_from(const Model& model, const Sequence& text, int first) {
    ForwardRequest out{{text}, {}};
    Sequence& read = out.inputs[0];
    read.types.clear();
    read.ids.insert(read.ids.begin(), first, text.ids.front());
    read.tokens.insert(read.tokens.begin(), first, text.tokens.front());
    const bool translates = isize(model.config.stacks) > 1;
    if (translates) {
        out.inputs.emplace_back();
        append_token(model, out.inputs[1], model.config.start_id);
    }
    const std::string hidden = "mask:*>" + (first > 1 ? "0-" + std::to_string(first - 1) : std::string("0"));
    const std::vector<std::string> places =
        translates ? std::vector<std::string>{"@encoder", "@cross"} : std::vector<std::string>{""};
    for (const std::string& place : places) {
        if (first == 0) break;
        TRY(Change change, parse_change(model.config, hidden + place));
        out.intervention.changes.push_back(std::move(change));
    }
    return out;
}

}  // namespace

Result<LaterStarts> later_starts(const std::shared_ptr<const Model>& model, const Sequence& text,
                                 ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = model->config;
    LaterStarts out;
    if (!model->has_logits() || c.can.fill_masks || c.can.read_image || text.ids.empty()) return out;
    const bool translates = isize(c.stacks) > 1;
    std::vector<int> written;
    if (translates) {
        TRY(const Translated own, translate(model, text, pool, cancel));
        written = own.ids;
        out.what = "a token of the translation";
        if (written.empty()) return out;
    }
    for (const int first : starts_of(text.size(), c.context)) {
        TRY(ForwardRequest request, request_from(*model, text, first));
        LaterStart at{first, 0};
        if (translates) {
            TRY(const ReferenceTokens read,
                read_reference(model, std::move(request), written, pool, cancel, nullptr));
            at.probability = read.mean_probability();
        } else {
            TRY(const auto trace, run_trace(model, std::move(request), pool, cancel));
            const int last = trace->request.inputs[0].size() - 1;
            if (first == 0) written = {predictions(*trace, last, 1, pool)[0].id};
            at.probability = probabilities_at(*trace, last, pool)[written[0]];
        }
        out.starts.push_back(at);
        out.last = first;
    }
    if (!translates && !written.empty()) out.what = learn::said(prediction_label(*model, written[0]));
    return out;
}

}  // namespace headlight
