// Defines the style of figures: one table of fields for the command line, presets and the window.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "figure/contrast.h"
#include "io/json.h"

namespace headlight {

enum class Axis { rows, columns };               // where the queries run
enum class Marks { squares, dots };              // dots: area proportional to weight
enum class Turned { automatic, always, never };  // labels above the columns at 45°

struct FigureStyle {
    double width_mm = 0, height_mm = 0;  // 0: by width_px, or by content
    double width_px = 0, height_px = 0;  // pixels of a PNG at `dpi`
    double dpi = 96;
    std::string font;       // a family; empty: the program's own two faces
    double font_pt = 8.25;  // of token labels; other sizes follow
    std::string colormap = "beam";
    Contrast contrast = Contrast::automatic;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    Turned turned = Turned::automatic;
    std::string title = "auto";    // auto: content and the model's name; "": none
    std::string caption = "auto";  // auto: how to read the figure; "": none
    bool labels = true, color_bar = true, grid_lines = false, values = false, join_words = false,
         transparent = false;
    bool exact = false;        // a page: weights in 32 bits
    bool axis_titles = true;   // one head: "query" and "key"
    bool methods = false;      // below the figure: how to reproduce it
    bool drop_sink = false;    // one head: without its first key, rows renormalized
    std::string tokens, keys;  // "0-5,9": only these (keys: along the keys; empty: as tokens)
    std::string heads;         // "1.2,3.0": only these of all heads

    /// Return the size of the page in CSS pixels, if one was asked for.
    std::optional<double> width() const { return length(width_mm, width_px); }
    std::optional<double> height() const { return length(height_mm, height_px); }
    bool operator==(const FigureStyle&) const = default;

private:
    std::optional<double> length(double mm, double px) const {
        if (mm > 0) return mm / 25.4 * 96;
        return px > 0 ? std::optional(px * 96 / dpi) : std::nullopt;
    }
};

/// Defines a row of the table of fields: its name in files and options, its meaning, and its member.
struct StyleField {
    const char* name;
    const char* help;
    std::variant<double FigureStyle::*, bool FigureStyle::*, std::string FigureStyle::*,
                 Contrast FigureStyle::*, Axis FigureStyle::*, Marks FigureStyle::*, Turned FigureStyle::*>
        member;
    double low = 0, high = 0;  // range of numbers
};
std::span<const StyleField> style_fields();

/// Convert a field to text, and from text; an error names the field and its valid values.
std::string field_text(const FigureStyle& style, const StyleField& field);
Status set_field(FigureStyle& style, const StyleField& field, const std::string& text);
/// Lists the names that a field accepts; empty for numbers and texts.
std::vector<std::string> field_names(const StyleField& field);

/// Holds a preset: a name and the fields that it sets.
struct FigurePreset {
    std::string name;
    std::map<std::string, std::string> fields;
};
/// Built in: "column" (85 mm), "double-column" (178 mm), "slide" (16:9).
std::span<const FigurePreset> built_in_presets();

Status apply_preset(FigureStyle& style, const FigurePreset& preset);
/// Lists what a style changes of the default.
FigurePreset preset_of(const std::string& name, const FigureStyle& style);

/// Parses a preset file: {"format": "headlight-figure", "version": 1, "name": …, fields}.
Result<FigurePreset> parse_preset(std::string_view text, const std::string& file);
Result<FigurePreset> open_preset(const std::filesystem::path& path);
Status save_preset(const std::filesystem::path& path, const FigurePreset& preset);

/// Parses "0-5,9" to sorted positions below `count`; all of them if the text is empty.
Result<std::vector<int>> read_positions(const std::string& text, int count);

}  // namespace headlight
