// The table of stations.
#include "learn/positions.h"
#include "learn/station.h"

namespace headlight::learn {

std::span<const Station> stations() {
    static constexpr Station table[] = {
        station<PositionsState, positions_page>("positions", "stories"),
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
