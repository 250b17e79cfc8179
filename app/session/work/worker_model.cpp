// The worker's model: opened while the old one goes on, and what it reads.
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
        opened = open_model("stories");  // so that a wrong path at the start leaves no dead window
    }
    if (!opened) return;
    model_ = *opened;
    state_.open = {ended->result ? ended->path : "stories", ended->attempt};
    refused_.reset();
    recorded_ = ended->result ? ended->trace : nullptr;
    state_.sentence = nullptr;
}

/// Opens what the request names, while the model that is open goes on. What could not be opened is not tried
/// again.
void Worker::update_model(const WorkRequest& r) {
    const ModelChoice wanted{r.model_path, r.model_attempt};
    const bool ended = wanted == ModelChoice{state_.model_path, state_.model_attempt};
    if (ended || (model_ && wanted == state_.open)) return opener_.give_up();
    opener_.want(r.model_path, r.model_attempt);
    if (opener_.ended()) finish_opening();
}

Result<ModelInput> Worker::read_input(const Model& model, const std::string& text,
                                      const std::string& second) {
    TextInput typed;
    const Capabilities& can = model.config.can;
    if (!can.read_image) {
        typed.text = text;
        if (can.read_pair) typed.pair = second;
        if (can.write_target) typed.target = second;
        return encode_input(model, typed);
    }
    if (text.empty()) return ModelInput{};
    if (!image_ || image_path_ != text) {
        TRY(RgbImage image, open_picture(text));
        image_ = std::make_shared<const RgbImage>(std::move(image));
        image_path_ = text;
    }
    typed.image = image_;
    return encode_input(model, typed);
}

}  // namespace headlight
