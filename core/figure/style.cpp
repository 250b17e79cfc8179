// Reads and writes figure styles.
#include "figure/style.h"

#include <charconv>
#include <cstdio>
#include <numeric>
#include <set>
#include <sstream>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "figure/colormap.h"
#include "io/file_version.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr const char* kAxisNames[] = {"rows", "columns"};
constexpr const char* kMarkNames[] = {"squares", "dots"};
constexpr const char* kTurnedNames[] = {"auto", "always", "never"};
constexpr const char* kFormat = "headlight-figure";
constexpr size_t kLongest = 2000;

std::span<const char* const> names_of(Contrast FigureStyle::*) {
    static const std::vector<const char*> names = [] {
        std::vector<const char*> out;
        for (const ContrastRow& row : contrasts()) out.push_back(row.name);
        return out;
    }();
    return names;
}
std::span<const char* const> names_of(Axis FigureStyle::*) { return kAxisNames; }
std::span<const char* const> names_of(Marks FigureStyle::*) { return kMarkNames; }
std::span<const char* const> names_of(Turned FigureStyle::*) { return kTurnedNames; }

std::string number_text(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value);
    return {text, end.ptr};
}

Error wrong(const StyleField& field, const std::string& text, const std::string& may_be) {
    return Error{std::string(field.name) + " cannot be " + in_quotes(text) + "; it may be " + may_be + "."};
}

/// Has one overload per type of field.
struct Setter {
    FigureStyle& style;
    const StyleField& field;
    const std::string& text;

    Status operator()(double FigureStyle::*member) const {
        double value = 0;
        const bool whole = read_number(text, value), unset = value == 0 && FigureStyle().*member == 0;
        const bool fits = whole && ((value >= field.low && value <= field.high) || unset);
        if (!fits)
            return wrong(field, text,
                         "a number from " + number_text(field.low) + " to " + number_text(field.high));
        style.*member = value;
        return success();
    }
    Status operator()(bool FigureStyle::*member) const {
        if (text != "true" && text != "false") return wrong(field, text, "true or false");
        style.*member = text == "true";
        return success();
    }
    Status operator()(std::string FigureStyle::*member) const {
        if (text.size() > kLongest || !is_valid_utf8(text))
            return wrong(field, text, "a text of at most 2000 bytes");
        const bool colormap = std::string_view(field.name) == "colormap";
        const std::string value = colormap ? std::string(find_colormap(text)) : text;
        if (colormap && value.empty()) return wrong(field, text, "the name of a color map");
        style.*member = value;
        return success();
    }
    template <class T>
    Status operator()(T FigureStyle::*member) const {
        std::string all;
        const auto names = names_of(member);
        for (size_t i = 0; i < names.size(); ++i) {
            if (text == names[i]) {
                style.*member = static_cast<T>(i);
                return success();
            }
            all += (i ? ", " : "") + std::string(names[i]);
        }
        return wrong(field, text, "one of " + all);
    }
};

struct Getter {
    const FigureStyle& style;
    std::string operator()(double FigureStyle::*m) const { return number_text(style.*m); }
    std::string operator()(bool FigureStyle::*m) const { return style.*m ? "true" : "false"; }
    std::string operator()(std::string FigureStyle::*m) const { return style.*m; }
    template <class T>
    std::string operator()(T FigureStyle::*m) const {
        return row_of(names_of(m), style.*m);
    }
};

struct Namer {
    std::vector<std::string> operator()(double FigureStyle::*) const { return {}; }
    std::vector<std::string> operator()(bool FigureStyle::*) const { return {"true", "false"}; }
    std::vector<std::string> operator()(std::string FigureStyle::*) const { return {}; }
    template <class T>
    std::vector<std::string> operator()(T FigureStyle::*m) const {
        const auto names = names_of(m);
        return {names.begin(), names.end()};
    }
};

const StyleField* find_field(std::string_view name) {
    for (const StyleField& field : style_fields())
        if (name == field.name) return &field;
    return nullptr;
}

}  // namespace

std::span<const StyleField> style_fields() {
    using S = FigureStyle;
    static const StyleField table[] = {
        {"width-mm", "width in millimeters (85: one column, 178: two)", &S::width_mm, 10, 2000},
        {"height-mm", "height in millimeters", &S::height_mm, 10, 2000},
        {"width-px", "width in pixels of a PNG", &S::width_px, 16, 30000},
        {"height-px", "height in pixels of a PNG", &S::height_px, 16, 30000},
        {"dpi", "pixels per inch of a PNG", &S::dpi, 20, 2400},
        {"font", "family of all text, 'Times New Roman' for example", &S::font},
        {"font-pt", "size of the token labels in points; the rest follows", &S::font_pt, 3, 72},
        {"colormap", "colors", &S::colormap},
        {"contrast",
         "how weights become colors: auto (true range, or square root beyond 64 tokens), linear (0 to 1), "
         "range (0 to the largest), root, log, p99 (up to the 99th percentile), row (each row by its "
         "largest)",
         &S::contrast},
        {"queries", "whether queries are rows or columns", &S::queries},
        {"marks", "squares of the weight's color, or dots of its size", &S::marks},
        {"turn-labels", "rotate the labels over the columns: auto (where they would not fit), always, never",
         &S::turned},
        {"title", "title ('' for none)", &S::title},
        {"caption", "line under the figure ('' for none)", &S::caption},
        {"labels", "token labels and head numbers", &S::labels},
        {"axis-titles", "“query” and “key” beside the axes of one head", &S::axis_titles},
        {"methods", "a line under the figure with model, head, mask, interventions and version", &S::methods},
        {"color-bar", "color bar with the true range", &S::color_bar},
        {"grid-lines", "lines between the cells", &S::grid_lines},
        {"values", "weights written into the cells where they fit", &S::values},
        {"join-words",
         "sub-words joined into words: a word's row is the mean of its pieces', its column their sum",
         &S::join_words},
        {"transparent", "no white behind the figure", &S::transparent},
        {"exact", "a page (.html): weights in 32 bits, not rounded to 16", &S::exact},
        {"drop-sink", "hide the first token and renormalize rows; for display only", &S::drop_sink},
        {"tokens", "only these tokens, 0-5,9; rows are not renormalized", &S::tokens},
        {"keys", "only these keys, where they differ from --tokens", &S::keys},
        {"only-heads", "only these of all heads, 1.2,3.0", &S::heads},
    };
    return table;
}

std::string field_text(const FigureStyle& style, const StyleField& field) {
    return std::visit(Getter{style}, field.member);
}
Status set_field(FigureStyle& style, const StyleField& field, const std::string& text) {
    return std::visit(Setter{style, field, text}, field.member);
}
std::vector<std::string> field_names(const StyleField& field) { return std::visit(Namer{}, field.member); }

std::span<const FigurePreset> built_in_presets() {
    static const FigurePreset table[] = {
        {"column", {{"width-mm", "85"}, {"dpi", "300"}, {"font-pt", "7"}}},
        {"double-column", {{"width-mm", "178"}, {"dpi", "300"}, {"font-pt", "8"}}},
        {"slide", {{"width-px", "1920"}, {"height-px", "1080"}, {"dpi", "96"}, {"font-pt", "16"}}},
    };
    return table;
}

Status apply_preset(FigureStyle& style, const FigurePreset& preset) {
    for (const auto& [name, given] : preset.fields) {
        const StyleField* field = find_field(name);
        if (!field)
            return Error{"The preset " + shortened(preset.name) + " sets " + in_quotes(name) +
                         ", which no figure has; take it out."};
        TRY_STATUS(set_field(style, *field, given));
    }
    return success();
}

FigurePreset preset_of(const std::string& name, const FigureStyle& style) {
    FigurePreset out{name, {}};
    const FigureStyle plain;
    for (const StyleField& field : style_fields())
        if (field_text(style, field) != field_text(plain, field))
            out.fields[field.name] = field_text(style, field);
    return out;
}

Result<FigurePreset> parse_preset(std::string_view text, const std::string& file) {
    TRY(const Json root, parse_json(text, file));
    const Error foreign{file +
                        " is not a preset of a figure; choose a .json file that Headlight saved as one."};
    if (!root.is_object()) return foreign;
    TRY(const std::string format, json_string(root, "format", "", file));
    if (format != kFormat) return foreign;
    TRY_STATUS(check_version(root, file));
    FigurePreset out;
    TRY(out.name, json_string(root, "name", "preset", file));
    for (const auto& [key, value] : root.items()) {
        if (key == "format" || key == "version" || key == "name") continue;
        if (!value.is_string() && !value.is_number() && !value.is_boolean())
            return Error{file + ": " + in_quotes(key) + " must be a text, a number, true or false."};
        out.fields[key] = value.is_string()    ? value.get<std::string>()
                          : value.is_boolean() ? value.get<bool>() ? "true" : "false"
                                               : number_text(value.get<double>());
    }
    FigureStyle trial;
    TRY_STATUS(apply_preset(trial, out));
    return out;
}

Result<FigurePreset> open_preset(const std::filesystem::path& path) {
    TRY(const auto file, MappedFile::open(path));
    return parse_preset(file->text(), display_path(path));
}

Status save_preset(const std::filesystem::path& path, const FigurePreset& preset) {
    nlohmann::ordered_json root{{"format", kFormat}, {"version", kFileVersion}, {"name", preset.name}};
    for (const auto& [name, text] : preset.fields) root[name] = text;
    return write_file(path, json_text(root, 2) + "\n");
}

Result<std::vector<int>> read_positions(const std::string& text, int count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 0);
    if (text.empty()) return all;
    std::set<int> chosen;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        int first = 0, last = 0, used = 0;
        const bool range =
            std::sscanf(part.c_str(), "%6d-%6d%n", &first, &last, &used) == 2 && used == isize(part);
        const bool one =
            !range && std::sscanf(part.c_str(), "%6d%n", &first, &used) == 1 && used == isize(part);
        if (one) last = first;
        if ((!one && !range) || first < 0 || last < first || last >= count)
            return Error{"The tokens " + in_quotes(text) + " cannot be chosen: positions go from 0 to " +
                         std::to_string(count - 1) + "; write 0-5,9 for example."};
        for (int i = first; i <= last; ++i) chosen.insert(i);
    }
    if (chosen.empty()) return Error{"No tokens are chosen; write 0-5,9 for example."};
    return std::vector<int>(chosen.begin(), chosen.end());
}

}  // namespace headlight
