// The table of stations.
#include "learn/hard_soft.h"
#include "learn/masks.h"
#include "learn/parameters.h"
#include "learn/positions.h"
#include "learn/scale.h"
#include "learn/station.h"
#include "learn/worked_example.h"

namespace headlight::learn {

std::span<const Station> stations() {
    static constexpr Station table[] = {
        station<ScaleState, scale_page>("scale", "stories"),
        station<WorkedExampleState, worked_example_page>("worked-example", ""),
        station<PositionsState, positions_page>("positions", "stories"),
        station<MasksState, masks_page>("masks", "stories"),
        station<HardSoftState, hard_soft_page>("hard-soft", "stories"),
        station<ParametersState, parameters_page>("parameters", "stories"),
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
