// The worker's model: opens it while the old one keeps answering.
#include "hub/library.h"
#include "session/samples.h"
#include "session/work/worker.h"

namespace headlight {

void Worker::finish_opening() {
    const auto ended = opener_.take();
    state_.model_path = ended->path;
    state_.model_attempt = ended->attempt;
    state_.model_error.clear();
    auto opened = ended->result;
    if (!opened) {
        state_.model_error = opened.error().message;
        if (model_) return;
        opened = open_model("stories");  // a wrong path at the start falls back to the built-in model
    }
    if (!opened) return;
    model_ = *opened;
    state_.open = {ended->result ? ended->path : "stories", ended->attempt};
    refused_.reset();
    recorded_ = ended->result ? ended->trace : nullptr;
    state_.sentence = nullptr;
}

/// Opens the requested model while the current one keeps answering. Does not retry a failure.
void Worker::update_model(const WorkRequest& r) {
    const ModelChoice wanted{r.model_path, r.model_attempt};
    const bool ended = wanted == ModelChoice{state_.model_path, state_.model_attempt};
    if (ended || (model_ && wanted == state_.open)) return opener_.give_up();
    opener_.want(r.model_path, r.model_attempt, model_);
    if (opener_.ended()) finish_opening();
}

Result<std::shared_ptr<const RgbImage>> Worker::open_image_once(const std::string& path) {
    if (path.empty()) return std::shared_ptr<const RgbImage>();
    if (!image_ || image_path_ != path) {
        TRY(RgbImage opened, open_picture(path));
        image_ = std::make_shared<const RgbImage>(std::move(opened));
        image_path_ = path;
    }
    return image_;
}

Result<ChatInput> Worker::read_given(const Model& model, const Read& read) {
    const Capabilities& can = model.config.can;
    if (can.read_image && read.text.empty()) return ChatInput{};
    TRY(auto image, open_image_once(can.read_image ? read.text : can.add_image ? read.picture : ""));
    if (!read.chat.empty()) {
        TRY(ChatRequest request, parse_chat(read.chat, "The conversation"));
        return encode_chat_input(model, std::move(request), std::move(image));
    }
    TextInput typed;
    typed.image = std::move(image);
    if (!can.read_image) {
        typed.text = read.text;
        if (can.read_pair) typed.pair = read.second;
        if (can.write_target) typed.target = read.second;
    }
    ChatInput plain;
    TRY(plain.input, encode_input(model, typed));
    return plain;
}

}  // namespace headlight
