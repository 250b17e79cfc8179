// Tabulates the stations.
#include "learn/follow/follow.h"
#include "learn/questions/ask.h"
#include "learn/station.h"
#include "learn/stations/first_head.h"

namespace headlight::learn {

std::span<const Station> stations() {
    static constexpr Station table[] = {
        station<FollowState, follow_page>("follow", "stories", followed_head, "step"),
        station<DatabaseState, database_page, ask_database>("database", ""),
        station<WorkedExampleState, worked_example_page, ask_worked>("worked-example", ""),
        station<NoWeightsState, no_weights_page, ask_no_weights>("no-weights", "stories", telling_move),
        station<QkvState, qkv_page, ask_qkv>("qkv", "stories", telling_look),
        station<ScoreFunctionsState, score_functions_page, ask_scores>("score-functions", "stories",
                                                                       telling_look),
        station<ScaleState, scale_page, ask_scale>("scale", "stories", telling_scale),
        station<MasksState, masks_page, ask_masks>("masks", "stories", telling_mask),
        station<PositionsState, positions_page, ask_positions>("positions", "stories", telling_previous),
        station<HardSoftState, hard_soft_page, ask_hard_soft>("hard-soft", "stories", telling_choice),
        station<ThreeUsesState, three_uses_page, ask_three_uses>("three-uses", "translator"),
        station<Seq2seqState, seq2seq_page, ask_seq2seq>("seq2seq", "translator"),
        station<ImplicitState, implicit_page, ask_implicit>("implicit", "stories", telling_nudge),
        station<ParametersState, parameters_page, ask_parameters>("parameters", "stories"),
        station<PicturesState, pictures_page, ask_pictures>("pictures", "scenes"),
        station<FormationState, formation_page, ask_formation>("formation", ""),
    };
    return table;
}

const Station* find_station(std::string_view key) {
    for (const Station& station : stations())
        if (key == station.key) return &station;
    return nullptr;
}

StationStart station_start(const Station& station, const Trace& trace, std::optional<AttentionHead> chosen,
                           int query, ThreadPool& pool) {
    const auto own = station.first_head ? station.first_head(trace, chosen, pool) : std::nullopt;
    StationStart out{{chosen.value_or(own ? own->head : AttentionHead{}), query}, own && !chosen};
    if (query < 0 && own) out.cell.query = own->query;
    if (own) out.cell.ground = own->ground;
    return out;
}

Result<Page> station_page(const Station& station, const StationInput& input, const std::any& state,
                          ThreadPool& pool) {
    const CancelScope scope(pool, input.cancel);
    TRY(Page page, station.compute(input, state, pool));
    TRY(page.questions, station.ask(input, state, page, pool));
    const StationText& text = station_text(station.key);
    page.symbols.insert(page.symbols.end(), text.symbols.begin(), text.symbols.end());
    return page;
}

}  // namespace headlight::learn
