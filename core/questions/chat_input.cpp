#include "questions/chat_input.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

namespace {

bool is_image(const ChatJson& part) { return part.is_object() && part.value("type", ChatJson()) == "image"; }

ChatJson part_of_text(const ChatJson& text) { return {{"type", "text"}, {"text", text}}; }

bool names_image(const ChatJson& messages) {
    return std::any_of(messages.begin(), messages.end(), [](const ChatJson& message) {
        const ChatJson content = message.value("content", ChatJson());
        return content.is_array() && std::any_of(content.begin(), content.end(), is_image);
    });
}

/// Puts an image before the text of the user's first message, unless a message names its place.
void place_image(ChatJson& messages) {
    if (names_image(messages)) return;
    for (ChatJson& message : messages) {
        const auto content = message.find("content");
        if (content == message.end() || !content->is_string() || message.value("role", ChatJson()) != "user")
            continue;
        *content = ChatJson::array({{{"type", "image"}}, part_of_text(*content)});
        return;
    }
}

/// Returns whether a template has passed over a message that is one text: some read lists of parts alone.
bool passes_over(const ChatJson& messages, const std::string& rendered) {
    return std::any_of(messages.begin(), messages.end(), [&](const ChatJson& message) {
        const ChatJson content = message.value("content", ChatJson());
        if (!content.is_string()) return false;
        const auto& text = content.get_ref<const std::string&>();
        const size_t first = text.find_first_not_of(" \n\t"), last = text.find_last_not_of(" \n\t");
        return first != text.npos && rendered.find(text.substr(first, last - first + 1)) == rendered.npos;
    });
}

/// Renders a conversation, with its texts as lists of parts where the template needs that.
Result<RenderedChat> rendered_for(const Model& model, const ChatTemplates& templates, ChatRequest request) {
    auto as_given = render_chat(templates, request);
    const bool reads = as_given && !passes_over(request.messages, as_given->text);
    if (reads || !model.config.can.add_image) return as_given;
    for (ChatJson& message : request.messages)
        if (const auto content = message.find("content"); content != message.end() && content->is_string())
            *content = ChatJson::array({part_of_text(*content)});
    auto in_parts = render_chat(templates, std::move(request));
    return in_parts || !as_given ? in_parts : as_given;
}

}  // namespace

bool has_chat_template(const Model& model) { return model.chat && !(*model.chat)->all.empty(); }

Result<ChatInput> encode_chat_input(const Model& model, ChatRequest request,
                                    std::shared_ptr<const RgbImage> image) {
    TRY(const auto templates, model.chat);
    ChatInput out;
    if (image)
        place_image(request.messages);
    else if (model.config.can.add_image && names_image(request.messages))
        return Error{
            "The conversation has an image, and none is given; name it with --image, or drop it on the "
            "window."};
    out.messages = request.messages;
    TRY(out.rendered, rendered_for(model, *templates, std::move(request)));
    TextInput typed;
    typed.text = out.rendered.text;
    typed.image = std::move(image);
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
