// The tables of what is remembered: one row a field, read and written by the two visitors below. For state
// and workspace.
#pragma once

#include <algorithm>

#include "io/json.h"
#include "session/state.h"

namespace headlight {

inline constexpr size_t kMaxRecent = 8, kLongestText = 4 << 20, kMaxChanges = 50'000;

/// What belongs to the person, whatever is looked at.
template <class Visitor>
Status visit_preferences(ViewState& s, Visitor&& v) {
    TRY_STATUS(v.list("recent_models", s.recent_models, kMaxRecent));
    TRY_STATUS(v.list("recent_texts", s.recent_texts, kMaxRecent));
    TRY_STATUS(v.flag("dark", s.dark));
    TRY_STATUS(v.number("text_size", s.text_size, 0.75f, 2));
    TRY_STATUS(v.flag("hints_seen", s.hints_seen));
    TRY_STATUS(v.integer("width", s.window_width, 320, 30000));
    TRY_STATUS(v.integer("height", s.window_height, 240, 30000));
    TRY_STATUS(v.flag("change_bar", s.change_bar));
    return success();
}

/// What is looked at, and how: what a workspace file holds.
template <class Visitor>
Status visit_workspace(ViewState& s, Visitor&& v) {
    TRY_STATUS(v.text("model", s.model_path));
    TRY_STATUS(v.text("text", s.text));
    TRY_STATUS(v.text("second", s.second));
    TRY_STATUS(v.text("colormap", s.colormap));
    TRY_STATUS(v.integer("scale", s.scale, 0, 2));
    TRY_STATUS(v.integer("queries", s.queries, 0, 1));
    TRY_STATUS(v.integer("marks", s.marks, 0, 1));
    TRY_STATUS(v.integer("rank", s.rank, kRankBySweep, static_cast<int>(kStatistics) - 1));
    TRY_STATUS(v.integer("layer", s.block, 0, 100000));
    TRY_STATUS(v.integer("head", s.head, 0, 100000));
    TRY_STATUS(v.number("link_share", s.link_share, 0.01f, 1));
    TRY_STATUS(v.integer("delta_show", s.delta_show, 0, 2));
    TRY_STATUS(v.flag("delta_per_layer", s.delta_per_layer));
    TRY_STATUS(v.integer("delta_split", s.delta_split, 0, 2));
    TRY_STATUS(v.flag("delta_paths", s.delta_paths));
    TRY_STATUS(v.number("graph_share", s.graph_share, 0.01f, 1));
    TRY_STATUS(v.flag("graph_flow", s.graph_flow));
    TRY_STATUS(v.integer("heads_layout", s.heads_layout, 0, 4));
    TRY_STATUS(v.integer("heads_sort", s.heads_sort, 0, 100));
    TRY_STATUS(v.integer("heads_scale", s.heads_scale, 0, 2));
    TRY_STATUS(v.number("heads_kept", s.heads_kept, 0, 1));
    TRY_STATUS(v.number("heads_zoom", s.heads_zoom, 0.25f, 12));
    TRY_STATUS(v.text("view", s.view_name));
    TRY_STATUS(v.cell("locked", s.locked));
    TRY_STATUS(v.text("mask", s.mask));
    TRY_STATUS(v.list("changes", s.changes, kMaxChanges));
    TRY_STATUS(v.flag("drop_sink", s.drop_sink));
    TRY_STATUS(v.integer("compare", s.compared_what, 0, 3));
    TRY_STATUS(v.integer("compare_show", s.compared_show, 0, 2));
    TRY_STATUS(v.integer("layer_b", s.compared.first, 0, 100000));
    TRY_STATUS(v.integer("head_b", s.compared.second, 0, 100000));
    TRY_STATUS(v.text("text_b", s.other_text));
    TRY_STATUS(v.text("model_b", s.other_model));
    TRY_STATUS(v.number("temperature", s.decoding.temperature, 0, 10));
    TRY_STATUS(v.integer("top_k", s.decoding.top_k, 0, 1 << 20));
    TRY_STATUS(v.number("top_p", s.decoding.top_p, 0, 1));
    TRY_STATUS(v.integer("seed", s.decoding.seed, 0, 1 << 30));
    TRY_STATUS(v.integer("beams", s.decoding.beams, 1, kMaxBeams));
    TRY_STATUS(v.number("length_penalty", s.decoding.length_penalty, -10, 10));
    TRY_STATUS(v.integer("written_length", s.written_length, 1, kMaxWritten));
    TRY_STATUS(v.flag("writing_bar", s.writing_bar));
    TRY_STATUS(v.integer("align_of", s.align_of, 0, 2));
    TRY_STATUS(v.integer("align_marks", s.align_marks, 0, 2));
    TRY_STATUS(v.flag("align_words", s.align_words));
    TRY_STATUS(v.flag("align_read", s.align_read));
    TRY_STATUS(v.flag("align_lines", s.align_lines));
    TRY_STATUS(v.flag("model_maps", s.model_maps));
    TRY_STATUS(v.flag("model_mean", s.model_mean));
    TRY_STATUS(v.integer("position_stack", s.position_stack, 0, 1));
    TRY_STATUS(v.integer("position_count", s.position_count, 1, 128));
    TRY_STATUS(v.integer("align", s.alignment.by, 0, 1));
    TRY_STATUS(v.pairs("tied", s.alignment.by_hand));
    return success();
}

/// Takes what the file has and leaves the rest as it is; a number out of its range becomes the nearest one. A
/// value of another type is an error, or, where a newer version may have written it, passed over.
struct Reader {
    const Json& root;
    const std::string& name;
    bool lenient = false;

    Status text(const char* key, std::string& out) const {
        return take(json_string(root, key, out, name), out);
    }
    Status flag(const char* key, bool& out) const { return take(json_boolean(root, key, out, name), out); }
    Status number(const char* key, float& out, float low, float high) const {
        double value = out;
        TRY_STATUS(take(json_number(root, key, out, name), value));
        out = static_cast<float>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
        return success();
    }
    template <class T>
    Status integer(const char* key, T& out, int low, int high) const {
        auto value = static_cast<int64_t>(out);
        TRY_STATUS(take(json_integer(root, key, value, INT64_MIN, INT64_MAX, name), value));
        out = static_cast<T>(std::clamp<int64_t>(value, low, high));
        return success();
    }
    Status list(const char* key, std::vector<std::string>& out, size_t max) const {
        const auto it = root.find(key);
        if (it == root.end() || !it->is_array()) return success();
        out.clear();
        for (const Json& s : *it)
            if (s.is_string() && out.size() < max && s.get_ref<const std::string&>().size() <= kLongestText)
                out.push_back(s.get<std::string>());
        return success();
    }
    Status cell(const char* key, std::optional<std::pair<int, int>>& out) const {
        std::vector<std::pair<int, int>> one;
        TRY_STATUS(pairs(key, one));
        if (root.contains(key)) out = one.empty() ? std::nullopt : std::optional(one[0]);
        return success();
    }
    Status pairs(const char* key, std::vector<std::pair<int, int>>& out) const {
        const auto it = root.find(key);
        if (it == root.end() || !it->is_array()) return success();
        out.clear();
        const auto place = [](const Json& v) { return v.is_number_integer() && v >= -1 && v < 100'000; };
        for (const Json& pair : *it)
            if (pair.is_array() && pair.size() == 2 && place(pair[0]) && place(pair[1]) &&
                out.size() < kMaxChanges)
                out.emplace_back(pair[0].get<int>(), pair[1].get<int>());
        return success();
    }

private:
    template <class T>
    Status take(Result<T> found, T& out) const {
        if (!found) return lenient ? success() : Status(found.error());
        out = *std::move(found);
        return success();
    }
};

/// Collects the fields; refuses what could not be read back whole.
struct Writer {
    Json root = Json::object();

    Status text(const char* key, const std::string& value) {
        if (value.size() > kLongestText)
            return Error{"\"" + std::string(key) + "\" holds " + std::to_string(value.size()) +
                         " bytes, and a workspace at most 4 MB of one text; shorten it."};
        root[key] = value;
        return success();
    }
    Status flag(const char* key, bool value) {
        root[key] = value;
        return success();
    }
    Status number(const char* key, float value, float, float) {
        root[key] = value;
        return success();
    }
    template <class T>
    Status integer(const char* key, T value, int, int) {
        root[key] = static_cast<int>(value);
        return success();
    }
    Status list(const char* key, const std::vector<std::string>& value, size_t max) {
        if (value.size() > max)
            return Error{"\"" + std::string(key) + "\" has " + std::to_string(value.size()) +
                         " entries, and a workspace holds at most " + std::to_string(max) + "; remove some."};
        root[key] = value;
        return success();
    }
    Status cell(const char* key, const std::optional<std::pair<int, int>>& value) {
        return pairs(key, value ? std::vector{*value} : std::vector<std::pair<int, int>>());
    }
    Status pairs(const char* key, const std::vector<std::pair<int, int>>& value) {
        root[key] = value;
        return success();
    }
};

}  // namespace headlight
