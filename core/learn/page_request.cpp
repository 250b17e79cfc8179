// Answers requests for a station's page.
#include "learn/page_request.h"

#include "learn/controls.h"

namespace headlight {

namespace {

/// Returns the typed text, or the text of the tokens if nothing was typed; nothing for an image.
std::string text_of_run(const Trace& trace, const std::string& typed) {
    const Model& model = *trace.model;
    if (model.config.can.read_image) return "";
    return typed.empty() && model.tokenizer ? (*model.tokenizer)->decode(trace.request.inputs[0].ids) : typed;
}

}  // namespace

void PageRequest::clamp_to(const Trace& trace) {
    if (!learn::find_station(station)) station = learn::stations()[0].key;
    block = nearest_block(trace, block);
    head = nearest_head(trace, block, head);
}

Result<StationPage> answer_page(const Runs& runs, const PageRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel) {
    const learn::Station* station = learn::find_station(request.station);
    HEADLIGHT_CHECK(station != nullptr);
    learn::StationInput input;
    input.trace = &runs.shown;
    input.model = runs.shown.model.get();
    input.text = text_of_run(runs.shown, request.text);
    const auto first_head =
        station->first_head && !request.head_chosen ? station->first_head(runs.shown, pool) : std::nullopt;
    const AttentionHead head = first_head.value_or(AttentionHead{request.block, request.head});
    input.block = head.block;
    input.head = head.head;
    input.query = request.query;
    input.cancel = cancel;
    auto page = learn::station_page(*station, input, learn::state_of(*station, request.words), pool);
    if (page) return StationPage{std::make_shared<const learn::Page>(*std::move(page)), "", first_head};
    if (page.error().cancelled) return page.error();
    return StationPage{nullptr, page.error().message, first_head};
}

}  // namespace headlight
