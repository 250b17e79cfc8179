// Tests Learn's results against those of numpy and torch on the same numbers (tests/reference/learn.py).
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>

#include "analysis/circuits/head_matrices.h"
#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "learn/dot_products.h"
#include "learn/hard_attention.h"
#include "learn/mask_ways.h"
#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "learn/worked_attention.h"

using namespace headlight;

namespace {

Matrix matrix_of(const Json& rows) {
    Matrix m(isize(rows), isize(rows.at(0)));
    for (int r = 0; r < m.rows(); ++r)
        for (int c = 0; c < m.cols(); ++c) {
            const Json& cell = rows[r][c];
            m(r, c) = cell.is_null() ? std::numeric_limits<float>::quiet_NaN() : cell.get<float>();
        }
    return m;
}

Vector vector_of(const Json& rows) { return matrix_of(rows).row(0).transpose(); }
std::vector<float> row_of_scores(const Json& c) {
    const Vector s = vector_of(c["s"]);
    return {s.begin(), s.end()};
}
Matrix as_row(const std::vector<float>& row) { return Eigen::Map<const Matrix>(row.data(), 1, isize(row)); }

/// Returns the row of a table with keys.
const auto& keyed(const auto& table, const std::string& key) {
    for (const auto& row : table)
        if (row.key == key) return row;
    throw std::runtime_error("no row " + key);
}

Matrix scores(const Json& c) {
    const ScoreParameters p{.general = matrix_of(c["general"]),
                            .of_query = matrix_of(c["of_query"]),
                            .of_key = matrix_of(c["of_key"]),
                            .additive = vector_of(c["additive"]),
                            .location = matrix_of(c["location"]),
                            .sharpness = c["sharpness"],
                            .width = c["width"]};
    return keyed(score_functions(), c["name"]).scores(matrix_of(c["q"]), matrix_of(c["k"]), p);
}

Matrix normalized(const Json& c) {
    return keyed(normalizers(), c["name"]).weights(vector_of(c["s"])).transpose();
}

Matrix masked(const Json& c) {
    return as_row(masked_weights(row_of_scores(c), c["allowed"].get<std::vector<bool>>(),
                                 static_cast<MaskWay>(c["way"].get<int>())));
}

Matrix local(const Json& c) {
    const std::vector<float> s = row_of_scores(c);
    return as_row(local_weights(s, std::vector<bool>(s.size(), true),
                                {.center = c["center"], .half = c["half"], .gaussian = c["gaussian"]}));
}

Matrix softness(const Json& c) {
    const Softness s = softness_of(softmax_weights(vector_of(c["s"])));
    return as_row({float(s.entropy), float(s.gradient)});
}

Matrix spread(const Json& c) {
    const Spread s = spread_of(sampled_products(c["d"], c["draws"], c["seed"]));
    return as_row({float(s.mean), float(s.variance), float(s.error)});
}

/// Returns 1 where a variance sampled here agrees with numpy's own draws, within both errors.
Matrix near_variance(const Json& c) {
    const Spread s = spread_of(sampled_products(c["d"], 20000, c["seed"]));
    const double apart = std::abs(s.variance - c["variance"].get<double>());
    return as_row({apart < 6 * std::hypot(s.error, c["error"].get<double>()) ? 1.0f : 0.0f});
}

Matrix singular(const Json& c) {
    return singular_values(ValueFactors{matrix_of(c["down"]), matrix_of(c["up"])}).transpose();
}

Matrix worked(const Json& c) {
    return work_out({.words = matrix_of(c["words"]),
                     .m_q = matrix_of(c["m_q"]),
                     .m_k = matrix_of(c["m_k"]),
                     .m_v = matrix_of(c["m_v"]),
                     .query = c["query"],
                     .divide = true})
        .output.transpose();
}

const std::map<std::string, Matrix (*)(const Json&)> kFunctions{
    {"scores", scores},      {"normalizer", normalized}, {"mask", masked},
    {"local", local},        {"softness", softness},     {"spread", spread},
    {"near", near_variance}, {"singular", singular},     {"worked", worked}};

/// Returns the largest error of a case, relative to numbers larger than 1; infinite if a number is NaN.
float error_of(const Matrix& ours, const Matrix& expected) {
    float worst = 0;
    for (Index i = 0; i < ours.size(); ++i) {
        const float a = ours.data()[i], b = expected.data()[i];
        if (std::isnan(a) && std::isnan(b)) continue;
        const float error = std::abs(a - b) / std::max(1.0f, std::abs(b));
        worst = std::isnan(error) ? std::numeric_limits<float>::infinity() : std::max(worst, error);
    }
    return worst;
}

}  // namespace

TEST_CASE("learn reference: numpy and torch compute the same") {
    const char* path = std::getenv("HEADLIGHT_LEARN");
    if (!path || !*path) {
        MESSAGE("skipped: HEADLIGHT_LEARN does not name the cases of tests/reference/learn.py");
        return;
    }
    const Json cases = Json::parse(read_bytes(path));
    std::map<std::string, float> worst;
    for (const Json& c : cases) {
        const auto name = c["function"].get<std::string>();
        CAPTURE(name);
        CAPTURE(c.value("name", ""));
        const Matrix ours = kFunctions.at(name)(c), expected = matrix_of(c["expected"]);
        REQUIRE(ours.rows() == expected.rows());
        REQUIRE(ours.cols() == expected.cols());
        const float error = error_of(ours, expected);
        CHECK(error < 2e-5f);
        worst[name] = std::max(worst[name], error);
    }
    CHECK(worst.size() == kFunctions.size());
    std::ostringstream errors;
    errors << std::setprecision(1) << std::scientific;
    for (const auto& row : worst) errors << " " << row.first << " " << row.second;
    MESSAGE(cases.size() << " cases of Learn, largest error:" << errors.str());
}
