// Tabulates the stations.
#include "learn/station.h"
#include "learn/stations/database.h"
#include "learn/stations/first_head.h"
#include "learn/stations/formation.h"
#include "learn/stations/hard_soft.h"
#include "learn/stations/implicit.h"
#include "learn/stations/masks.h"
#include "learn/stations/no_weights.h"
#include "learn/stations/parameters.h"
#include "learn/stations/pictures.h"
#include "learn/stations/positions.h"
#include "learn/stations/qkv.h"
#include "learn/stations/scale.h"
#include "learn/stations/score_functions.h"
#include "learn/stations/seq2seq.h"
#include "learn/stations/three_uses.h"
#include "learn/stations/worked_example.h"

namespace headlight::learn {

std::span<const Station> stations() {
    static constexpr Station table[] = {
        station<NoWeightsState, no_weights_page>("no-weights", "stories", most_moved_head),
        station<QkvState, qkv_page>("qkv", "stories", most_moved_head),
        station<DatabaseState, database_page>("database", ""),
        station<ScoreFunctionsState, score_functions_page>("score-functions", "stories", most_moved_head),
        station<ScaleState, scale_page>("scale", "stories", most_moved_head),
        station<WorkedExampleState, worked_example_page>("worked-example", ""),
        station<PositionsState, positions_page>("positions", "stories", previous_token_head),
        station<MasksState, masks_page>("masks", "stories", most_moved_head),
        station<HardSoftState, hard_soft_page>("hard-soft", "stories", most_moved_head),
        station<ImplicitState, implicit_page>("implicit", "stories", most_moved_head),
        station<ParametersState, parameters_page>("parameters", "stories", most_moved_head),
        station<Seq2seqState, seq2seq_page>("seq2seq", "translator"),
        station<ThreeUsesState, three_uses_page>("three-uses", "translator"),
        station<PicturesState, pictures_page>("pictures", ""),
        station<FormationState, formation_page>("formation", ""),
    };
    return table;
}

const Station* find_station(std::string_view key) {
    for (const Station& station : stations())
        if (key == station.key) return &station;
    return nullptr;
}

Result<Page> station_page(const Station& station, const StationInput& input, const std::any& state,
                          ThreadPool& pool) {
    const CancelScope scope(pool, input.cancel);
    TRY(Page page, station.compute(input, state, pool));
    const StationText& text = station_text(station.key);
    page.symbols.insert(page.symbols.end(), text.symbols.begin(), text.symbols.end());
    return page;
}

}  // namespace headlight::learn
