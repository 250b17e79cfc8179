// Writes averages over prompts as a table, as CSV and as JSON.
#include <cmath>

#include "analysis/corpus/prompt_averages.h"
#include "io/file_version.h"
#include "io/json.h"

namespace headlight {

namespace {

/// Names of a cell's columns, with the cell's texts for them.
std::vector<std::pair<std::string, std::string>> place_of(const PromptAverages& of, const ModelConfig& c,
                                                          int i) {
    const PromptCell& cell = of.cells[size_t(i)];
    std::vector<std::pair<std::string, std::string>> out;
    if (cell.block >= 0) out.emplace_back("layer", block_path(c, cell.block));
    if (cell.head >= 0) out.emplace_back("head", std::to_string(cell.head));
    if (cell.stack >= 0 && c.stacks.size() > 1) out.emplace_back("stack", c.stacks[size_t(cell.stack)].name);
    if (cell.position >= 0) out.emplace_back("position", std::to_string(cell.position));
    if (!of.measured.front().labels.empty()) out.emplace_back("token", of.token(i));
    return out;
}

/// "1.0", "3 ball", "2 · 3 ball", "1.0 · 3 ball": layer or head, position and token.
std::string row_label(const PromptAverages& of, const ModelConfig& c, int i) {
    const PromptCell& cell = of.cells[size_t(i)];
    const std::string head = cell.head >= 0 ? head_name(c, cell.block, cell.head) : "";
    if (cell.position < 0) return head;
    const std::string token = of.token(i), place = !head.empty()     ? head
                                                   : cell.block >= 0 ? block_path(c, cell.block)
                                                                     : "";
    return (place.empty() ? "" : place + " · ") + std::to_string(cell.position) +
           (token.empty() ? "" : " " + token);
}

std::vector<std::string> value_columns(const PromptAverages& of, bool each) {
    std::vector<std::string> out;
    for (const std::string& name : of.quantities)
        for (const char* end : {"", "_low", "_high"}) out.push_back(name + end);
    out.emplace_back("n");
    if (each)
        for (const std::string& name : of.quantities)
            for (int i = 1; i <= isize(of.measured); ++i) out.push_back(name + "_" + std::to_string(i));
    return out;
}

std::vector<double> row_values(const PromptAverages& of, int cell, bool each) {
    std::vector<double> out;
    for (int q = 0; q < isize(of.quantities); ++q) {
        const MeanInterval found = of.of(q, cell);
        out.insert(out.end(), {found.mean, found.mean - found.half, found.mean + found.half});
    }
    out.push_back(of.of(0, cell).count);
    if (each)
        for (size_t q = 0; q < of.quantities.size(); ++q)
            for (const MeasuredPrompt& one : of.measured)
                out.push_back(one.values[q * of.cells.size() + size_t(cell)]);
    return out;
}

nlohmann::ordered_json interval_json(const MeanInterval& of) {
    return {{"mean", of.mean}, {"low", of.mean - of.half}, {"high", of.mean + of.half}, {"n", of.count}};
}

nlohmann::ordered_json cell_json(const PromptAverages& of, const ModelConfig& c, int cell, bool each) {
    nlohmann::ordered_json row;
    for (const auto& [name, text] : place_of(of, c, cell)) {
        const bool number = name != "token" && text.find_first_not_of("0123456789") == std::string::npos;
        if (number)
            row[name] = std::stoi(text);
        else
            row[name] = text;
    }
    for (int q = 0; q < isize(of.quantities); ++q) {
        auto value = interval_json(of.of(q, cell));
        if (each) value["values"] = of.values(q, cell);
        row[of.quantities[size_t(q)]] = std::move(value);
    }
    return row;
}

/// Names what was measured, as the command line spells it.
std::string measured_word(const PromptRequest& asked) {
    switch (asked.of) {
        case PromptMeasure::words:
            for (const InfluenceMethodRow& row : influence_methods())
                if (row.method == asked.words.method) return row.word;
            return "";
        case PromptMeasure::patch:
            return patch_part(asked.patch.part).word;
        default:
            return "heads";
    }
}

nlohmann::ordered_json prompt_json(const FilledPrompt& prompt) {
    nlohmann::ordered_json out{{"text", prompt.text}};
    if (!prompt.corrupted.empty()) out["corrupted"] = prompt.corrupted;
    return out;
}

}  // namespace

NumberTable average_numbers(const PromptAverages& of, const ModelConfig& c, bool each) {
    const bool heads = of.asked.of == PromptMeasure::ablation || of.asked.of == PromptMeasure::heads;
    NumberTable out{"averages", heads ? "head" : "cell", "mean", {}, value_columns(of, each), {}};
    const Index rows = isize(of.cells), columns = isize(out.columns);
    out.values.resize(rows, columns);
    for (int i = 0; i < rows; ++i) {
        out.rows.push_back(row_label(of, c, i));
        const std::vector<double> values = row_values(of, i, each);
        out.values.row(i) = Eigen::Map<const Eigen::RowVectorXd>(values.data(), columns).cast<float>();
    }
    return out;
}

std::string averages_csv(const PromptAverages& of, const ModelConfig& c, bool each) {
    std::string out;
    for (const auto& [name, text] : place_of(of, c, 0)) out += (out.empty() ? "" : ",") + name;
    for (const std::string& name : value_columns(of, each)) out += "," + name;
    for (int i = 0; i < isize(of.cells); ++i) {
        std::string line;
        for (const auto& [name, text] : place_of(of, c, i))
            line += (line.empty() ? "" : ",") + csv_field(text);
        for (const double value : row_values(of, i, each)) line += "," + csv_number(value);
        out += "\n" + line;
    }
    return out + "\n";
}

nlohmann::ordered_json averages_json(const PromptAverages& of, const ModelConfig& c,
                                     const std::string& metric, bool each) {
    auto rows = nlohmann::ordered_json::array(), prompts = rows, left = rows;
    for (int i = 0; i < isize(of.cells); ++i) rows.push_back(cell_json(of, c, i, each));
    for (const MeasuredPrompt& one : of.measured) {
        auto row = prompt_json(one.prompt);
        row["metric"] = one.metric;
        row["value"] = one.value;
        prompts.push_back(std::move(row));
    }
    for (const LeftOutPrompt& one : of.left) {
        auto row = prompt_json(one.prompt);
        row["why"] = one.why;
        left.push_back(std::move(row));
    }
    return {{"version", kFileVersion},
            {"of", measured_word(of.asked)},
            {"metric", metric},
            {"interval", "95 %, Student's t over the prompts"},
            {"value", interval_json(of.value())},
            {"rows", std::move(rows)},
            {"prompts", std::move(prompts)},
            {"left_out", std::move(left)}};
}

}  // namespace headlight
