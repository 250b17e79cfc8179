#include "model/parameters.h"

#include <cstdio>

namespace headlight {

std::vector<ParameterRow> parameter_table(const ModelConfig& c) {
    const int64_t d = c.d_model, inner = int64_t{c.heads} * c.d_head, m = c.d_mlp, v = c.vocab;
    const auto by = [](int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); };
    std::vector<ParameterRow> rows{
        {"token embedding", by(v, d), v * d, 1},
        {"position embedding", by(c.context, d), c.context * d, 1},
        {"attention norm", by(2, d), 2 * d, c.layers},
        {"query, key, value", "3 × " + by(d, inner) + " + bias", 3 * (d * inner + inner), c.layers},
        {"attention output", by(inner, d) + " + bias", inner * d + d, c.layers},
        {"MLP norm", by(2, d), 2 * d, c.layers},
        {"MLP in", by(d, m) + " + bias", d * m + m, c.layers},
        {"MLP out", by(m, d) + " + bias", m * d + d, c.layers},
        {"final norm", by(2, d), 2 * d, 1},
    };
    if (!c.tied_unembedding) rows.push_back({"unembedding", by(v, d), v * d, 1});
    return rows;
}

int64_t parameter_count(const ModelConfig& config) {
    int64_t total = 0;
    for (const auto& row : parameter_table(config)) total += row.each * row.count;
    return total;
}

std::string short_count(int64_t count) {
    const auto value = static_cast<double>(count);
    char text[32];
    if (count >= 1'000'000'000) std::snprintf(text, sizeof text, "%.3g B", value / 1e9);
    else if (count >= 1'000'000) std::snprintf(text, sizeof text, "%.3g M", value / 1e6);
    else std::snprintf(text, sizeof text, "%.3g k", value / 1e3);
    return text;
}

}  // namespace headlight
