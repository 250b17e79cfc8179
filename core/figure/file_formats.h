// The formats of files that hold what is shown: one table for the sheet that saves, the options of verbs,
// messages, the Python package and the documents.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "figure/canvas.h"
#include "io/numbers.h"

namespace headlight {

class OutputFile;

enum class FormatKind { picture, numbers, page };

/// A row of the table: name, ending, purpose, and what writes it; a page is written by its view.
struct FileFormat {
    const char* name;
    const char* ending;  // ".svg"
    const char* help;
    FormatKind kind;
    Status (*draw)(OutputFile& out, const Drawing& drawing, const std::string& name) = nullptr;
    Status (*write)(const std::filesystem::path& path, std::span<const NumberTable> tables) = nullptr;
};
std::span<const FileFormat> file_formats();

/// The row of the path's ending, or null.
const FileFormat* format_of(const std::filesystem::path& path);
bool is_numbers_path(const std::filesystem::path& path);
bool is_html_path(const std::filesystem::path& path);
/// Returns whether the path ends in a picture's format, or in none that is known.
bool is_picture_path(const std::filesystem::path& path);

/// "png", "svg", … as --format spells them.
std::vector<std::string> format_words();
/// ".png, .svg or .pdf"
std::string endings_of(FormatKind kind);

/// Writes a drawing to a path that ends like a picture, whole or not at all.
Status write_page(const std::filesystem::path& path, const Drawing& drawing);
/// Writes tables by the path's ending; numbers.h says how each format holds them.
Status write_numbers(const std::filesystem::path& path, std::span<const NumberTable> tables);

}  // namespace headlight
