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

/// Begins on the unchanged run, so that no intervention moves the station to another head.
learn::StationStart start_of(const Runs& runs, const learn::Station& station, const PageRequest& request,
                             ThreadPool& pool) {
    const AttentionHead shown{request.block, request.head};
    auto start =
        learn::station_start(station, runs.own ? *runs.own : runs.shown,
                             request.head_chosen ? std::optional(shown) : std::nullopt, request.query, pool);
    if (!start.found) start.cell.head = shown;
    return start;
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
    const learn::StationStart start = start_of(runs, *station, request, pool);
    const AttentionHead head = start.cell.head;
    input.block = head.block;
    input.head = head.head;
    input.query = start.cell.query;
    input.ground = start.cell.ground;
    input.cancel = cancel;
    auto page = learn::station_page(*station, input, learn::state_of(*station, request.words), pool);
    if (!page && page.error().cancelled) return page.error();
    StationPage out{nullptr, "", head, start.found, station->first_head != nullptr};
    if (page)
        out.page = std::make_shared<const learn::Page>(*std::move(page));
    else
        out.missing = page.error().message;
    return out;
}

}  // namespace headlight
