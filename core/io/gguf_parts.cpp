// Finds and joins the parts of split GGUF files.
#include "io/gguf_parts.h"

#include <cctype>
#include <charconv>
#include <cstdio>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEnding = ".gguf";
constexpr int kMaxParts = 4096;

std::string numbers_text(int number, int count) {
    char text[32];
    std::snprintf(text, sizeof text, "-%05d-of-%05d", number, count);
    return text;
}

/// Removes the digits at the end of `text`; returns −1 if there are fewer than five.
int take_digits(std::string_view& text) {
    size_t begin = text.size();
    while (begin > 0 && std::isdigit(as_byte(text[begin - 1]))) --begin;
    int value = -1;
    if (text.size() - begin == 5) std::from_chars(text.data() + begin, text.data() + text.size(), value);
    text = text.substr(0, begin);
    return value;
}

bool take_end(std::string_view& text, std::string_view end) {
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
}

/// Returns how many parts the file declares and which one it is; a file without the declaration is whole.
Result<std::pair<int64_t, int64_t>> stated_part(const Gguf& file, const std::string& name) {
    std::pair<int64_t, int64_t> out{0, 1};
    if (const Json& count = file.value("split.count"); !count.is_null()) {
        TRY(out.second, whole_number(count, "split.count", 0, 99'999, name));
    }
    if (const Json& number = file.value("split.no"); !number.is_null()) {
        TRY(out.first, whole_number(number, "split.no", 0, 99'999, name));
    }
    return out;
}

/// Checks that a part is the one that its name says, of the same model as the first.
Status check_part(const Gguf& whole, const Gguf& part, const fs::path& path, const GgufPart& named) {
    const std::string name = display_path(path);
    TRY(const auto stated, stated_part(part, name));
    if (stated.second != named.count || stated.first != named.number - 1)
        return Error{name + " says that it is part " + std::to_string(stated.first + 1) + " of " +
                     std::to_string(stated.second) + ", but its name says part " +
                     std::to_string(named.number) + " of " + std::to_string(named.count) +
                     "; give the parts of one model the names that they had."};
    for (const char* key : {"split.tensors.count", "general.architecture"}) {
        const Json &first = whole.value(key), &own = part.value(key);
        if (!first.is_null() && !own.is_null() && first != own)
            return Error{name + ": " + key + " is " + shortened(json_text(own)) + ", but " +
                         shortened(json_text(first)) +
                         " in the first part; put the parts of one model side by side."};
    }
    for (const auto& [tensor, unused] : part.tensors)
        if (whole.tensors.count(tensor))
            return Error{name + " holds the tensor " + shortened(tensor) +
                         ", which another part holds too; put the parts of one model side by side."};
    return success();
}

Status check_count(const Gguf& whole, const std::string& name) {
    const Json& stated = whole.value("split.tensors.count");
    if (stated.is_null() || stated == whole.tensors.size()) return success();
    return Error{name + " says that its parts hold " + shortened(json_text(stated)) +
                 " tensors, but together they hold " + std::to_string(whole.tensors.size()) +
                 "; put the parts of one model side by side."};
}

/// Adds a part; the first one's metadata apply to the model.
void add_part(GgufModel& out, Gguf part) {
    out.files.push_back({part.file, part.tensors});
    if (out.files.size() == 1)
        out.whole = std::move(part);
    else
        out.whole.tensors.merge(part.tensors);
}

}  // namespace

std::string GgufPart::sibling(int other) const {
    return stem + numbers_text(other, count) + std::string(kEnding);
}

std::optional<GgufPart> parse_gguf_part(const std::string& filename) {
    std::string_view left = filename;
    GgufPart out;
    if (!take_end(left, kEnding)) return {};
    out.count = take_digits(left);
    if (!take_end(left, "-of-")) return {};
    out.number = take_digits(left);
    if (!take_end(left, "-") || left.empty()) return {};
    out.stem = left;
    if (out.number < 1 || out.number > out.count || out.count > kMaxParts) return {};
    return out;
}

std::vector<fs::path> gguf_part_paths(const fs::path& path) {
    const auto part = parse_gguf_part(path.filename().string());
    if (!part) return {path};
    std::vector<fs::path> out;
    for (int i = 1; i <= part->count; ++i) out.push_back(path.parent_path() / part->sibling(i));
    return out;
}

Result<GgufModel> open_gguf_model(const fs::path& path) {
    const std::string name = display_path(path);
    TRY(Gguf named, open_gguf(path));
    TRY(const auto stated, stated_part(named, name));
    GgufModel out;
    const auto part = parse_gguf_part(path.filename().string());
    if (stated.second <= 1) {
        add_part(out, std::move(named));
        return out;
    }
    if (!part)
        return Error{name + " is part " + std::to_string(stated.first + 1) + " of " +
                     std::to_string(stated.second) + ", but is not called so; name the parts NAME" +
                     numbers_text(1, narrow<int>(stated.second)) + ".gguf and so on."};
    TRY_STATUS(check_part({}, named, path, *part));
    GgufPart one = *part;
    for (one.number = 1; one.number <= one.count; ++one.number) {
        const fs::path beside = path.parent_path() / one.sibling(one.number);
        std::error_code ignored;
        if (!fs::exists(beside, ignored))
            return Error{name + " is one of " + std::to_string(one.count) + " parts, and " +
                         in_quotes(beside.filename().string()) + " is not beside it; put it there."};
        TRY(Gguf next, open_gguf(beside));
        TRY_STATUS(check_part(out.whole, next, beside, one));
        add_part(out, std::move(next));
    }
    TRY_STATUS(check_count(out.whole, name));
    return out;
}

std::string gguf_name(const std::filesystem::path& file) {
    const auto part = parse_gguf_part(file.filename().string());
    return part ? part->stem : file.stem().string();
}

}  // namespace headlight
