// Encodes typed text and images into the sequences that a model reads.
#include "model/input.h"

#include <numeric>

#include "io/mapped_file.h"
#include "model/engine.h"

namespace headlight {

namespace {

/// Checks that a tokenizer's ids have rows in the model's tables.
Status check_encoding(const Model& model, const Encoding& e, const StackConfig& stack) {
    const auto wrong = [&](const std::string& gives, int rows) {
        return Error{display_path(model.path) + ": the tokenizer gives " + gives +
                     ", but the model has only " + std::to_string(rows) +
                     "; use the tokenizer of this model."};
    };
    for (const int id : e.ids)
        if (id < 0 || id >= stack.vocab) return wrong("the id " + std::to_string(id), stack.vocab);
    const int types = model.config.token_types;
    for (const int type : e.types)
        if (types > 1 && (type < 0 || type >= types))
            return wrong("the token type " + std::to_string(type), types);
    return success();
}

/// Tokenizes a text, or two: by the model's own tokenizer, or where its weights are.
Result<Encoding> encoded(const Model& model, const std::string& text, const std::string& pair, bool special) {
    if (model.engine) return model.engine->encode(text, pair, special);
    TRY(const auto opened, model.tokenizer);
    return pair.empty() ? opened->encode(text, special) : opened->encode_pair(text, pair, special);
}

Sequence of_ids(const Tokenizer* tokenizer, std::vector<int> ids, std::vector<int> types = {}) {
    Sequence s{std::move(ids), {}, std::move(types), nullptr};
    for (const int id : s.ids)
        s.tokens.push_back(tokenizer ? tokenizer->spelling(id) : "#" + std::to_string(id));
    return s;
}

Sequence of_picture(const Model& model, const RgbImage& image) {
    Sequence s;
    s.picture = std::make_shared<const Picture>(prepare_picture(image, model.config.vision));
    const PatchGrid& grid = s.picture->grid;
    s.ids.resize(model.config.context);
    std::iota(s.ids.begin(), s.ids.end(), 0);
    s.tokens.push_back("[CLS]");
    for (int i = 0; i < model.config.vision.registers; ++i)
        s.tokens.push_back("[REG" + std::to_string(i) + "]");
    for (int i = 0; i < grid.count; ++i)
        s.tokens.push_back(std::to_string(i / grid.columns) + "," + std::to_string(i % grid.columns));
    return s;
}

/// Reads an image where the model's weights are, beside a text or alone.
Result<Sequence> read_picture_there(const Model& model, const TextInput& given, bool special,
                                    ModelInput& input) {
    if (!given.ids.empty() || !given.pair.empty())
        return Error{model.name + " reads an image beside one text; leave --ids and --pair out."};
    TRY(PictureEncoding read, model.engine->encode_picture(given.text, given.image, special));
    TRY_STATUS(check_encoding(model, read.text, model.config.stacks[0]));
    input.offsets = std::move(read.text.offsets);
    return Sequence{std::move(read.text.ids), std::move(read.text.tokens), {}, std::move(read.picture)};
}

void cut(Sequence& s, int context) {
    if (s.size() <= context) return;
    const size_t kept = context;
    s.ids.resize(kept);
    s.tokens.resize(kept);
    if (!s.types.empty()) s.types.resize(kept);
}

Result<Sequence> read_source(const Model& model, const TextInput& given, bool special, ModelInput& input) {
    const Tokenizer* tokenizer = model.tokenizer ? model.tokenizer->get() : nullptr;
    if (given.image) return read_picture_there(model, given, special, input);
    if (!given.ids.empty()) return of_ids(tokenizer, given.ids, given.types);
    TRY(Encoding e, encoded(model, given.text, given.pair, special));
    TRY_STATUS(check_encoding(model, e, model.config.stacks[0]));
    input.offsets = std::move(e.offsets);
    const bool typed_at_all = !given.text.empty() || !given.pair.empty();
    if (!typed_at_all && !model.config.can.continue_text)
        return Sequence{};  // a sentence of separators alone is empty
    Sequence s{std::move(e.ids), std::move(e.tokens), {}, nullptr};
    if (model.config.token_types > 1) s.types = std::move(e.types);
    return s;
}

Result<Sequence> read_target(const Model& model, const TextInput& given) {
    const ModelConfig& c = model.config;
    const Tokenizer* tokenizer = model.tokenizer ? model.target_tokenizer().get() : nullptr;
    if (!given.target_ids.empty()) return of_ids(tokenizer, given.target_ids);
    Sequence s = of_ids(tokenizer, {c.start_id});
    if (given.target.empty()) return s;
    if (!model.engine) TRY_STATUS(model.tokenizer);
    TRY(Encoding e, model.engine ? model.engine->encode_target(given.target)
                                 : model.target_tokenizer()->encode(given.target, true));
    TRY_STATUS(check_encoding(model, e, c.decoder()));
    if (!e.ids.empty() && e.ids.back() == c.end_id) {
        e.ids.pop_back();
        e.tokens.pop_back();
    }
    s.ids.insert(s.ids.end(), e.ids.begin(), e.ids.end());
    s.tokens.insert(s.tokens.end(), e.tokens.begin(), e.tokens.end());
    return s;
}

}  // namespace

Result<ModelInput> encode_input(const Model& model, const TextInput& given, bool special) {
    ModelInput input;
    const ModelConfig& c = model.config;
    if (c.can.read_image) {
        if (!given.image)
            return Error{model.name +
                         " reads images, not text; give it one with --image, or drop one on the window."};
        if (model.engine) {
            TRY(input.sequences.emplace_back(), read_picture_there(model, given, special, input));
        } else {
            input.sequences.push_back(of_picture(model, *given.image));
        }
        input.tokens_in_all = input.sequences[0].ids.size();
        return input;
    }
    if (given.image && !c.can.add_image)
        return Error{model.name + " reads text, not images; open a ViT model for an image."};
    if (!c.can.write_target && (!given.target.empty() || !given.target_ids.empty()))
        return Error{model.name +
                     " has no decoder beside an encoder, so it reads no target; leave --target out."};
    TRY(Sequence source, read_source(model, given, special, input));
    input.tokens_in_all = source.ids.size();
    if (given.ids.empty()) cut(source, c.context_of(c.stacks[0]));
    if (input.offsets.size() > source.ids.size()) input.offsets.resize(source.ids.size());
    input.sequences.push_back(std::move(source));
    if (c.stacks.size() == 2) {
        TRY(Sequence target, read_target(model, given));
        if (given.target_ids.empty()) cut(target, c.context_of(c.stacks[1]));
        input.sequences.push_back(std::move(target));
    }
    if (input.sequences[0].size() > 0) TRY_STATUS(check_sequences(model, input.sequences));
    return input;
}

}  // namespace headlight
