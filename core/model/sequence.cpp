// Checks sequences against a model.
#include "model/sequence.h"

#include <algorithm>

namespace headlight {

namespace {

std::string range(int count) { return "(0 … " + std::to_string(count - 1) + ")"; }

/// Checks an image that a server has read.
Status check_picture_there(const std::string& name, const Sequence& s) {
    const bool fits = s.picture && !s.picture->name.empty() && !s.ids.empty() &&
                      s.picture->grid.first + s.picture->grid.count <= s.size();
    return fits ? success() : Error{name + " reads images; give it one with --image."};
}

Status check_picture(const ModelConfig& c, const std::string& name, const Sequence& s) {
    const VisionConfig& v = c.vision;
    const bool fits = s.picture && s.size() == 1 + v.registers + v.patches() &&
                      s.picture->patches.rows() == v.patches() &&
                      s.picture->patches.cols() == Index{v.channels} * v.patch * v.patch;
    if (!fits)
        return Error{name + " reads images of " + std::to_string(v.patches()) +
                     " patches, and this is not one; give it an image with --image."};
    return success();
}

Status check_types(const ModelConfig& c, const std::string& name, const Sequence& s) {
    if (!s.types.empty() && s.types.size() != s.ids.size())
        return Error{"There are " + std::to_string(s.types.size()) + " token types for " +
                     std::to_string(s.ids.size()) + " ids; give one type per id."};
    const int count = std::max(1, c.token_types);
    for (const int type : s.types)
        if (type < 0 || type >= count)
            return Error{"The token type " + std::to_string(type) + " is not one of those of " + name + " " +
                         range(count) + "; correct --token-types, or use the tokenizer of this model."};
    return success();
}

Status check_sequence(const Model& model, size_t stack, const Sequence& s) {
    const ModelConfig& c = model.config;
    if (c.can.read_image)
        return model.engine ? check_picture_there(model.name, s) : check_picture(c, model.name, s);
    if (s.picture && c.can.add_image) TRY_STATUS(check_picture_there(model.name, s));
    if (s.picture && !c.can.add_image)
        return Error{model.name + " reads text, not images; open a ViT model for an image."};
    if (s.ids.empty())
        return Error{"There are no tokens to read; give some text with --text, or ids with --ids."};
    if (const int context = c.context_of(c.stacks[stack]); s.size() > context)
        return Error{std::to_string(s.size()) + " ids are more than the " + std::to_string(context) +
                     " that " + model.name + " can read; give fewer."};
    const int vocab = c.stacks[stack].vocab;
    for (const int id : s.ids)
        if (id < 0 || id >= vocab)
            return Error{"The id " + std::to_string(id) + " is outside the vocabulary of " + model.name +
                         " " + range(vocab) + "; correct " + (stack == 0 ? "--ids" : "--target-ids") +
                         ", or use the tokenizer of this model."};
    return check_types(c, model.name, s);
}

}  // namespace

Result<CheckedSequences> check_sequences(const Model& model, std::span<const Sequence> sequences) {
    const size_t stacks = model.config.stacks.size();
    if (sequences.size() != stacks)
        return Error{model.name + " reads " + std::to_string(stacks) +
                     (stacks == 1 ? " sequence" : " sequences") + ", not " +
                     std::to_string(sequences.size()) + "; give a text for each of its stacks."};
    for (size_t s = 0; s < stacks; ++s) TRY_STATUS(check_sequence(model, s, sequences[s]));
    return CheckedSequences(model, sequences);
}

std::vector<float> embedding_scales(const ModelConfig& c, const Sequence& text) {
    const auto dropped = std::count(text.ids.begin(), text.ids.end(), c.dropped_id);
    const float kept = 1 - float(dropped) / float(text.size());
    std::vector<float> out;
    for (const int id : text.ids) out.push_back(id == c.dropped_id ? 0 : c.embed_scale / kept);
    return out;
}

}  // namespace headlight
