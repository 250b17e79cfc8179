// Reads the steps of a tokenizer.json.
#include "tokenizer/description.h"

#include <algorithm>

#include "base/quoted.h"
#include "tokenizer/bpe.h"
#include "tokenizer/unigram.h"
#include "tokenizer/word_level.h"
#include "tokenizer/word_piece.h"

namespace headlight {

namespace {

/// Returns whether a step has this type or a sequence contains it.
bool uses(const Json& step, const std::string& type) {
    if (step.is_array())
        return std::any_of(step.begin(), step.end(), [&](const Json& s) { return uses(s, type); });
    if (!step.is_object()) return false;
    if (step.contains("type") && step["type"] == type) return true;
    for (const char* list : {"pretokenizers", "normalizers", "decoders"})
        if (step.contains(list) && uses(step[list], type)) return true;
    return false;
}

constexpr int kMaxSteps = 100;

/// Counts steps, including those of nested sequences.
int count_steps(const Json& step) {
    int count = 1;
    if (!step.is_object()) return count;
    for (const char* list : {"pretokenizers", "normalizers", "processors"})
        if (const auto steps = step.find(list); steps != step.end() && steps->is_array())
            for (const Json& s : *steps) count += count_steps(s);
    return count;
}

using MakeModel = Result<std::shared_ptr<const TokenModel>> (*)(const Json& model, const std::string& name);
struct ModelRow {
    const char* type;
    MakeModel make;
};

constexpr ModelRow kModels[] = {{"BPE", Bpe::from_json},
                                {"WordPiece", WordPiece::from_json},
                                {"WordLevel", WordLevel::from_json},
                                {"Unigram", Unigram::from_json}};

Result<std::shared_ptr<const TokenModel>> make_model(const Json& model, const std::string& name) {
    if (!model.is_object()) return Error{name + " describes no model; correct the file."};
    TRY(const std::string type, json_string(model, "type", model_type_of(model), name));
    for (const auto& row : kModels)
        if (type == row.type) return row.make(model, name);
    return Error{name + ": the tokenizer model " + in_quotes(type) +
                 " is not one that Headlight reads; it reads BPE, WordPiece, WordLevel and Unigram."};
}

Spelling spelling_of(const Json& root, const TokenModel& model) {
    const auto says = [&](const char* key, const char* type) {
        return root.contains(key) && uses(root[key], type);
    };
    if (says("pre_tokenizer", "ByteLevel") || says("normalizer", "ByteLevel")) return Spelling::byte_level;
    const bool word_piece = says("decoder", "WordPiece") || dynamic_cast<const WordPiece*>(&model);
    return word_piece ? Spelling::word_piece : Spelling::metaspace;
}

}  // namespace

std::string model_type_of(const Json& model) {
    if (!model.is_object()) return "";
    if (model.contains("type") && model["type"].is_string()) return model["type"].get<std::string>();
    if (model.contains("merges")) return "BPE";
    if (model.contains("unk_id")) return "Unigram";
    const bool pieces =
        model.contains("continuing_subword_prefix") || model.contains("max_input_chars_per_word");
    return pieces ? "WordPiece" : "WordLevel";
}

Result<TokenizerParts> steps_of(const Json& root, const std::string& name) {
    if (!root.is_object()) return Error{name + " is not a tokenizer description; correct the file."};
    static const Json none;
    const auto part = [&](const char* key) -> const Json& {
        const auto it = root.find(key);
        return it == root.end() ? none : *it;
    };
    for (const char* key : {"normalizer", "pre_tokenizer", "post_processor"})
        if (count_steps(part(key)) > kMaxSteps)
            return Error{name + ": its " + key +
                         " has more than 100 steps, which no tokenizer's has; correct the file."};
    TokenizerParts parts;
    TRY(parts.normalizer, make_normalizer(part("normalizer"), name));
    TRY(parts.pre_tokenizer, make_pre_tokenizer(part("pre_tokenizer"), name));
    TRY(parts.post_processor, make_post_processor(part("post_processor"), name));
    TRY_STATUS(json_object(root, or_null("decoder"), name));
    return parts;
}

Result<TokenizerParts> parts_of(const Json& root, const std::string& name) {
    TRY(TokenizerParts parts, steps_of(root, name));
    static const Json none;
    TRY(parts.model, make_model(root.contains("model") ? root["model"] : none, name));
    TRY(const std::vector<AddedToken> listed, read_added_tokens(root.value("added_tokens", Json()), name));
    AddedVocabulary added(parts.model->vocabulary());
    added.add(listed);
    parts.added = added.tokens();
    parts.spelling = spelling_of(root, *parts.model);
    return parts;
}

}  // namespace headlight
