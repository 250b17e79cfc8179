// Holds what the tests of stations share: blocks of a page, invariants of every page, a sentence in a model.
#pragma once

#include <cmath>
#include <sstream>

#include "helpers.h"
#include "learn/station.h"
#include "model/input.h"

namespace headlight::learn {

template <class B>
std::vector<B> blocks_of(const Page& page) {
    std::vector<B> out;
    for (const Block& block : page.blocks)
        if (const B* found = std::get_if<B>(&block)) out.push_back(*found);
    return out;
}

inline const Grid& grid_of(const Page& page, const std::string& title) {
    for (const Block& block : page.blocks)
        if (const Grid* grid = std::get_if<Grid>(&block); grid && grid->title == title) return *grid;
    FAIL("no grid " << title);
    throw 0;
}

inline int words_of_page(const Page& page) {
    int out = 0;
    for (const Words& words : blocks_of<Words>(page)) {
        std::istringstream in(words.text);
        for (std::string word; in >> word;) ++out;
    }
    return out;
}

/// Checks invariants: labels fit their numbers, rows of weights sum to 1, few words.
inline void check_page(const Page& page) {
    CHECK(!page.blocks.empty());
    CHECK(words_of_page(page) < 60);
    for (const Grid& grid : blocks_of<Grid>(page)) {
        CAPTURE(grid.title);
        CHECK(isize(grid.rows) == grid.values.rows());
        CHECK(isize(grid.columns) == grid.values.cols());
        CHECK((!grid.marked_row || *grid.marked_row < grid.values.rows()));
    }
    for (const Table& table : blocks_of<Table>(page))
        for (int i = 0; i < isize(table.rows); ++i) {
            CHECK(table.rows[i].size() == table.columns.size());
            CHECK(table.values[i].size() == table.columns.size());
        }
    for (const BarRows& bars : blocks_of<BarRows>(page))
        for (const BarRows::Row& row : bars.rows) CHECK(row.values.size() == bars.columns.size());
}

inline float sum_of(const BarRows::Row& row) {
    float sum = 0;
    for (const float w : row.values)
        if (!std::isnan(w)) sum += w;
    return sum;
}

/// Runs a text in the built-in story model.
inline std::shared_ptr<const Trace> read_by_stories(const std::string& text) {
    ThreadPool pool(2);
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    TextInput typed;
    typed.text = text;
    return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
}

/// Opens a sentence in a reference model, as a station gets it.
struct Opened {
    ThreadPool pool{2};
    std::shared_ptr<const Trace> trace;
    StationInput input;
    explicit Opened(const std::string& name, int block = 0) {
        const auto model = reference_model(name);
        ForwardRequest request;
        for (int s = 0; s < isize(model->config.stacks); ++s) {
            request.inputs.push_back({{5, 9, 20, 31, 5, 17}, {}, {}, nullptr});
            request.inputs.back().tokens.resize(6);
        }
        trace = *run_trace(model, request, pool);
        input.trace = trace.get();
        input.model = trace->model.get();
        input.block = block;
        input.head = 1;
        input.query = 4;
    }
};

}  // namespace headlight::learn
