#include "questions/chat_input.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

bool has_chat_template(const Model& model) { return model.chat && !(*model.chat)->all.empty(); }

Result<ChatInput> encode_chat_input(const Model& model, ChatRequest request) {
    TRY(const auto templates, model.chat);
    ChatInput out;
    out.messages = request.messages;
    TRY(out.rendered, render_chat(*templates, std::move(request)));
    TextInput typed;
    typed.text = out.rendered.text;
    TRY(out.input, encode_input(model, typed, false));  // the template writes special tokens itself
    return out;
}

std::shared_ptr<const Conversation> conversation_in(const Model& model, const ChatInput& chat,
                                                    const Sequence& read) {
    const int given = std::min(isize(chat.input.offsets), read.size());
    std::vector<std::string> written;
    for (int i = given; i < read.size(); ++i)
        written.push_back(model.target_tokenizer()->bytes(read.ids[static_cast<size_t>(i)]));
    std::vector<Span> offsets = chat.input.offsets;
    offsets.resize(static_cast<size_t>(given));
    return std::make_shared<const Conversation>(
        conversation_of(chat.messages, chat.rendered, offsets, written));
}

}  // namespace headlight
