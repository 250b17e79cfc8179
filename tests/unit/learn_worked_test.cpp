// Tests the worked example, recomputed with a pencil.
#include <cmath>
#include <sstream>

#include "base/quoted.h"
#include "helpers.h"
#include "learn/page_parts.h"
#include "learn/stations/worked_example.h"
#include "model/loading/parameters.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

void check_vector(const Vector& v, const std::vector<float>& expected) {
    REQUIRE(v.size() == Index(expected.size()));
    for (int i = 0; i < v.size(); ++i) CHECK(v[i] == doctest::Approx(expected[i]).epsilon(1e-3));
}

const learn::Steps& steps(const learn::Page& page, int number) {
    return std::get<learn::Steps>(page.blocks[3 + number]);
}

}  // namespace

TEST_CASE("learn worked example: every number by hand") {
    // x₁ = (1, 0, 1), x₂ = (0, 1, 1), x₃ = (1, 1, 0); x₃ asks.
    const WorkedInput in = worked_input({});
    check_vector(in.words.row(2), {1, 1, 0});
    const WorkedAttention a = work_out(in);
    check_vector(a.q, {1, 1});
    check_vector(a.k.row(0), {2, 0});
    check_vector(a.k.row(1), {1, 2});
    check_vector(a.k.row(2), {1, 0});
    check_vector(a.v.row(0), {2, 3});
    check_vector(a.v.row(1), {0, 4});
    check_vector(a.v.row(2), {2, 1});
    check_vector(a.dots, {2, 3, 1});
    check_vector(a.scores, {1.4142f, 2.1213f, 0.7071f});
    check_vector(a.powers, {4.1133f, 8.3421f, 2.0281f});
    CHECK(a.sum == doctest::Approx(14.4835).epsilon(1e-4));
    check_vector(a.weights, {0.2840f, 0.5760f, 0.1400f});
    // 0.284 · 2 + 0.140 · 2 and 0.284 · 3 + 0.576 · 4 + 0.140 · 1
    check_vector(a.output, {0.8480f, 3.2960f});
}

TEST_CASE("learn worked example: without the division e², e³ and e") {
    WorkedExampleState state;
    state.divide = false;
    const WorkedAttention a = work_out(worked_input(state));
    check_vector(a.powers, {7.3891f, 20.0855f, 2.7183f});
    check_vector(a.weights, {0.2447f, 0.6652f, 0.0900f});
}

TEST_CASE("learn worked example: the first word weighs the first two keys equally") {
    WorkedExampleState state;
    state.query = 0;
    const WorkedAttention a = work_out(worked_input(state));
    check_vector(a.q, {2, 1});
    check_vector(a.dots, {4, 4, 2});
    CHECK(a.weights[0] == a.weights[1]);
}

TEST_CASE("learn worked example: far scores are shifted, and no weight changes") {
    WorkedExampleState state;
    state.words = {10, 0, 10, 0, 10, 10, 10, 10, 0};
    const WorkedAttention a = work_out(worked_input(state));
    CHECK(a.shift == doctest::Approx(300 / std::sqrt(2.0)));
    check_vector(a.weights, {0, 1, 0});
    ThreadPool pool(1);
    state.words.assign(9, 1e30f);
    CHECK(!worked_example_page({}, state, pool));
}

TEST_CASE("learn worked example: steps are written as with a pencil") {
    ThreadPool pool(1);
    StationInput input;
    input.text = "dogs chase cats";
    const auto page = worked_example_page(input, {}, pool);
    REQUIRE(page);
    CHECK(std::get<learn::Grid>(page->blocks[0]).rows ==
          std::vector<std::string>{"1 dogs", "2 chase", "3 cats"});
    CHECK(std::get<learn::Grid>(page->blocks[0]).marked_row == 2);
    const learn::Steps::Line q = steps(*page, 1).lines[0], dot = steps(*page, 2).lines[1],
                             score = steps(*page, 2).lines[4], power = steps(*page, 3).lines[1],
                             weight = steps(*page, 3).lines[5], y = steps(*page, 4).lines[1];
    CHECK(q.worked == "(1·1 + 1·0 + 0·1, 1·0 + 1·1 + 0·1)");
    CHECK(q.result == "(1, 1)");
    CHECK(dot.what == "q · k₂");
    CHECK(dot.worked == "1·1 + 1·2");
    CHECK(dot.result == "3");
    CHECK(score.worked == "3 ÷ √2");
    CHECK(score.result == "2.12132");
    CHECK(power.worked == "e^2.12132");
    CHECK(power.result == "8.342");
    CHECK(weight.worked == "8.342 ÷ 14.483");
    CHECK(weight.result == "0.576");
    CHECK(y.worked == "0.284·3 + 0.576·4 + 0.140·1");
    CHECK(y.result == "3.30");
}

/// Adds "1·2 + 0.5·(−1)" as a pencil does.
double added_up(std::string worked) {
    for (size_t at; (at = worked.find("−")) != std::string::npos;) worked.replace(at, 3, "-");
    for (size_t at; (at = worked.find("·")) != std::string::npos;) worked.replace(at, 2, " ");
    std::erase_if(worked, [](char c) { return c == '(' || c == ')' || c == '+'; });
    std::istringstream in(worked);
    double sum = 0;
    for (double a, b; in >> a >> b;) sum += a * b;
    return sum;
}

TEST_CASE("learn worked example: a pencil gives the written numbers") {
    ThreadPool pool(1);
    for (const int query : {0, 1, 2}) {
        WorkedExampleState state;
        state.query = query;
        const auto page = worked_example_page({}, state, pool);
        REQUIRE(page);
        for (const learn::Steps::Line& e : steps(*page, 3).lines) {
            if (!e.worked.starts_with("e^") || e.worked.find('(') != std::string::npos) continue;
            CAPTURE(e.worked);
            CHECK(decimals(std::exp(std::stod(e.worked.substr(2))), 3) == e.result);
        }
        for (const learn::Steps::Line& y : steps(*page, 4).lines) {
            CAPTURE(y.worked);
            CHECK(decimals(added_up(y.worked), 2) == y.result);
        }
    }
}

TEST_CASE("learn worked example: edited numbers apply, and wrong counts do not") {
    WorkedExampleState state;
    state.m_q = {0, 0, 0, 0, 0, 0};
    CHECK(work_out(worked_input(state)).weights[1] == doctest::Approx(1.0 / 3));
    state.m_q = {1, 2};
    check_vector(work_out(worked_input(state)).q, {1, 1});
}

TEST_CASE("learn: numbers as written on a page") {
    CHECK(written(2) == "2");
    CHECK(written(-1) == "−1");
    CHECK(factor(-0.5) == "(−0.50)");
    CHECK(with_commas(603979776) == "603,979,776");
    CHECK(with_commas(999) == "999");
    CHECK(numbered("k", 12) == "k₁₂");
}

TEST_CASE("learn worked example: every weight answers every score, and y lies among the values") {
    const Vector even = Vector::Constant(2, 0.5f);
    Matrix by_hand(2, 2);
    by_hand << 0.25f, -0.25f, -0.25f, 0.25f;
    CHECK(softmax_slopes(even).isApprox(by_hand));
    ThreadPool pool(1);
    const auto page = worked_example_page({}, {}, pool);
    REQUIRE(page);
    const learn::Plane* plane = nullptr;
    for (const Block& block : page->blocks)
        if (const auto* found = std::get_if<learn::Plane>(&block)) plane = found;
    REQUIRE(plane != nullptr);
    const WorkedAttention a = work_out(worked_input({}));
    float x = 0;
    for (int i = 0; i < 3; ++i) x += a.weights[i] * plane->points[i].x;
    CHECK(plane->points[3].x == doctest::Approx(x));
    const float step = 1e-3f;  // against a difference
    Vector raised = a.scores;
    raised[0] += step;
    const Vector after = (raised.array().exp() / raised.array().exp().sum()).matrix();
    for (int i = 0; i < 3; ++i)
        CHECK(softmax_slopes(a.weights)(i, 0) ==
              doctest::Approx((after[i] - a.weights[i]) / step).epsilon(0.01));
}
