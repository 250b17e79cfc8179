// How figures look: one table of fields for the command line, presets and the window.
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
enum class Marks { squares, dots };              // dots: their areas by weight
enum class Turned { automatic, always, never };  // labels over the columns at 45°

struct FigureStyle {
    double width_mm = 0, height_mm = 0;  // 0: by width_px, or as the content needs
    double width_px = 0, height_px = 0;  // pixels of a PNG at `dpi`
    double dpi = 96;
    double font_pt = 8.25;  // of token labels; the rest follows
    std::string colormap = "beam";
    Contrast contrast = Contrast::automatic;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    Turned turned = Turned::automatic;
    std::string title = "auto";    // auto: what it shows and the model's name; "": none
    std::string caption = "auto";  // auto: how to read it; "": none
    bool labels = true, color_bar = true, grid_lines = false, values = false, join_words = false,
         transparent = false;
    bool axis_titles = true;   // one head: "query" and "key"
    bool methods = false;      // under the figure: what is needed to make it again
    bool drop_sink = false;    // one head: without its first key, rows renormalized
    std::string tokens, keys;  // "0-5,9": only these (keys: of the keys; where empty, as tokens)
    std::string heads;         // "1.2,3.0": only these of all heads

    /// Size of the page in CSS pixels, where one was asked for.
    std::optional<double> width() const { return length(width_mm, width_px); }
    std::optional<double> height() const { return length(height_mm, height_px); }
    bool operator==(const FigureStyle&) const = default;

private:
    std::optional<double> length(double mm, double px) const {
        if (mm > 0) return mm / 25.4 * 96;
        return px > 0 ? std::optional(px * 96 / dpi) : std::nullopt;
    }
};

/// A row of the table of fields: its name as files and options spell it, what it means, and where it lies.
struct StyleField {
    const char* name;
    const char* help;
    std::variant<double FigureStyle::*, bool FigureStyle::*, std::string FigureStyle::*,
                 Contrast FigureStyle::*, Axis FigureStyle::*, Marks FigureStyle::*, Turned FigureStyle::*>
        member;
    double low = 0, high = 0;  // of numbers
};
std::span<const StyleField> style_fields();

/// A field as text, and from text; an error names the field and what it may be.
std::string field_text(const FigureStyle& style, const StyleField& field);
Status set_field(FigureStyle& style, const StyleField& field, const std::string& text);
/// What a field with names may be, or nothing for numbers and texts.
std::vector<std::string> field_names(const StyleField& field);

/// A preset: a name and what it sets, by field names.
struct FigurePreset {
    std::string name;
    std::map<std::string, std::string> fields;
};
/// Built in: "column" (85 mm), "double-column" (178 mm), "slide" (16:9).
std::span<const FigurePreset> built_in_presets();

Status apply_preset(FigureStyle& style, const FigurePreset& preset);
/// What a style sets beyond the plain one.
FigurePreset preset_of(const std::string& name, const FigureStyle& style);

/// A preset file: {"format": "headlight-figure", "version": 1, "name": …, fields}.
Result<FigurePreset> parse_preset(std::string_view text, const std::string& file);
Result<FigurePreset> open_preset(const std::filesystem::path& path);
Status save_preset(const std::filesystem::path& path, const FigurePreset& preset);

/// "0-5,9" as sorted positions below `count`; all of them where the text is empty.
Result<std::vector<int>> read_positions(const std::string& text, int count);

}  // namespace headlight
