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

/// Returns whether a path ends like one of the formats: .csv, .tsv, .json, .npy, .safetensors.
bool is_numbers_path(const std::filesystem::path& path);

/// Writes tables in the format of the path's ending. .csv and .tsv: a single table as it is, several with one
/// value per line; .json: all with labels, null for NaN; .npy (format 1.0): [rows, columns], or [tables,
/// rows, columns] for tables of one size, without those that are `beside`; .safetensors: one tensor each,
/// labels as JSON in the metadata. Writes exact numbers as float64 (in a .npy file all, if one table has
/// them), others as float32.
Status write_numbers(const std::filesystem::path& path, std::span<const NumberTable> tables);

/// Returns one table with tabs, for a spreadsheet.
std::string as_tsv(const NumberTable& table);
/// Returns one table with commas, as in a .csv file.
std::string as_csv(const NumberTable& table);

}  // namespace headlight
