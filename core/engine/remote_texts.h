// Asks a server to tokenize texts, and shows it images.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/connection.h"
#include "model/engine.h"
#include "model/picture.h"

namespace headlight {

/// Tokenizes where the model is. Any thread may ask. An image is sent once: later questions name it, and send
/// it again if the server has forgotten it.
class RemoteTexts {
public:
    explicit RemoteTexts(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

    /// Asks "encode" with these fields.
    Result<Encoding> encode(Json asked);
    /// Engine::encode_picture.
    Result<PictureEncoding> encode_picture(const std::string& text,
                                           const std::shared_ptr<const RgbImage>& image, bool special);
    /// Asks a question about an input with a picture.
    Result<Frame> ask_about(const Picture& picture, Json asked, const CancelFlag* cancel,
                            const std::vector<SentTensor>& tensors);

private:
    struct Shown {
        std::shared_ptr<const RgbImage> image;
        std::shared_ptr<const Picture> picture;
    };
    Result<Frame> ask_with_pixels(Json asked, const RgbImage& image);
    Shown shown(const RgbImage* image, const std::string& name);
    /// Returns the picture that is known to be this one, or a new one.
    std::shared_ptr<const Picture> note(const std::shared_ptr<const RgbImage>& image, const Json& told,
                                        const PatchGrid& grid);

    const std::shared_ptr<Connection> connection_;
    std::mutex mutex_;          // guards what follows
    std::vector<Shown> shown_;  // the newest first
};

}  // namespace headlight
