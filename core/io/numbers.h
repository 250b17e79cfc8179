// Writes the numbers behind a picture, with their labels, as files for a spreadsheet or a script.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight {

/// Holds a labeled table; NaN marks empty cells (masked ones).
struct NumberTable {
    std::string name;                        // "pattern"
    std::string rows_are, columns_are;       // "query", "key"
    std::vector<std::string> rows, columns;  // labels
    Matrix values;                           // [rows, columns]
    DoubleMatrix exact = {};                 // the values where a float would round them; empty: use `values`
    std::vector<std::string> texts = {};     // meaning of each row; empty: none
    bool beside = false;  // shown beside the picture; not in a .npy file, which holds one array
};

/// Returns "0", "1", … or from `first` on: labels of rows and columns without names.
std::vector<std::string> counted(Index count, Index first = 0);

/// Write tables to a file. Exact numbers are written as float64 (in a .npy file all, where one table has
/// them), others as float32. One table as it stands, several one value a line.
Status write_csv(const std::filesystem::path& path, std::span<const NumberTable> tables);
Status write_tsv(const std::filesystem::path& path, std::span<const NumberTable> tables);
/// All with labels, null for NaN.
Status write_json(const std::filesystem::path& path, std::span<const NumberTable> tables);
/// Format 1.0: [rows, columns], or [tables, rows, columns] of tables of one size, without `beside` ones.
Status write_npy(const std::filesystem::path& path, std::span<const NumberTable> tables);
/// Safetensors: a tensor each, labels as JSON in the metadata.
Status write_tensors(const std::filesystem::path& path, std::span<const NumberTable> tables);

/// Quotes a field of a line of CSV, by RFC 4180.
std::string csv_field(const std::string& text);
/// Writes six digits; nothing for NaN.
std::string csv_number(double value);

/// Returns one table with tabs, for a spreadsheet.
std::string as_tsv(const NumberTable& table);
/// Returns one table with commas, as in a .csv file.
std::string as_csv(const NumberTable& table);

}  // namespace headlight
