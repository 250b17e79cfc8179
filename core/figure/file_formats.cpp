#include "figure/file_formats.h"

#include "base/cast.h"
#include "base/check.h"
#include "base/listed.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr FileFormat kFormats[] = {
    {"PNG", ".png", "pixels, for screens", FormatKind::picture, draw_png},
    {"SVG", ".svg", "shapes and text, for pages of the web and for editing", FormatKind::picture, draw_svg},
    {"PDF", ".pdf", "shapes and text, for papers", FormatKind::picture, draw_pdf},
    {"CSV", ".csv", "numbers for a spreadsheet, with commas", FormatKind::numbers, nullptr, write_csv},
    {"TSV", ".tsv", "numbers for a spreadsheet, with tabs", FormatKind::numbers, nullptr, write_tsv},
    {"JSON", ".json", "numbers with their labels", FormatKind::numbers, nullptr, write_json},
    {"NPY", ".npy", "numbers as one array of NumPy", FormatKind::numbers, nullptr, write_npy},
    {"safetensors", ".safetensors", "numbers as named tensors, with their labels", FormatKind::numbers,
     nullptr, write_tensors},
    {"HTML", ".html", "an interactive page, for any browser", FormatKind::page},
};

}  // namespace

std::span<const FileFormat> file_formats() { return kFormats; }

const FileFormat* format_of(const std::filesystem::path& path) {
    for (const FileFormat& format : kFormats)
        if (path.extension() == format.ending) return &format;
    return nullptr;
}

bool is_numbers_path(const std::filesystem::path& path) {
    const FileFormat* format = format_of(path);
    return format && format->kind == FormatKind::numbers;
}

bool is_html_path(const std::filesystem::path& path) {
    const FileFormat* format = format_of(path);
    return format && format->kind == FormatKind::page;
}

bool is_picture_path(const std::filesystem::path& path) {
    const FileFormat* format = format_of(path);
    return !format || format->kind == FormatKind::picture;
}

std::vector<std::string> format_words() {
    std::vector<std::string> out;
    for (const FileFormat& format : kFormats) out.emplace_back(format.ending + 1);
    return out;
}

std::string endings_of(FormatKind kind) {
    std::vector<std::string> endings;
    for (const FileFormat& format : kFormats)
        if (format.kind == kind) endings.emplace_back(format.ending);
    return listed(endings, "or");
}

Status write_page(const std::filesystem::path& path, const Drawing& drawing) {
    const FileFormat* format = format_of(path);
    if (!format || !format->draw)
        return Error{display_path(path) + " is not a figure format; end the name in " +
                     endings_of(FormatKind::picture) + "."};
    TRY_STATUS(check_page_size(drawing));
    TRY(const auto out, OutputFile::create(path));
    TRY_STATUS(format->draw(*out, drawing, display_path(path)));
    return out->commit();
}

Status write_numbers(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    const FileFormat* format = format_of(path);
    if (!format || !format->write)
        return Error{display_path(path) + " does not end in " + endings_of(FormatKind::numbers) +
                     "; change its ending."};
    if (tables.empty()) return Error{"This view has no numbers to write."};
    for (const NumberTable& t : tables)
        HEADLIGHT_CHECK(isize(t.rows) == t.values.rows() && isize(t.columns) == t.values.cols() &&
                        (!t.exact.size() || t.exact.size() == t.values.size()) &&
                        (t.texts.empty() || isize(t.texts) == t.values.size()));
    return format->write(path, tables);
}

}  // namespace headlight
