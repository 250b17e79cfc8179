// Reads a conversation through a model's own chat template.
#pragma once

#include <memory>

#include "chat/conversation.h"
#include "chat/encode.h"
#include "model/input.h"

namespace headlight {

/// Holds what a model reads of a conversation.
struct ChatInput {
    ModelInput input;
    ChatJson messages;
    RenderedChat rendered;
};

/// Returns whether a model has a chat template.
bool has_chat_template(const Model& model);

/// Renders the messages by the model's template and encodes them; fails if it has none, if the template
/// refuses them, or as encode_input does. An image stands before the user's first message, unless a message
/// has a part {"type": "image"}.
Result<ChatInput> encode_chat_input(const Model& model, ChatRequest request,
                                    std::shared_ptr<const RgbImage> image = nullptr);

/// Says who wrote each token of a sequence that begins with the chat's tokens and goes on with the model's.
std::shared_ptr<const Conversation> conversation_in(const Model& model, const ChatInput& chat,
                                                    const Sequence& read);

}  // namespace headlight
