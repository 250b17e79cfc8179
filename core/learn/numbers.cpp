// Collects the numbers of a page.
#include "learn/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "base/cast.h"

namespace headlight::learn {

namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
using NumberRows = std::vector<std::vector<float>>;

/// Fills a matrix from rows of any length; NaN where one is shorter.
Matrix filled(const NumberRows& rows, int columns) {
    Matrix out = Matrix::Constant(isize(rows), columns, kNothing);
    for (int r = 0; r < isize(rows); ++r)
        for (int c = 0; c < std::min(columns, isize(rows[r])); ++c) out(r, c) = rows[r][c];
    return out;
}

/// Extracts the numbers of a text, "(2, −1.5)": 2 and −1.5.
std::vector<float> numbers_in(std::string text) {
    for (size_t at; (at = text.find("−")) != std::string::npos;)
        text.replace(at, std::string("−").size(), "-");
    std::vector<float> out;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        float value = 0;
        const auto read = std::from_chars(at, end, value);
        const bool number = read.ec == std::errc() && !std::isalpha(static_cast<unsigned char>(*at));
        if (number) out.push_back(value);
        at = number ? read.ptr : at + 1;
    }
    return out;
}

/// Lists the cells that are words, "" for numbers; empty if there are only numbers.
std::vector<std::string> words_in_table(const Table& table, int first) {
    const int columns = isize(table.columns) - first;
    std::vector<std::string> out(table.values.size() * size_t(std::max(0, columns)));
    bool any = false;
    for (int r = 0; r < isize(table.rows); ++r)
        for (int c = 0; c < std::min(columns, isize(table.rows[r]) - first); ++c) {
            const bool number = first + c < isize(table.values[r]) && !std::isnan(table.values[r][first + c]);
            if (number || table.rows[r][first + c].empty()) continue;
            out[size_t(r) * size_t(columns) + size_t(c)] = table.rows[r][first + c];
            any = true;
        }
    return any ? out : std::vector<std::string>();
}

struct Collector {
    std::vector<NumberTable> tables;
    std::set<std::string> names;

    void add(const std::string& name, NumberTable table) {
        const std::string base = name.empty() ? "values" : name;
        table.name = base;
        for (int n = 2; !names.insert(table.name).second; ++n) table.name = base + " " + std::to_string(n);
        tables.push_back(std::move(table));
    }

    void operator()(const BarRows& bars) {
        NumberTable out{"", "row", "column", {}, bars.columns, {}};
        NumberRows values;
        for (const auto& row : bars.rows) {
            out.rows.push_back(row.title);
            values.push_back(row.values);
        }
        out.values = filled(values, isize(bars.columns));
        add("bars", std::move(out));
        for (const auto& row : bars.rows)
            if (row.all && row.all->cols() == isize(bars.columns))
                add(row.title, {"", "query", "column", counted(row.all->rows()), bars.columns, *row.all});
    }
    void operator()(const Grid& grid) {
        add(grid.title, {"", grid.rows_are, grid.columns_are, grid.rows, grid.columns, grid.values});
    }
    void operator()(const Curves& curves) {
        for (const auto& line : curves.lines) {
            NumberTable out{"", "point", "number", counted(isize(line.x)), {curves.x_is, curves.y_is}, {}};
            const bool errors = !line.error.empty();
            if (errors) out.columns.push_back("error");
            out.values = Matrix(isize(line.x), isize(out.columns));
            for (int i = 0; i < isize(line.x); ++i) {
                out.values(i, 0) = line.x[i];
                out.values(i, 1) = line.y[i];
                if (errors) out.values(i, 2) = line.error[i];
            }
            add(curves.title + ": " + line.name, std::move(out));
        }
    }
    void operator()(const Plane& plane) {
        NumberTable out{"", "point", "coordinate", {}, {"x", "y"}, Matrix(isize(plane.points), 2)};
        for (int i = 0; i < isize(plane.points); ++i) {
            out.rows.push_back(plane.points[i].name);
            out.values.row(i) << plane.points[i].x, plane.points[i].y;
        }
        add(plane.title, std::move(out));
    }
    void operator()(const Steps& steps) {
        NumberTable out{"", "step", "number of the result", {}, {}, {}};
        NumberRows values;
        int max = 0;
        for (const auto& line : steps.lines) {
            out.rows.push_back(line.what);
            values.push_back(numbers_in(line.result));
            max = std::max(max, isize(values.back()));
        }
        const int columns = std::max(1, max);
        out.columns = counted(columns);
        out.values = filled(values, columns);
        out.texts.resize(steps.lines.size() * size_t(columns));
        for (size_t i = 0; i < steps.lines.size(); ++i)
            out.texts[i * size_t(columns)] = steps.lines[i].worked;
        if (!steps.lines.empty()) add(steps.title, std::move(out));
    }
    /// Names the rows by a first column of words; adds words elsewhere beside the numbers, as texts.
    void operator()(const Table& table) {
        const auto words = [&](const auto& row) { return row.empty() || std::isnan(row[0]); };
        const int first = std::all_of(table.values.begin(), table.values.end(), words) ? 1 : 0;
        NumberTable out{"", "row", "column", {}, {}, {}};
        const int columns = isize(table.columns) - first;
        out.exact = DoubleMatrix::Constant(isize(table.values), columns, double(kNothing));
        for (int r = 0; r < isize(table.values); ++r) {
            out.rows.push_back(first && !table.rows[r].empty() ? table.rows[r][0] : std::to_string(r));
            for (int c = 0; c < std::min(columns, isize(table.values[r]) - first); ++c)
                out.exact(r, c) = table.values[r][first + c];
        }
        out.texts = words_in_table(table, first);
        out.values = out.exact.cast<float>();
        for (int c = first; c < isize(table.columns); ++c) out.columns.push_back(table.columns[c]);
        if (!table.values.empty()) add(table.title, std::move(out));
    }
    void operator()(const Pixels& pixels) {
        if (pixels.weights.empty()) return;
        add(pixels.title, {"", "row", "column", counted(pixels.rows), counted(pixels.columns),
                           Eigen::Map<const Matrix>(pixels.weights.data(), pixels.rows, pixels.columns)});
    }
    void operator()(const Words&) {}
    /// Writes the sentences of all steps and stops, then the numbers of each.
    void operator()(const Thread& thread) {
        NumberTable all{"", "step", "measure", {}, {"measure"}, Matrix(thread.count(), 1)};
        for (int number = 1; number <= thread.count(); ++number) {
            const Thread::Node& node = thread.node(number);
            const std::vector<float> measured = numbers_in(node.measure);
            all.rows.push_back(node.name);
            all.texts.push_back(node.sentence);
            all.values(number - 1, 0) = measured.empty() ? kNothing : measured.front();
        }
        add("thread", std::move(all));
        for (int number = 1; number <= thread.count(); ++number)
            add_node(thread, thread.node(number), std::to_string(number) + " " + thread.node(number).name);
    }
    void add_node(const Thread& thread, const Thread::Node& node, const std::string& name) {
        add_strips(node.strips, name);
        add_strips(node.below, name + ": arithmetic");
        std::vector<std::string> tokens;
        for (int i = 0; i < isize(thread.tokens); ++i)
            tokens.push_back(std::to_string(thread.places[i]) + " " + thread.tokens[i]);
        NumberTable bands{"", "number", "token", {}, tokens, {}};
        NumberRows values;
        for (const Thread::Band& band : node.bands) {
            if (band.kind == Thread::Band::Kind::cells) {
                add(name + ": " + band.name,
                    {"", "entry", "token", counted(band.cells.rows()), tokens, band.cells});
                continue;
            }
            bands.rows.push_back(band.name);
            values.push_back(band.values);
        }
        bands.values = filled(values, isize(tokens));
        if (!values.empty()) add(name, std::move(bands));
        add_numbers(node.columns, node, name + ": after each block");
        add_numbers(node.bars, node, name);
    }
    void add_strips(const std::vector<Thread::Strip>& strips, const std::string& name) {
        NumberTable out{"", "vector", "entry", {}, {}, {}};
        NumberRows values;
        int most = 0;
        for (const Thread::Strip& strip : strips) {
            const std::string place = strip.place < 0 ? "" : " " + std::to_string(strip.place);
            out.rows.push_back(strip.sign + place + (strip.token.empty() ? "" : " " + strip.token));
            values.emplace_back(strip.values.data(), strip.values.data() + strip.values.size());
            most = std::max(most, isize(values.back()));
        }
        out.columns = counted(most);
        out.values = filled(values, most);
        if (!strips.empty()) add(name, std::move(out));
    }
    void add_numbers(const std::vector<Thread::Bar>& bars, const Thread::Node& node,
                     const std::string& name) {
        NumberTable out{"", "bar", "number", {}, node.numbers_are, {}};
        NumberRows values;
        for (const Thread::Bar& bar : bars) {
            out.rows.push_back(bar.name);
            values.push_back(bar.numbers);
        }
        out.values = filled(values, isize(out.columns));
        if (!bars.empty()) add(name, std::move(out));
    }
};

}  // namespace

std::vector<NumberTable> page_numbers(const Page& page) {
    Collector collector;
    for (const Block& block : page.blocks) std::visit(collector, block);
    return std::move(collector.tables);
}

}  // namespace headlight::learn
