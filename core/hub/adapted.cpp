// Reads spellings of models with adapters.
#include "hub/adapted.h"

#include <charconv>
#include <cmath>

#include "base/quoted.h"
#include "io/folder.h"
#include "model/loading/adapter.h"

namespace headlight {

namespace fs = std::filesystem;

std::string strength_text(float strength) {
    char number[32];
    return {number, std::to_chars(number, number + sizeof number, strength).ptr};
}

namespace {

/// Splits "FOLDER=STRENGTH", unless a folder has the whole name.
Result<AdaptedModel> with_strength(const std::string& spelled) {
    AdaptedModel out;
    const size_t at = spelled.rfind('=');
    if (at == std::string::npos || is_adapter(expand_home(spelled))) {
        out.adapter = expand_home(spelled);
        return out;
    }
    out.adapter = expand_home(spelled.substr(0, at));
    const std::string number = spelled.substr(at + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.strength);
    if (error != std::errc() || end != number.data() + number.size() ||
        !(out.strength >= kLeastStrength && out.strength <= kLargestStrength))
        return Error{"The strength of an adapter is a number from \u22128 to 8, not " + in_quotes(number) +
                     "; write " + in_quotes(spelled.substr(0, at) + "=0.5") + "."};
    return out;
}

/// Returns whether the folder, with a strength behind it or not, is an adapter's.
bool leads_to_adapter(const std::string& spelled) {
    const std::string folder = spelled.substr(0, spelled.rfind('='));
    return !spelled.empty() && (is_adapter(expand_home(spelled)) || is_adapter(expand_home(folder)));
}

}  // namespace

std::string AdaptedModel::spelled() const {
    return (model.empty() ? "" : model + "+") + adapter.string() + "=" + strength_text(strength);
}

std::optional<std::pair<std::string, float>> split_strength(const std::string& spelled) {
    const size_t at = spelled.rfind('=');
    if (at == std::string::npos) return std::nullopt;
    float strength = 0;
    const char *begin = spelled.data() + at + 1, *end = spelled.data() + spelled.size();
    const auto [read, error] = std::from_chars(begin, end, strength);
    if (error != std::errc() || read != end || begin == end) return std::nullopt;
    return std::pair{spelled.substr(0, at), strength};
}

std::string at_strength(const std::string& spelled, float strength) {
    const auto parts = split_strength(spelled);
    return parts ? parts->first + "=" + strength_text(strength) : spelled;
}

bool only_strength_differs(const std::string& spelled, const std::string& other) {
    const auto a = split_strength(spelled), b = split_strength(other);
    return a && b && a->first == b->first;
}

Result<std::optional<AdaptedModel>> read_adapted(const std::string& spelled) {
    std::error_code ignored;
    if (spelled.empty() || (fs::exists(expand_home(spelled), ignored) && !is_adapter(expand_home(spelled))))
        return std::optional<AdaptedModel>();
    for (size_t at = spelled.find('+'); at != std::string::npos; at = spelled.find('+', at + 1)) {
        if (!leads_to_adapter(spelled.substr(at + 1))) continue;
        TRY(AdaptedModel out, with_strength(spelled.substr(at + 1)));
        out.model = spelled.substr(0, at);
        return std::optional(out);
    }
    if (!leads_to_adapter(spelled)) return std::optional<AdaptedModel>();
    TRY(AdaptedModel out, with_strength(spelled));
    return std::optional(out);
}

Result<AdaptedModel> read_adapter(const std::string& spelled) {
    TRY(AdaptedModel out, with_strength(spelled));
    if (is_adapter(out.adapter)) return out;
    return Error{display_path(out.adapter) +
                 " is no folder of an adapter: it has no adapter_config.json, or a model beside it; name the "
                 "folder that peft saved."};
}

Result<std::string> with_adapter(const std::string& model, const std::string& adapter) {
    if (adapter.empty()) return model;
    TRY(AdaptedModel out, read_adapter(adapter));
    out.model = model;
    return out.spelled();
}

}  // namespace headlight
