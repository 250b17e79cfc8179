// Implements post-processors, one row per type. Offsets follow Hugging Face's, also for added spaces.
#include "tokenizer/post_processor.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "tokenizer/token_model.h"

namespace headlight {

void Encoding::push(int id, std::string token, Span offset, int type) {
    ids.push_back(id);
    tokens.push_back(std::move(token));
    offsets.push_back(offset);
    types.push_back(type);
}

void Encoding::append(const Encoding& o) {
    ids.insert(ids.end(), o.ids.begin(), o.ids.end());
    tokens.insert(tokens.end(), o.tokens.begin(), o.tokens.end());
    offsets.insert(offsets.end(), o.offsets.begin(), o.offsets.end());
    types.insert(types.end(), o.types.begin(), o.types.end());
}

namespace {

/// Counts spaces at both ends of a token in printable form ("Ġ" is one).
std::pair<int, int> count_blanks(const std::string& token) {
    std::vector<bool> blank;
    for (size_t at = 0; at < token.size();) {
        const CodePoint c = decode_utf8(token, at);
        blank.push_back(c.value == 0x120 || is_white_space(c.value));
        at += c.length;
    }
    const auto leading = std::find(blank.begin(), blank.end(), false) - blank.begin();
    const auto trailing = std::find(blank.rbegin(), blank.rend(), false) - blank.rbegin();
    return {narrow<int>(leading), narrow<int>(trailing)};
}

void trim_offsets(Encoding& e, bool add_prefix_space) {
    for (size_t i = 0; i < e.size(); ++i) {
        auto [leading, trailing] = count_blanks(e.tokens[i]);
        Span& o = e.offsets[i];
        const bool first = i == 0 || o.begin == 0;
        if (first && add_prefix_space && leading == 1)
            leading = 0;  // one space may have been added; more were typed
        o.begin = std::min(o.begin + leading, o.end);
        if (trailing > 0 && o.end >= trailing) o.end = std::max(o.end - trailing, o.begin);
    }
}

/// Is a place in a template: special tokens, or one of the texts.
struct Slot {
    int text = -1;  // 0, 1, or −1: special
    std::vector<SpecialToken> tokens;
    int type = 0;
};

Slot text_slot(int text, int type = 0) { return {text, {}, type}; }
Slot special_slot(std::vector<SpecialToken> tokens, int type = 0) { return {-1, std::move(tokens), type}; }

/// Counts the tokens that a template makes of texts, or returns more than `max`.
size_t tokens_of(const std::vector<Slot>& slots, const std::vector<Encoding>& texts, size_t max) {
    size_t count = 0;
    for (const Slot& slot : slots) {
        if (slot.text >= 0 && slot.text < isize(texts)) count += texts[slot.text].size();
        if ((count += slot.tokens.size()) > max) break;
    }
    return count;
}

/// Fills one template for one text, another for two.
PostProcessor fill_templates(std::vector<Slot> single, std::vector<Slot> pair) {
    return [single = std::move(single), pair = std::move(pair)](std::vector<Encoding>& texts, bool special,
                                                                size_t max) -> Status {
        if (!special) return success();
        const std::vector<Slot>& slots = texts.size() > 1 ? pair : single;
        if (tokens_of(slots, texts, max) > max)
            return Error{
                "the template makes more than 4 times as many tokens of this text; correct the tokenizer."};
        Encoding out;
        for (const Slot& slot : slots) {
            for (const auto& t : slot.tokens) out.push(t.id, t.token, {}, slot.type);
            if (slot.text < 0 || slot.text >= isize(texts)) continue;
            Encoding part = texts[slot.text];
            std::fill(part.types.begin(), part.types.end(), slot.type);
            out.append(part);
        }
        texts.clear();
        texts.push_back(std::move(out));
        return success();
    };
}

Result<PostProcessor> make_byte_level_post_processor(const Json& d, const std::string& name) {
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const bool trim, json_boolean(d, "trim_offsets", true, name));
    return PostProcessor([prefix, trim](std::vector<Encoding>& texts, bool, size_t) {
        for (Encoding& e : texts)
            if (trim) trim_offsets(e, prefix);
        return success();
    });
}

Result<SpecialToken> read_pair(const Json& d, const char* key, const std::string& name) {
    const auto it = d.find(key);
    const bool usable = it != d.end() && it->is_array() && it->size() == 2 && (*it)[0].is_string() &&
                        (*it)[1].is_number_unsigned() && (*it)[1].get<uint64_t>() < 100'000'000;
    if (!usable) return Error{name + ": the post-processor has no usable \"" + key + "\"; correct the file."};
    TRY_STATUS(check_spelling((*it)[0].get_ref<const std::string&>(), name));
    return SpecialToken{(*it)[0].get<std::string>(), (*it)[1].get<int>()};
}

Result<PostProcessor> make_roberta(const Json& d, const std::string& name) {
    TRY(const bool prefix, json_boolean(d, "add_prefix_space", true, name));
    TRY(const bool trim, json_boolean(d, "trim_offsets", true, name));
    TRY(const SpecialToken cls, read_pair(d, "cls", name));
    TRY(const SpecialToken sep, read_pair(d, "sep", name));
    const PostProcessor fill = fill_templates(
        {special_slot({cls}), text_slot(0), special_slot({sep})},
        {special_slot({cls}), text_slot(0), special_slot({sep, sep}), text_slot(1), special_slot({sep})});
    return PostProcessor([prefix, trim, fill](std::vector<Encoding>& texts, bool special, size_t max) {
        for (Encoding& e : texts)
            if (trim) trim_offsets(e, prefix);
        return fill(texts, special, max);
    });
}

Result<PostProcessor> make_bert_post_processor(const Json& d, const std::string& name) {
    TRY(const SpecialToken cls, read_pair(d, "cls", name));
    TRY(const SpecialToken sep, read_pair(d, "sep", name));
    return surround({cls}, {sep});
}

Result<std::vector<SpecialToken>> template_token(const Json& table, const std::string& key,
                                                 const std::string& name) {
    const auto entry = table.find(key);
    if (entry == table.end() || !entry->is_object() || !entry->contains("ids") || !(*entry)["ids"].is_array())
        return Error{name + ": the template's special token " + in_quotes(key) +
                     " is not described; correct the file."};
    const Json& ids = (*entry)["ids"];
    TRY(const Json tokens, json_list(*entry, "tokens", name));
    std::vector<SpecialToken> out;
    for (size_t i = 0; i < ids.size(); ++i) {
        if (!ids[i].is_number_unsigned() || ids[i].get<uint64_t>() >= 100'000'000)
            return Error{name + ": a template id is not a token id; correct the file."};
        if (i < tokens.size() && !tokens[i].is_string())
            return wrong_type(name, "tokens", "a list of strings", tokens);
        const std::string& spelling = i < tokens.size() ? tokens[i].get_ref<const std::string&>() : key;
        TRY_STATUS(check_spelling(spelling, name));
        out.push_back({spelling, ids[i].get<int>()});
    }
    return out;
}

Result<std::vector<Slot>> read_slots(const Json& d, const char* key, const std::string& name) {
    const auto list = d.find(key), table = d.find("special_tokens");
    if (list == d.end() || !list->is_array() || table == d.end() || !table->is_object())
        return Error{name + ": the post-processor's template is incomplete; correct the file."};
    std::vector<Slot> slots;
    for (const Json& part : *list) {
        const char* kind = part.is_object() && part.contains("SpecialToken") ? "SpecialToken" : "Sequence";
        if (!part.is_object() || !part.contains(kind) || !part[kind].is_object())
            return Error{name + ": a part of the post-processor's template is unknown; correct the file."};
        Slot slot;
        TRY(const std::string id, json_string(part[kind], "id", "A", name));
        TRY(const int64_t type, json_integer(part[kind], "type_id", 0, 0, 1 << 20, name));
        slot.type = narrow<int>(type);
        if (kind == std::string_view("Sequence")) {
            if (id != "A" && id != "B")
                return Error{name + ": the template names the sequence " + in_quotes(id) +
                             ", which is neither A nor B; correct the file."};
            slot.text = id == "B" ? 1 : 0;
        } else {
            TRY(slot.tokens, template_token(*table, id, name));
        }
        slots.push_back(std::move(slot));
    }
    return slots;
}

Result<PostProcessor> make_template(const Json& d, const std::string& name) {
    TRY(auto single, read_slots(d, "single", name));
    if (!d.contains("pair")) return fill_templates(single, single);
    TRY(auto pair, read_slots(d, "pair", name));
    return fill_templates(std::move(single), std::move(pair));
}

Result<PostProcessor> make_post_processor_sequence(const Json& d, const std::string& name) {
    const auto list = d.find("processors");
    if (list == d.end() || !list->is_array())
        return Error{name + ": the post-processor sequence has no list; correct the file."};
    std::vector<PostProcessor> steps;
    for (const Json& step : *list) {
        TRY(PostProcessor made, make_post_processor(step, name));
        steps.push_back(std::move(made));
    }
    return PostProcessor([steps](std::vector<Encoding>& texts, bool special, size_t max) -> Status {
        for (const auto& step : steps) TRY_STATUS(step(texts, special, max));
        return success();
    });
}

struct PostProcessorRow {
    const char* type;
    Result<PostProcessor> (*make)(const Json&, const std::string&);
};

constexpr PostProcessorRow kPostProcessors[] = {
    {"ByteLevel", make_byte_level_post_processor}, {"RobertaProcessing", make_roberta},
    {"BertProcessing", make_bert_post_processor},  {"TemplateProcessing", make_template},
    {"Sequence", make_post_processor_sequence},
};

}  // namespace

PostProcessor surround(std::vector<SpecialToken> before, std::vector<SpecialToken> after) {
    const std::vector<Slot> single{special_slot(std::move(before)), text_slot(0), special_slot(after)};
    std::vector<Slot> pair = single;
    pair.push_back(text_slot(1, 1));
    pair.push_back(special_slot(std::move(after), 1));
    return fill_templates(single, pair);
}

Result<PostProcessor> make_post_processor(const Json& description, const std::string& name) {
    if (description.is_null())
        return PostProcessor([](std::vector<Encoding>&, bool, size_t) { return success(); });
    if (!description.is_object())
        return Error{name + ": the post-processor is not an object; correct the file."};
    TRY(const std::string type, json_string(description, "type", "", name + ": post_processor"));
    for (const auto& row : kPostProcessors)
        if (type == row.type) return row.make(description, name);
    return Error{
        name + ": the post-processor " + in_quotes(type) +
        " is not one that Headlight knows; convert the tokenizer with a current version of transformers."};
}

}  // namespace headlight
