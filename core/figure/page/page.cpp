#include "figure/page/page.h"

#include <algorithm>
#include <map>

#include "base/base64.h"
#include "base/cast.h"
#include "base/digest.h"
#include "base/embedded.h"
#include "base/markup.h"
#include "figure/colormap.h"
#include "figure/page/packed.h"
#include "figure/page/page_blocks.h"
#include "figure/page/page_data.h"

namespace headlight {

namespace {

/// Joins the scripts of folders in the order of their names, whatever their folder.
std::string script(std::initializer_list<std::string_view> folders) {
    std::map<std::string_view, std::string_view> by_name;
    for (const std::string_view folder : folders)
        for (const std::string_view name : embedded_files(folder, ".js"))
            by_name[name.substr(folder.size())] = embedded_file(name);
    std::string out = "(() => {\n'use strict';\n";
    for (const auto& [name, text] : by_name) out += text;
    return out + "})();\n";
}

/// 'sha256-…' of what stands between the tags, as the policy names it.
std::string hash_source(const std::string& text) {
    Digest digest(DigestKind::sha256);
    digest.add(text);
    const std::string hex = digest.finish();
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
    return "'sha256-" + to_base64(bytes) + "'";
}

/// JSON inside a script element: no text of a user's can end the element.
std::string in_script(const Json& json) {
    std::string out;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
        c == '<' ? out += "\\u003c" : out += c;
    return out;
}

std::string joined_colors(const Colormap& map) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string out;
    for (const Rgb& color : map) {
        out += '#';
        for (const uint8_t part : {color.r, color.g, color.b})
            out.append({kDigits[part >> 4], kDigits[part & 15]});
    }
    return out;
}

Json color_maps() {
    return {{"beam_light", joined_colors(colormap("beam", false))},
            {"beam_dark", joined_colors(colormap("beam", true))},
            {"balance_light", joined_colors(signed_colormap(false))},
            {"balance_dark", joined_colors(signed_colormap(true))}};
}

/// Returns the steps of rounding: fine where the page stays small, else 1/1000 of a head's largest weight.
int steps_of(const Trace& trace, bool exact) {
    constexpr int64_t kFewWeights = 1 << 20;
    if (exact) return kExact;
    int64_t weights = 0;
    for (int b = 0; b < trace.config().blocks(); ++b)
        weights += int64_t{trace.config().heads(b)} * trace.query_count(b) * trace.key_count(b);
    return weights <= kFewWeights ? 32767 : 1000;
}

struct PackedBlocks {
    Json list = Json::array();
    float error = 0;
};
Result<PackedBlocks> packed_blocks(const Trace& trace, int steps, ThreadPool& pool,
                                   const CancelFlag* cancel) {
    std::vector<PackedBlock> packed(size_t(trace.config().blocks()));
    const CancelScope scope(pool, cancel);
    pool.run(isize(packed), [&](int b) { packed[size_t(b)] = packed_block(trace, b, steps); });
    pool.stop_point();
    PackedBlocks out;
    for (PackedBlock& block : packed) {
        out.list.push_back(std::move(block.json));
        out.error = std::max(out.error, block.error);
    }
    return out;
}

/// Adds the run's patterns and what it predicts.
Status add_run(const PageContents& w, Json& out, ThreadPool& pool, const CancelFlag* cancel) {
    const Trace& trace = *w.trace;
    const int steps = steps_of(trace, w.exact);
    TRY(PackedBlocks blocks, packed_blocks(trace, steps, pool, cancel));
    out["model"] = model_text(*trace.model);
    out["blocks"] = std::move(blocks.list);
    out["sequences"] = sequences_of(trace);
    if (!w.names.empty()) out["names"] = w.names;
    if (w.lens) out["lens"] = lens_of(trace, *w.lens);
    if (Json next = next_of(trace, pool); !next.empty()) out["next"] = std::move(next);
    if (w.other) {
        TRY(PackedBlocks others, packed_blocks(*w.other, steps, pool, cancel));
        blocks.error = std::max(blocks.error, others.error);
        out["compare"] = {{"a", w.name}, {"b", w.other_name}, {"blocks_b", std::move(others.list)}};
    }
    out["error"] = said_error(blocks.error);
    return success();
}

Result<Json> page_data(const PageContents& w, ThreadPool& pool, const CancelFlag* cancel) {
    Json out{{"format", "headlight-page"},
             {"version", 1},
             {"title", w.title},
             {"model", ""},
             {"program", "Headlight " HEADLIGHT_VERSION},
             {"view", w.view},
             {"block", w.block},
             {"head", w.head},
             {"locked", w.locked},
             {"theme", "light"},
             {"blocks", Json::array()},
             {"maps", color_maps()}};
    if (w.trace) TRY_STATUS(add_run(w, out, pool, cancel));
    for (const PageFigure& figure : w.figures) out["figures"].push_back(packed_figure(figure));
    return out;
}

/// Fills the template's places in one pass: what is put in may look like a place.
std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values) {
    std::string out;
    while (!text.empty()) {
        const size_t begin = text.find("{{"), end = text.find("}}", std::min(begin, text.size()));
        out += text.substr(0, begin);
        if (begin == text.npos || end == text.npos) break;
        const std::string_view name = text.substr(begin + 2, end - begin - 2);
        const auto value =
            std::find_if(values.begin(), values.end(), [&](const auto& row) { return row.first == name; });
        HEADLIGHT_CHECK(value != values.end());
        out += value->second;
        text.remove_prefix(end + 2);
    }
    return out;
}

/// Holds what differs between pages.
struct PageText {
    Json data;
    std::string code, style, may_run, more;  // may_run: of the policy; more: elements
};

std::string page_of(const PageContents& contents, const PageText& text) {
    const std::string style = std::string(embedded_file("assets/page/page.css")) + text.style;
    return filled(
        embedded_file("assets/page/page.html"),
        {{"csp", "default-src 'none'; script-src " + hash_source(text.code) + text.may_run + "; style-src " +
                     hash_source(style) + "; img-src data: blob:; base-uri 'none'; form-action 'none'"},
         {"title", escaped(contents.title)},
         {"style", style},
         {"body", contents.report.empty()
                      ? ""
                      : "<section id=\"report\" class=\"report\">" + contents.report + "</section>"},
         {"data", in_script(text.data)},
         {"more", text.more},
         {"script", text.code}});
}

/// Lays out files one after another, as assets/live reads them.
Json live_facts(const LiveModel& model, std::string& all) {
    Json files = Json::array();
    for (const LiveModel::File& file : model.files) {
        files.push_back({{"name", file.name}, {"bytes", file.bytes.size()}});
        all += file.bytes;
    }
    return {{"files", std::move(files)}, {"text", model.text}, {"weights", model.weights}};
}

std::string held(const char* id, std::string_view base64) {
    return "<script type=\"text/plain\" id=\"" + std::string(id) + "\">" + std::string(base64) +
           "</script>\n";
}

}  // namespace

Result<std::string> page_html(const PageContents& contents, ThreadPool& pool, const CancelFlag* cancel) {
    HEADLIGHT_CHECK(contents.trace || (!contents.figures.empty() && !contents.other && !contents.lens));
    HEADLIGHT_CHECK(!contents.other ||
                    contents.other->config().blocks() == contents.trace->config().blocks());
    return guarded([&]() -> Result<std::string> {
        TRY(Json data, page_data(contents, pool, cancel));
        return page_of(contents, {std::move(data), script({"assets/page/"}), "", "", ""});
    });
}

Result<std::string> live_page_html(const PageContents& contents, const LiveModel& model, ThreadPool& pool,
                                   const CancelFlag* cancel) {
    HEADLIGHT_CHECK(contents.trace && !contents.other);
    return guarded([&]() -> Result<std::string> {
        TRY(Json data, page_data(contents, pool, cancel));
        std::string files;
        data["live"] = live_facts(model, files);
        const std::string more = held("model", packed(files)) +
                                 held("engine", to_base64(embedded_file("assets/live/engine.wasm.deflate")));
        return page_of(contents, {std::move(data), script({"assets/page/", "assets/live/"}),
                                  std::string(embedded_file("assets/live/live.css")),
                                  " 'wasm-unsafe-eval'; worker-src blob:", more});
    });
}

}  // namespace headlight
