// Builds tokenizers as TokenizersBackend.__init__ of transformers 5 and the classes built on it do.
#include "tokenizer/class_tokenizer.h"

#include <algorithm>
#include <set>

#include "io/mapped_file.h"
#include "tokenizer/description.h"
#include "tokenizer/native.h"

namespace headlight {

namespace {

using Tokens = std::vector<AddedToken>;

AddedToken special(const std::string& content) { return {.content = content, .special = true}; }

bool holds(const Tokens& tokens, const std::string& content) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const AddedToken& t) { return t.content == content; });
}

/// Adds the class's own special tokens to a folder whose files name none.
TokenizerFolder with_defaults(TokenizerFolder folder, const TokenizerClass& row) {
    for (size_t i = 0; i < kSpecialNames.size(); ++i) {
        if (!row.specials[i] || folder.named.contains(kSpecialNames[i])) continue;
        AddedToken token = special(row.specials[i]);
        for (const AddedToken& t : folder.added)
            if (t.content == token.content) token = t;
        folder.named[kSpecialNames[i]] = token;
    }
    if (row.name != std::string_view("CamembertTokenizer") || folder.described_names.contains("mask_token"))
        return folder;
    if (auto& mask = folder.named["mask_token"])
        mask->lstrip = mask->lstrip || !holds(folder.added, mask->content);  // swallows the spaces before it
    return folder;
}

/// Lists the special tokens that CodeLlama's class adds to the usual ones.
constexpr const char* kFillIn[] = {"▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>", "<FILL_ME>"};

/// Completes additional_special_tokens as the class does.
Result<std::optional<Tokens>> additional_tokens(const TokenizerFolder& folder, std::string_view name,
                                                const Native& native) {
    std::optional<Tokens> out = folder.additional;
    if (native.source) out = native.pieces;
    if (name == "T5Tokenizer") {
        TRY(const int64_t extra,
            json_integer(folder.config, "extra_ids", 100, 0, 100'000, folder.config_name()));
        if (!out) out.emplace();
        const bool has_some = std::any_of(out->begin(), out->end(), [](const AddedToken& t) {
            return t.content.find("<extra_id_") != std::string::npos;
        });
        for (int64_t i = 0; !has_some && i < extra; ++i)
            out->push_back(special("<extra_id_" + std::to_string(i) + ">"));
    }
    if (name == "CamembertTokenizer" && !out)
        out = Tokens{special("<s>NOTUSED"), special("</s>NOTUSED"), special("<unk>NOTUSED")};
    return out;
}

/// Adds listed tokens first, then named ones that are not among them, then the extra ones. `described`: these
/// are tokens with flags, which transformers distinguishes from names of the same spelling.
void add_tokens(const TokenizerFolder& folder, const Tokens& extra, bool described, AddedVocabulary& added) {
    Tokens out = folder.added;
    std::set<std::string> listed, named;
    std::map<std::string, Tokens> ways;  // by spelling: the ways in which it was added
    for (const AddedToken& t : out) listed.insert(t.content);
    const auto put = [&](const AddedToken& t, bool differs = false) {
        if (added.has(t.content) || listed.contains(t.content)) return;
        Tokens& mine = ways[t.content];
        const std::ptrdiff_t from = differs && !mine.empty() ? std::ssize(mine) - 1 : 0;
        if (std::find(mine.begin() + from, mine.end(), t) != mine.end()) return;
        mine.push_back(t);
        out.push_back(t);
    };
    for (const char* key : kSpecialNames)
        if (const auto token = folder.token(key)) {
            named.insert(token->content);
            put(*token);
        }
    for (const AddedToken& t : folder.others) put(t);
    for (const AddedToken& t : extra) put(t, described);
    for (AddedToken& t : out) t.special = t.special || named.contains(t.content);
    added.add(out);
}

/// Is a part of a template: a token, or $A or $B; some classes show a fixed spelling instead of the token's.
struct TemplatePart {
    std::string text;
    int type = 0;
    std::string shown = {};
};

/// Makes a template for one text and one for two.
Result<Json> template_of(const std::vector<TemplatePart>& single, const std::vector<TemplatePart>& pair,
                         const AddedVocabulary& added, const std::string& name) {
    Json tokens = Json::object(), slots[2] = {Json::array(), Json::array()};
    const std::vector<TemplatePart>* wanted[] = {&single, &pair};
    for (int i = 0; i < 2; ++i)
        for (const TemplatePart& part : *wanted[i]) {
            const bool text = part.text == "$A" || part.text == "$B";
            const std::string label = part.shown.empty() ? part.text : part.shown;
            const Json place{{"id", text ? part.text.substr(1) : label}, {"type_id", part.type}};
            slots[i].push_back({{text ? "Sequence" : "SpecialToken", place}});
            if (text) continue;
            const int id = added.id_of(part.text);
            if (id < 0)
                return Error{name + " names no token " + part.text +
                             ", which its class puts around a text; add it to tokenizer_config.json."};
            tokens[label] = {{"id", label}, {"ids", {unsigned(id)}}, {"tokens", {label}}};
        }
    return Json{{"type", "TemplateProcessing"},
                {"single", slots[0]},
                {"pair", slots[1]},
                {"special_tokens", std::move(tokens)}};
}

/// Holds add_bos_token and add_eos_token; a tokenizer.json expresses them in its own way.
struct Flags {
    bool begin = false, end = false, said = false;
};
Result<Flags> flags_of(const TokenizerFolder& folder, std::string_view name) {
    const bool code_llama = name == "CodeLlamaTokenizer";
    Flags out{code_llama, false, code_llama};
    if (folder.described.is_object()) return out;
    TRY(out.begin, folder.flag(or_null("add_bos_token"), out.begin));
    TRY(out.end, folder.flag(or_null("add_eos_token"), false));
    out.said = out.said || folder.config.contains("add_bos_token") || folder.config.contains("add_eos_token");
    return out;
}

Result<Json> around_by_flags(const TokenizerFolder& folder, const Flags& flags,
                             const AddedVocabulary& added) {
    const auto begin = flags.begin ? folder.token("bos_token") : std::nullopt,
               end = flags.end ? folder.token("eos_token") : std::nullopt;
    std::vector<TemplatePart> single, pair;
    if (begin) single.push_back({begin->content});
    single.push_back({"$A"});
    if (end) single.push_back({end->content});
    pair = single;
    if (begin) pair.push_back({begin->content, 1});
    pair.push_back({"$B", 1});
    if (end) pair.push_back({end->content, 1});
    return template_of(single, pair, added, folder.name());
}

Result<Json> around_roberta(const TokenizerFolder& folder, const AddedVocabulary& added) {
    const auto sep = folder.token("sep_token"), cls = folder.token("cls_token");
    if (!sep || !cls) return Error{folder.config_name() + " takes cls_token or sep_token away; name them."};
    TRY(const bool trim, folder.flag("trim_offsets", true));
    TRY(const bool prefix, folder.flag("add_prefix_space", false));
    return Json{{"type", "RobertaProcessing"},
                {"sep", {sep->content, unsigned(added.id_of(sep->content))}},
                {"cls", {cls->content, unsigned(added.id_of(cls->content))}},
                {"trim_offsets", trim},
                {"add_prefix_space", prefix}};
}

Result<Json> around_t5(const TemplatePart& end, const AddedVocabulary& added, const std::string& name) {
    return template_of({{"$A"}, end}, {{"$A"}, end, {"$B"}, end}, added, name);
}

Result<Json> around_bert(const TemplatePart& cls, TemplatePart sep, const AddedVocabulary& added,
                         const std::string& name) {
    std::vector<TemplatePart> pair{cls, {"$A"}, sep};
    const std::vector<TemplatePart> single = pair;
    pair.push_back({"$B", 1});
    sep.type = 1;
    pair.push_back(sep);
    return template_of(single, pair, added, name);
}

Result<Json> around(const TokenizerFolder& folder, const TokenizerClass& row, const Native& native,
                    const AddedVocabulary& added) {
    const std::string name = folder.name();
    const auto spelled = [&](const char* key, const char* usual) {
        const auto token = folder.token(key);
        return token ? token->content : std::string(usual);
    };
    const std::string begin = spelled("bos_token", "<s>"), end = spelled("eos_token", "</s>"),
                      cls = spelled("cls_token", "[CLS]"), sep = spelled("sep_token", "[SEP]");
    TRY(const Flags flags, flags_of(folder, row.name));
    switch (row.around) {
        case Around::flags_alone:
            return around_by_flags(folder, flags, added);
        case Around::roberta:
            return around_roberta(folder, added);
        case Around::t5:
            return around_t5({end, 0, "</s>"}, added, name);
        case Around::xlm_roberta:
            return template_of({{begin}, {"$A"}, {end}}, {{begin}, {"$A"}, {end}, {end}, {"$B"}, {end}},
                               added, name);
        case Around::bert:
            return around_bert({cls}, {sep}, added, name);
        case Around::esm:
            return template_of({{cls}, {"$A"}, {end}}, {{cls}, {"$A"}, {end}, {"$B"}, {end}}, added, name);
        case Around::albert:
        case Around::by_flags:
            if (flags.said) return around_by_flags(folder, flags, added);
            if (!native.around.is_null()) return native.around;
            if (row.around == Around::by_flags) return around_by_flags(folder, flags, added);
            return around_bert({cls, 0, "[CLS]"}, {sep, 0, "[SEP]"}, added, name);
    }
    return Json();
}

/// Describes the steps of SentencePiece itself for a tokenizer.model, with its own special tokens.
Result<Json> backend_description(TokenizerFolder& folder, Native& native, const std::string& name) {
    const SentencePieceFile& file = *native.source;
    TRY(const bool legacy, folder.flag(or_null("legacy"), true));
    TRY(Json root, sentence_piece_description(file, folder.added, legacy, name));
    std::erase_if(native.pieces, [](const AddedToken& t) { return !t.special; });
    for (AddedToken& t : folder.added) t.normalized = t.normalized && !file.add_blank;
    const auto usual = [&](const char* key, int id, const std::string& piece) {
        if (id >= 0 && !folder.named.contains(key)) folder.named[key] = special(piece);
    };
    usual("bos_token", file.begin_id, file.begin_piece);
    usual("eos_token", file.end_id, file.end_piece);
    usual("unk_token", file.unknown_id, file.unknown_piece);
    return root;
}

/// Finds the unknown token as CamemBERT does: at its first place.
size_t first_unknown(const TokenizerFolder& folder, const Json& vocab) {
    const auto token = folder.token("unk_token");
    for (size_t i = 0; token && vocab.is_array() && i < vocab.size(); ++i)
        if (vocab[i].is_array() && !vocab[i].empty() && vocab[i][0] == token->content) return i;
    return 0;
}

Result<Json> class_description(const TokenizerFolder& folder, const TokenizerClass& row, Native& native) {
    TRY(Json root, row.steps(folder, native.charsmap));
    Json model = std::move(native.model);
    if (root.contains("model")) model.update(root["model"]);
    if (row.name == std::string_view("CamembertTokenizer"))
        model["unk_id"] = first_unknown(folder, model["vocab"]);
    root["model"] = std::move(model);
    return root;
}

}  // namespace

void add_folder_tokens(const TokenizerFolder& folder, AddedVocabulary& added) {
    add_tokens(folder, folder.extra ? *folder.extra : folder.additional.value_or(Tokens{}), false, added);
}

Result<TokenizerParts> class_parts(const TokenizerFolder& said, const TokenizerClass& row) {
    TokenizerFolder folder = with_defaults(said, row);
    TRY(Native native, read_native(folder, row));
    const bool backend = row.steps == nullptr;
    TRY(Json root, backend ? backend_description(folder, native, folder.name())
                           : class_description(folder, row, native));
    if (row.name == std::string_view("CodeLlamaTokenizer"))
        for (size_t i = 0; i < std::size(kFillIn); ++i)
            folder.others.insert(folder.others.begin() + i, special(kFillIn[i]));
    TRY(TokenizerParts parts, parts_of(root, folder.name()));
    TRY(const auto additional, additional_tokens(folder, row.name, native));
    AddedVocabulary added(parts.model->vocabulary());
    const Tokens extra = folder.extra ? *folder.extra : additional.value_or(Tokens{});
    add_tokens(folder, extra, !folder.extra && native.source, added);
    if (row.name == std::string_view("Qwen2Tokenizer")) {
        Tokens again;
        for (const char* key : kSpecialNames)
            if (const auto token = folder.token(key)) again.push_back(special(token->content));
        for (const Tokens* list : {&std::as_const(folder.others), &extra})
            for (const AddedToken& t : *list) again.push_back(special(t.content));
        added.add(again);
    }
    parts.added = added.tokens();
    TRY(const Json processor, around(folder, row, native, added));
    TRY(parts.post_processor, make_post_processor(processor, folder.name()));
    return parts;
}

Result<TokenizerParts> described_parts(const TokenizerFolder& said) {
    TokenizerFolder folder = said;
    TRY(const Json padding, json_object(folder.described, or_null("padding"), folder.name()));
    TRY(const std::string pad, json_spelling(padding, or_null("pad_token"), "", folder.name()));
    if (!pad.empty()) folder.named.try_emplace("pad_token", special(pad));
    const std::string name = display_path(folder.path / "tokenizer.json");
    TRY(TokenizerParts parts, parts_of(folder.described, name));
    TRY(const Tokens listed, read_added_tokens(folder.described.value("added_tokens", Json()), name));
    AddedVocabulary added(parts.model->vocabulary());
    added.add(listed);
    add_folder_tokens(folder, added);
    parts.added = added.tokens();
    return parts;
}

}  // namespace headlight
