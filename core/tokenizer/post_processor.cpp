// One row per post-processor type. Offsets follow Hugging Face's rules, its treatment of blanks that it put in itself included.
#include "tokenizer/post_processor.h"

#include <algorithm>

#include "base/utf8.h"

namespace headlight {

void Encoding::push(int id, std::string token, Span offset) {
    ids.push_back(id);
    tokens.push_back(std::move(token));
    offsets.push_back(offset);
}

namespace {

/// Blanks at both ends of a token in its printable form ("Ġ" is one).
std::pair<int, int> count_blanks(const std::string& token) {
    std::vector<bool> blank;
    for (size_t at = 0; at < token.size();) {
        const CodePoint c = decode_utf8(token, at);
        blank.push_back(c.value == 0x120 || is_white_space(c.value));
        at += static_cast<size_t>(c.length);
    }
    const auto leading = std::find(blank.begin(), blank.end(), false) - blank.begin();
    const auto trailing = std::find(blank.rbegin(), blank.rend(), false) - blank.rbegin();
    return {static_cast<int>(leading), static_cast<int>(trailing)};
}

void trim_offsets(Encoding& e, bool add_prefix_space) {
    for (size_t i = 0; i < e.size(); ++i) {
        auto [leading, trailing] = count_blanks(e.tokens[i]);
        Span& o = e.offsets[i];
        const bool first = i == 0 || o.begin == 0;
        if (first && add_prefix_space && leading == 1) leading = 0;  // one blank may have been put in; more were typed
        o.begin = std::min(o.begin + leading, o.end);
        if (trailing > 0 && o.end >= trailing) o.end = std::max(o.end - trailing, o.begin);
    }
}

struct SpecialToken {
    std::string token;
    int id;
};

/// Special tokens before and after the text.
PostProcessor surround(std::vector<SpecialToken> before, std::vector<SpecialToken> after) {
    return [before, after](Encoding& e, bool special) {
        if (!special) return;
        Encoding out;
        for (const auto& t : before) out.push(t.id, t.token, {});
        for (size_t i = 0; i < e.size(); ++i) out.push(e.ids[i], e.tokens[i], e.offsets[i]);
        for (const auto& t : after) out.push(t.id, t.token, {});
        e = std::move(out);
    };
}

Result<PostProcessor> make_byte_level(const Json& d, const std::string& name) {
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const bool trim, json_boolean(d, "trim_offsets", true, name));
    if (!trim) return PostProcessor([](Encoding&, bool) {});
    return PostProcessor([prefix](Encoding& e, bool) { trim_offsets(e, prefix); });
}

Result<SpecialToken> read_pair(const Json& d, const char* key, const std::string& name) {
    const auto it = d.find(key);
    const bool usable = it != d.end() && it->is_array() && it->size() == 2 && (*it)[0].is_string() && (*it)[1].is_number_unsigned() && (*it)[1].get<uint64_t>() < 100'000'000;
    if (!usable) return Error{name + ": the post-processor has no usable \"" + key + "\"; download it again."};
    return SpecialToken{(*it)[0].get<std::string>(), (*it)[1].get<int>()};
}

Result<PostProcessor> make_roberta(const Json& d, const std::string& name) {
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const bool trim, json_boolean(d, "trim_offsets", true, name));
    TRY(const SpecialToken cls, read_pair(d, "cls", name));
    TRY(const SpecialToken sep, read_pair(d, "sep", name));
    return PostProcessor([prefix, trim, add = surround({cls}, {sep})](Encoding& e, bool special) {
        if (trim) trim_offsets(e, prefix);
        add(e, special);
    });
}

Result<std::vector<SpecialToken>> template_token(const Json& table, const std::string& key, const std::string& name) {
    const auto entry = table.find(key);
    if (entry == table.end() || !entry->is_object() || !entry->contains("ids") || !(*entry)["ids"].is_array())
        return Error{name + ": the template's special token \"" + key.substr(0, 40) + "\" is not described; download it again."};
    const Json& ids = (*entry)["ids"];
    const Json tokens = entry->value("tokens", Json::array());
    std::vector<SpecialToken> out;
    for (size_t i = 0; i < ids.size(); ++i) {
        if (!ids[i].is_number_unsigned() || ids[i].get<uint64_t>() >= 100'000'000) return Error{name + ": a template id is no token id; download it again."};
        const bool named = tokens.is_array() && i < tokens.size() && tokens[i].is_string();
        out.push_back({named ? tokens[i].get<std::string>() : key, ids[i].get<int>()});
    }
    return out;
}

Result<PostProcessor> make_template(const Json& d, const std::string& name) {
    const auto single = d.find("single"), table = d.find("special_tokens");
    if (single == d.end() || !single->is_array() || table == d.end() || !table->is_object())
        return Error{name + ": the post-processor's template is incomplete; download it again."};
    std::vector<SpecialToken> sides[2];
    int side = 0;
    for (const Json& part : *single) {
        if (part.is_object() && part.contains("Sequence")) side = 1;
        if (!part.is_object() || !part.contains("SpecialToken")) continue;
        TRY(const std::string key, json_string(part["SpecialToken"], "id", "", name));
        TRY(const auto tokens, template_token(*table, key, name));
        sides[side].insert(sides[side].end(), tokens.begin(), tokens.end());
    }
    return surround(sides[0], sides[1]);
}

Result<PostProcessor> make_sequence(const Json& d, const std::string& name) {
    const auto list = d.find("processors");
    if (list == d.end() || !list->is_array()) return Error{name + ": the post-processor sequence has no list; download it again."};
    std::vector<PostProcessor> steps;
    for (const Json& step : *list) {
        TRY(PostProcessor made, make_post_processor(step, name));
        steps.push_back(std::move(made));
    }
    return PostProcessor([steps](Encoding& e, bool special) {
        for (const auto& step : steps) step(e, special);
    });
}

struct PostProcessorRow {
    const char* type;
    Result<PostProcessor> (*make)(const Json&, const std::string&);
};

constexpr PostProcessorRow kPostProcessors[] = {
    {"ByteLevel", make_byte_level},
    {"RobertaProcessing", make_roberta},
    {"TemplateProcessing", make_template},
    {"Sequence", make_sequence},
};

}  // namespace

Result<PostProcessor> make_post_processor(const Json& description, const std::string& name) {
    if (description.is_null()) return PostProcessor([](Encoding&, bool) {});
    if (!description.is_object()) return Error{name + ": the post-processor is no object; download it again."};
    TRY(const std::string type, json_string(description, "type", "", name + ": post_processor"));
    for (const auto& row : kPostProcessors)
        if (type == row.type) return row.make(description, name);
    return Error{name + ": the post-processor \"" + type.substr(0, 40) + "\" is not one that Headlight knows; open a model with a byte-level BPE tokenizer."};
}

}  // namespace headlight
