#include "chat/chat_template.h"

/// A template up to the first zero byte, messages as JSON after it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using headlight::ChatJson;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t cut = std::min(all.find('\0'), all.size());
    const auto parsed = headlight::ChatTemplate::parse(all.substr(0, cut), "input");
    if (!parsed) return 0;
    ChatJson messages = ChatJson::parse(all.substr(std::min(cut + 1, all.size())), nullptr, false);
    if (!messages.is_array() || messages.empty())
        messages = {{{"role", "system"}, {"content", " Be brief. "}},
                    {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "é🙂 <b>"}}}}},
                    {{"role", "assistant"}, {"content", "<think>x</think>y"}, {"tool_calls", {{{"id", 1}}}}}};
    headlight::ChatOptions options;
    options.add_generation_prompt = true;
    options.tools = {{{"type", "function"}, {"function", {{"name", "f"}}}}};
    options.special_tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
    const auto chat = parsed->render(messages, options);
    if (!chat) return 0;
    size_t end = 0;  // stretches follow each other and cover the text
    for (const headlight::ChatStretch& s : chat->stretches) {
        if (s.begin != end || s.end <= s.begin) __builtin_trap();
        end = s.end;
    }
    if (end != chat->text.size()) __builtin_trap();
    return 0;
}
