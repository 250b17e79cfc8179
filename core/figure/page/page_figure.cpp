#include "figure/page/page_figure.h"

#include <cmath>
#include <unordered_map>

#include "base/cast.h"
#include "figure/page/packed.h"

namespace headlight {

namespace {

constexpr Index kMaxNumbers = 20'000;

/// Lists each text once, and of each spot its place, the index of its text and whether it is outlined.
Json spots_of(const PageFigure& figure) {
    Json texts = Json::array(), spots = Json::array();
    std::unordered_map<std::string, size_t> known;
    for (const PageSpot& spot : figure.spots) {
        const auto [at, is_new] = known.try_emplace(spot.said, known.size());
        if (is_new) texts.push_back(spot.said);
        spots.push_back({spot.x, spot.y, spot.width, spot.height, at->second, spot.framed ? 1 : 0});
    }
    return {{"texts", std::move(texts)}, {"places", std::move(spots)}};
}

/// Returns a number as a table shows it: six digits, null for NaN.
Json shown_number(double value) {
    if (!std::isfinite(value)) return nullptr;
    const std::string digits = csv_number(value);
    return std::stod(digits);
}

Json table_of(const NumberTable& table) {
    Json values = Json::array();
    for (Index r = 0; r < table.values.rows(); ++r) {
        Json row = Json::array();
        for (Index c = 0; c < table.values.cols(); ++c)
            row.push_back(shown_number(table.exact.size() ? table.exact(r, c) : double(table.values(r, c))));
        values.push_back(std::move(row));
    }
    return {{"name", table.name}, {"rows_are", table.rows_are}, {"columns_are", table.columns_are},
            {"rows", table.rows}, {"columns", table.columns},   {"values", std::move(values)}};
}

}  // namespace

Json packed_figure(const PageFigure& figure) {
    Json tables = Json::array(), left_out = Json::array();
    Index numbers = 0;
    for (const NumberTable& table : figure.tables) {
        numbers += table.values.size();
        if (numbers <= kMaxNumbers)
            tables.push_back(table_of(table));
        else
            left_out.push_back(table.name);
    }
    const Json inside{{"svg", figure.svg},
                      {"dark", figure.dark_svg},
                      {"spots", spots_of(figure)},
                      {"tables", std::move(tables)},
                      {"left_out", std::move(left_out)}};
    return {{"key", figure.key},
            {"name", figure.name},
            {"title", figure.title},
            {"width", figure.width},
            {"height", figure.height},
            {"data", packed(inside.dump(-1, ' ', false, Json::error_handler_t::replace))}};
}

}  // namespace headlight
