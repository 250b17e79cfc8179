// Exports the tables of the positions view.
#include "views/positions/positions.h"

namespace headlight {

std::vector<NumberTable> position_numbers(const Scene& s) {
    const auto* found = s.found<PositionsRequest>();
    if (!found || found->answer.table.size() == 0) return {};
    const Positions& p = found->answer;
    std::vector<std::string> columns;
    for (const int i : p.by_distance() ? p.distances : p.components) columns.push_back(std::to_string(i));
    const auto square = counted(p.between.rows());
    return {{"positions", p.by_distance() ? "head" : "position", p.by_distance() ? "distance" : "component",
             counted(p.table.rows()), columns, p.table},
            {"between positions", "query", "key", square, square, p.between}};
}

}  // namespace headlight
