// The table of stations.
#include "learn/database.h"
#include "learn/first_head.h"
#include "learn/formation.h"
#include "learn/hard_soft.h"
#include "learn/implicit.h"
#include "learn/masks.h"
#include "learn/no_weights.h"
#include "learn/parameters.h"
#include "learn/pictures.h"
#include "learn/positions.h"
#include "learn/qkv.h"
#include "learn/scale.h"
#include "learn/score_functions.h"
#include "learn/seq2seq.h"
#include "learn/station.h"
#include "learn/three_uses.h"
#include "learn/worked_example.h"

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
