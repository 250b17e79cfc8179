// Computes the station "A database that answers softly".
#include "learn/stations/database.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quoted.h"
#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "learn/stations/small_vectors.h"

namespace headlight::learn {

void DatabaseState::visit(ControlVisitor& v) {
    static constexpr std::array kSimilarities{"distance", "dot product"};
    v.choose("similarity", "Similarity", similarity, kSimilarities);
    v.number("temperature", "Temperature", temperature, 0, 1000);
    v.numbers("keys", keys);
    v.numbers("values", values);
    v.numbers("query", query);
}

namespace {

constexpr int kRows = 5;
constexpr std::array<const char*, kRows> kAnimals{"mouse", "cat", "dog", "horse", "zebra"};

struct Database {
    std::vector<std::string> names;
    Matrix keys, values, query;  // [rows, 2], [rows, 1], [1, 2]
};

Database database_of(const DatabaseState& state) {
    Matrix keys(kRows, 2), values(kRows, 1), query(1, 2);
    keys << 1, 1, 2, 6, 3, 9, 8, 7, 8, 2;
    values << 13, 48, 55, 70, 64;
    query << 8, 5;
    return {{kAnimals.begin(), kAnimals.end()},
            edited(state.keys, keys),
            edited(state.values, values),
            edited(state.query, query)};
}

std::string answer_text(const Database& db, const Vector& weights) {
    if (weights.sum() == 0) return "no such key: no answer";
    return "answer " + decimals(double((weights.transpose() * db.values)(0)), 1) + " km/h";
}

BarRows::Row bars(const std::string& title, const std::string& formula, const std::string& source,
                  const Database& db, const Vector& weights) {
    BarRows::Row row;
    row.title = title;
    row.formula = formula;
    row.source = source;
    row.values.assign(weights.begin(), weights.end());
    row.note = answer_text(db, weights);
    return row;
}

BarRows three_ways(const Database& db, const Vector& scores, const DatabaseState& state) {
    const bool distance = state.similarity == DatabaseState::Similarity::distance;
    const std::string score = distance ? "−‖q − k‖²" : "q · k";
    BarRows out{db.names, {}};
    out.rows = {bars("Exact", "1 where k = q", "a database", db, exact_weights(db.keys, db.query)),
                bars("Nearest", "1 at the largest " + score, "nearest neighbor, Fix and Hodges 1951", db,
                     hard_weights(scores)),
                bars("Weighted", "softmax(" + score + " / T)",
                     distance ? "Nadaraya 1964, Watson 1964" : "Luong et al. 2015", db,
                     soft_weights(scores, state.temperature))};
    out.rows.back().emphasized = true;
    return out;
}

/// Plots the answer over the temperature, from the nearest value to the mean of all.
Curves by_temperature(const Database& db, const Vector& scores, const DatabaseState& state) {
    constexpr int kPoints = 61;
    Curves::Line answer{"weighted", {}, {}, {}, false}, nearest{"nearest", {}, {}, {}, true},
        mean{"mean of all", {}, {}, {}, true};
    const float hard = hard_weights(scores).dot(db.values.col(0)), even = db.values.mean();
    for (int i = 0; i < kPoints; ++i) {
        const float t = float(std::pow(10.0, -1 + 4.0 * i / (kPoints - 1)));
        for (Curves::Line* line : {&answer, &nearest, &mean}) line->x.push_back(t);
        answer.y.push_back(soft_weights(scores, t).dot(db.values.col(0)));
        nearest.y.push_back(hard);
        mean.y.push_back(even);
    }
    Curves out;
    out.title = "The answer from hard to soft";
    out.x_is = "temperature T";
    out.y_is = "km/h";
    out.lines = {answer, nearest, mean};
    out.log_x = true;
    if (state.temperature > 0) out.mark_x = state.temperature;
    out.mark_name = "T = " + decimals(double(state.temperature), 1);
    return out;
}

Steps mixture(const Database& db, const Vector& weights) {
    Steps out;
    out.title = "The answer as a mixture";
    for (int i = 0; i < isize(db.names); ++i)
        out.lines.push_back({db.names[i],
                             decimals(double(weights[i]), 4) + " · " + decimals(double(db.values(i)), 0),
                             decimals(double(weights[i] * db.values(i)), 2)});
    out.lines.push_back({"answer", "the sum", decimals(double((weights.transpose() * db.values)(0)), 2)});
    return out;
}

}  // namespace

Vector database_scores(const Matrix& keys, const Matrix& query, DatabaseState::Similarity similarity) {
    if (similarity == DatabaseState::Similarity::dot) return dot_scores(query, keys).row(0).transpose();
    return -squared_distances(query, keys).row(0).transpose();
}

Vector exact_weights(const Matrix& keys, const Matrix& query) {
    Vector equal = Vector::Zero(keys.rows());
    for (Index i = 0; i < keys.rows(); ++i) equal[i] = keys.row(i) == query.row(0) ? 1.0f : 0.0f;
    return equal / std::max(1.0f, equal.sum());
}

Vector soft_weights(const Vector& scores, float temperature) {
    return temperature > 0 ? softmax_weights((scores.array() - scores.maxCoeff()) / temperature)
                           : hard_weights(scores);
}

Result<Page> database_page(const StationInput&, const DatabaseState& state, ThreadPool&) {
    const Database db = database_of(state);
    const Vector scores = database_scores(db.keys, db.query, state.similarity),
                 weights = soft_weights(scores, state.temperature);
    const std::vector<std::string> key_columns{"size", "tameness"};
    const float reach = std::max(db.keys.cwiseAbs().maxCoeff(), db.query.cwiseAbs().maxCoeff());
    Page page;
    page.note = "top speeds, rounded";
    page.blocks = {
        Grid{"Keys", "animal", "key", db.names, key_columns, db.keys, false, "keys", std::nullopt, reach},
        Grid{"Values", "animal", "value", db.names, {"km/h"}, db.values, false, "values", std::nullopt},
        Grid{"Query", "", "key", {"query"}, key_columns, db.query, false, "query", std::nullopt, reach},
        three_ways(db, scores, state),
        mixture(db, weights),
        by_temperature(db, scores, state)};
    return page;
}

}  // namespace headlight::learn
