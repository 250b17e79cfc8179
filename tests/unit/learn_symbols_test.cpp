// Tests that every symbol of a formula is explained on hover.
#include <regex>
#include <set>

#include "command_bench.h"
#include "learn/controls.h"
#include "learn/symbols.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

/// Collects the texts of a page that are formulas, or label an axis or a line.
std::vector<std::string> formulas_of(const learn::Page& page) {
    std::vector<std::string> out;
    for (const BarRows& bars : blocks_of<BarRows>(page))
        for (const auto& row : bars.rows) out.push_back(row.formula);
    for (const Curves& curves : blocks_of<Curves>(page)) {
        out.insert(out.end(), {curves.x_is, curves.y_is});
        for (const auto& line : curves.lines) out.push_back(line.name);
    }
    for (const learn::Steps& steps : blocks_of<learn::Steps>(page))
        for (const auto& line : steps.lines)
            if (line.what.find('=') != std::string::npos) out.push_back(line.what);
    return out;
}

/// Finds single letters, and names with subscripts: q, W₁, Σ, d_k, M_q.
std::set<std::string> signs_in(const std::string& formula) {
    static const std::regex sign(
        "(^|[^A-Za-z_/"
        "'\xCE\xCF])([A-Za-z]|\xCE[\x91-\xBF]|\xCF[\x80-\x89])(_[A-Za-z]+)?(?![A-Za-z_0-9\xCE\xCF]"
        ")");
    std::set<std::string> out;
    for (std::sregex_iterator at(formula.begin(), formula.end(), sign), end; at != end; ++at)
        out.insert((*at)[2].str() + (*at)[3].str());
    out.erase("a");  // the articles
    if (formula.starts_with("A ") && formula.find('=') == std::string::npos) out.erase("A");
    return out;
}

void check_signs(const learn::Page& page) {
    for (const std::string& formula : formulas_of(page))
        for (const std::string& sign : signs_in(formula)) {
            bool found = false;
            for (const Symbol& symbol : page.symbols)
                for (const std::string& known : signs_of(symbol)) found = found || has_sign(known, sign);
            CHECK_MESSAGE(found, "nothing explains " << sign << " in " << formula);
            CHECK_MESSAGE(!explained(page.symbols, formula).empty(), formula);
        }
}

}  // namespace

TEST_CASE("a symbol is found only by itself") {
    CHECK(has_sign("q · k / √d", "d"));
    CHECK(has_sign("q · k / √d", "q"));
    CHECK(has_sign("‖q‖", "q"));
    CHECK(has_sign("vᵀ tanh(W₁ q + W₂ k)", "W₁"));
    CHECK(has_sign("vᵀ tanh(W₁ q + W₂ k)", "v"));
    CHECK(has_sign("exp(−x) / 2σ²", "σ"));
    CHECK_FALSE(has_sign("d_k", "d"));
    CHECK_FALSE(has_sign("d_k", "k"));
    CHECK_FALSE(has_sign("and value", "d"));
    CHECK_FALSE(has_sign("value", "v"));
    CHECK_FALSE(has_sign("T5", "T"));
    CHECK_FALSE(has_sign("größe", "e"));
    CHECK_FALSE(has_sign("q", ""));
    const std::vector<Symbol> symbols{{"W₁, W₂", "learned"}, {"q", "asks"}, {"k", "offers"}};
    CHECK(explained(symbols, "W₂ q") == "W₁, W₂: learned; q: asks");
    CHECK(explained(symbols, "quick").empty());
    CHECK(signs_in("vᵀ tanh(W₁ q + 2σ), d_model") == std::set<std::string>{"v", "W", "q", "σ", "d_model"});
}

TEST_CASE("learn: every symbol of a formula is explained, with a model and without") {
    ThreadPool pool(2);
    int formulas = 0;
    for (const Station& station : stations()) {
        CAPTURE(station.key);
        const Bench b = std::string_view(station.opens) == "translator" ? Bench(translator()) : Bench();
        const Trace& trace = *b.answer.sentence->trace;
        StationInput input;
        for (const bool open : {false, true}) {
            input.trace = open ? &trace : nullptr;
            input.model = open ? trace.model.get() : nullptr;
            const auto page = station_page(station, input, station.first_state(), pool);
            if (!page) continue;
            check_signs(*page);
            formulas += isize(formulas_of(*page));
        }
    }
    CHECK(formulas > 60);
}

TEST_CASE("learn: every symbol of a station's list has one meaning") {
    for (const Station& station : stations()) {
        CAPTURE(station.key);
        std::set<std::string> signs;
        for (const Symbol& symbol : station_text(station.key).symbols) {
            CHECK(!symbol.meaning.empty());
            for (const std::string& sign : signs_of(symbol)) CHECK_MESSAGE(signs.insert(sign).second, sign);
        }
    }
}
