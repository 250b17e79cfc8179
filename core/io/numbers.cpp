// Writes tables as files.
#include "io/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/file_version.h"
#include "io/output_file.h"
#include "io/safetensors.h"

namespace headlight {

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

std::string csv_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return std::isnan(value) ? "" : text;
}

namespace {

/// Returns the shortest text that reads back as the number; "" for NaN. Integers without an exponent.
template <class Number>
std::string shortest(Number value) {
    if (std::isnan(value)) return "";
    char text[64];
    const bool whole = sizeof value == 8 && value == std::round(value) && std::abs(value) < 1e15;
    const auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<int64_t>(value))
                           : std::to_chars(text, text + sizeof text, value);
    return {text, end.ptr};
}

std::string cell_text(const NumberTable& t, Index r, Index c) {
    return t.exact.size() ? shortest(t.exact(r, c)) : shortest(t.values(r, c));
}

/// Converts a cell to JSON: null for NaN, integers of exact tables as integers.
nlohmann::ordered_json json_cell(const NumberTable& t, Index r, Index c) {
    const double value = t.exact.size() ? t.exact(r, c) : double(t.values(r, c));
    if (std::isnan(value)) return {};
    if (t.exact.size() && value == std::round(value) && std::abs(value) < 1e15)
        return static_cast<int64_t>(value);
    return value;
}

std::string text_of(const NumberTable& t, Index r, Index c) {
    return t.texts.empty() ? "" : t.texts[r * t.values.cols() + c];
}

nlohmann::ordered_json json_table(const NumberTable& t) {
    const auto rows_of = [&](const auto& cell) {
        auto rows = nlohmann::ordered_json::array();
        for (Index r = 0; r < t.values.rows(); ++r) {
            auto row = nlohmann::ordered_json::array();
            for (Index c = 0; c < t.values.cols(); ++c) row.push_back(cell(t, r, c));
            rows.push_back(std::move(row));
        }
        return rows;
    };
    nlohmann::ordered_json out{{"name", t.name}, {"rows_are", t.rows_are}, {"columns_are", t.columns_are},
                               {"rows", t.rows}, {"columns", t.columns},   {"values", rows_of(json_cell)}};
    if (!t.texts.empty()) out["texts"] = rows_of(text_of);
    return out;
}

DoubleMatrix as_doubles(const NumberTable& t) { return t.exact.size() ? t.exact : t.values.cast<double>(); }

/// Quotes a field; replaces line breaks and tabs by spaces in tab-separated text, which has no quoting.
std::string field(const std::string& raw, char separator) {
    const std::string text = printable(raw);
    if (separator == ',') return csv_field(text);
    std::string out = text;
    for (char& c : out)
        if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    return out;
}

std::string square(const NumberTable& t, char separator) {
    std::string out = field(t.rows_are + "\\" + t.columns_are, separator);
    for (const auto& label : t.columns) out += separator + field(label, separator);
    for (Index r = 0; r < t.values.rows(); ++r) {
        out += "\n" + field(t.rows[r], separator);
        for (Index c = 0; c < t.values.cols(); ++c) {
            const std::string number = cell_text(t, r, c);
            out += separator + (number.empty() ? field(text_of(t, r, c), separator) : number);
        }
    }
    return out + "\n";
}

/// Writes table, row, column, value, one per line, with row and column numbers because labels repeat.
std::string lines(std::span<const NumberTable> tables, char separator) {
    std::string out;
    const bool texts =
        std::any_of(tables.begin(), tables.end(), [](const NumberTable& t) { return !t.texts.empty(); });
    for (const char* name : {"table", "row", "row_label", "column", "column_label"})
        out += std::string(name) + separator;
    out += texts ? std::string("value") + separator + "text\n" : "value\n";
    for (const NumberTable& t : tables)
        for (Index r = 0; r < t.values.rows(); ++r)
            for (Index c = 0; c < t.values.cols(); ++c) {
                out += field(t.name, separator) + separator + std::to_string(r) + separator +
                       field(t.rows[r], separator) + separator;
                out += std::to_string(c) + separator + field(t.columns[c], separator) + separator +
                       cell_text(t, r, c);
                if (texts) out += separator + field(text_of(t, r, c), separator);
                out += "\n";
            }
    return out;
}

Status write_separated(const std::filesystem::path& path, std::span<const NumberTable> tables,
                       char separator) {
    return write_file(path, tables.size() == 1 ? square(tables[0], separator) : lines(tables, separator));
}

}  // namespace

Status write_csv(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    return write_separated(path, tables, ',');
}
Status write_tsv(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    return write_separated(path, tables, '\t');
}

Status write_json(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    auto list = nlohmann::ordered_json::array();
    for (const NumberTable& t : tables) list.push_back(json_table(t));
    return write_file(
        path,
        json_text(nlohmann::ordered_json{{"version", kFileVersion}, {"tables", std::move(list)}}) + "\n");
}

/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html (format 1.0).
Status write_npy(const std::filesystem::path& path, std::span<const NumberTable> all) {
    std::vector<NumberTable> tables;
    std::copy_if(all.begin(), all.end(), std::back_inserter(tables), [](const auto& t) { return !t.beside; });
    if (tables.empty()) tables.assign(all.begin(), all.end());
    const Index rows = tables[0].values.rows(), columns = tables[0].values.cols();
    for (const NumberTable& t : tables)
        if (t.values.rows() != rows || t.values.cols() != columns)
            return Error{display_path(path) +
                         ": a .npy file holds one array, and these tables have different sizes; choose "
                         ".json, .csv or .safetensors."};
    const std::string shape = (tables.size() > 1 ? std::to_string(tables.size()) + ", " : "") +
                              std::to_string(rows) + ", " + std::to_string(columns);
    const bool exact =
        std::any_of(tables.begin(), tables.end(), [](const auto& t) { return t.exact.size() > 0; });
    std::string header = std::string("{'descr': '") + (exact ? "<f8" : "<f4") +
                         "', 'fortran_order': False, 'shape': (" + shape + "), }";
    while ((10 + header.size() + 1) % 64) header += ' ';
    header += '\n';
    TRY(const auto out, OutputFile::create(path));
    const auto length = static_cast<uint16_t>(header.size());
    out->write(std::string_view("\x93NUMPY\x01\x00", 8));
    out->write(&length, 2);
    out->write(header);
    for (const NumberTable& t : tables) {
        if (exact)
            out->write(as_doubles(t).data(), t.values.size() * sizeof(double));
        else
            out->write(t.values.data(), t.values.size() * sizeof(float));
    }
    return out->commit();
}

Status write_tensors(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    std::vector<TensorToWrite> tensors;
    std::map<std::string, std::string> metadata;
    for (const NumberTable& t : tables) {
        const bool exact = t.exact.size() > 0;
        tensors.push_back({t.name,
                           exact ? "F64" : "F32",
                           {t.values.rows(), t.values.cols()},
                           [&t, exact](const auto& sink) {
                               exact ? sink(t.exact.data(), t.exact.size() * sizeof(double))
                                     : sink(t.values.data(), t.values.size() * sizeof(float));
                           }});
        Json labels{{"rows", t.rows}, {"columns", t.columns}};
        if (!t.texts.empty()) labels["texts"] = t.texts;
        metadata[t.name] = json_text(labels);
    }
    return write_safetensors(path, tensors, metadata);
}

std::vector<std::string> counted(Index count, Index first) {
    std::vector<std::string> out;
    for (Index i = 0; i < count; ++i) out.push_back(std::to_string(first + i));
    return out;
}

std::string as_tsv(const NumberTable& table) { return square(table, '\t'); }
std::string as_csv(const NumberTable& table) { return square(table, ','); }

}  // namespace headlight
