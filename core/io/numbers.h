// Numbers as files for a spreadsheet or a script: what a picture shows, with its labels.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight {

/// A labeled table; NaN where there is nothing (a masked cell).
struct NumberTable {
    std::string name;                        // "pattern"
    std::string rows_are, columns_are;       // "query", "key"
    std::vector<std::string> rows, columns;  // labels
    Matrix values;                           // [rows, columns]
    DoubleMatrix exact = {};                 // the same where a float would round them; empty: `values` alone
    std::vector<std::string> texts = {};     // what the numbers stand for, row by row; empty: nothing
    bool beside = false;                     // what stands beside the picture; not in a .npy file, an array
};

/// "0", "1", … or from another number on: labels of rows and columns that have no names.
std::vector<std::string> counted(Index count, Index first = 0);

/// Whether a path ends like one of the formats: .csv, .tsv, .json, .npy, .safetensors.
bool is_numbers_path(const std::filesystem::path& path);

/// Writes tables by the path's ending. .csv and .tsv: one table as it stands, several one value a line;
/// .json: all with labels, null for NaN; .npy (format 1.0): [rows, columns], or [tables, rows, columns] of
/// tables of one size, without those that are `beside`; .safetensors: a tensor each, labels as JSON in the
/// metadata. Exact numbers are written as float64 (in a .npy file all, where one table has them), others as
/// float32.
Status write_numbers(const std::filesystem::path& path, std::span<const NumberTable> tables);

/// One table with tabs, for a spreadsheet.
std::string as_tsv(const NumberTable& table);
/// The same with commas, as a .csv file of one table.
std::string as_csv(const NumberTable& table);

}  // namespace headlight
