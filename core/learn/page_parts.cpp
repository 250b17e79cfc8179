// Builds blocks that several pages share.
#include "learn/page_parts.h"

#include <cmath>
#include <limits>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "model/attention.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

std::string written(double value, int digits) {
    return decimals(value, value == std::round(value) && std::abs(value) < 1e9 ? 0 : digits);
}

std::string factor(double value, int digits) {
    const std::string text = written(value, digits);
    return value < 0 ? "(" + text + ")" : text;
}

std::string written_vector(const Vector& v, int digits) {
    std::string out;
    for (const float x : v) out += (out.empty() ? "" : ", ") + written(x, digits);
    return "(" + out + ")";
}

std::string written_products(const Vector& a, const Vector& b) {
    std::string out;
    for (Index i = 0; i < a.size(); ++i)
        out += (i ? " + " : "") + (i ? factor(a[i]) : written(a[i])) + "·" + factor(b[i]);
    return out;
}

std::string numbered(const std::string& sign, int number) {
    static const char* const digits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    std::string out = sign;
    for (const char c : std::to_string(number)) out += digits[c - '0'];
    return out;
}

TableCell words_cell(std::string text) { return {std::move(text), std::numeric_limits<double>::quiet_NaN()}; }
TableCell number_cell(double value, int digits) {
    return {std::isnan(value) ? "—" : written(value, digits), value};
}
TableCell count_cell(int64_t value) { return {with_commas(value), double(value)}; }

void add_cells(Table& table, const std::vector<TableCell>& cells) {
    table.rows.emplace_back();
    table.values.emplace_back();
    for (const TableCell& cell : cells) {
        table.rows.back().push_back(cell.text);
        table.values.back().push_back(cell.value);
    }
}

Curves::Line line_of(std::string name, std::vector<float> x, std::vector<float> y, bool dashed) {
    return {.name = std::move(name), .x = std::move(x), .y = std::move(y), .dashed = dashed};
}

bool has_head_scores(const StationInput& input) {
    return input.trace && input.trace->config().has_head({input.block, input.head}) &&
           input.trace->has_scores(input.block);
}

bool reads_and_writes(const StationInput& input) {
    return input.trace && input.trace->has_weights() && input.trace->config().can.write_target &&
           input.trace->model->has_logits() && input.trace->model->tokenizer;
}

std::vector<std::string> key_labels(const StationInput& input) {
    return token_labels(*input.trace, input.trace->config().block(input.block).key_stack);
}

std::vector<float> head_scores(const StationInput& input, int query) {
    const Trace& trace = *input.trace;
    Matrix row(1, trace.key_count(input.block));
    attention_scores(trace.rule(input.block), input.head, trace.q(input.block, input.head),
                     trace.k(input.block, input.head), query, 0, row);
    apply_temperature(trace.rule(input.block), input.head, row);
    return {row.data(), row.data() + row.size()};
}

}  // namespace headlight::learn
