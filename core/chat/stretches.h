// Says of each stretch of a rendered chat which message it belongs to.
#pragma once

#include "chat/chat_template.h"
#include "chat/jinja/text.h"

namespace headlight {

/// Is a row of the table that origins of bytes index. Row 0 is the template.
struct ChatSource {
    int message = -1;
    std::string field;
};

/// Makes stretches of a text's runs. What a template writes for no message, right beside the content of one
/// that it writes outside its loop over messages, belongs to that message.
std::vector<ChatStretch> chat_stretches(size_t size, const std::vector<jinja::Run>& runs,
                                        const std::vector<ChatSource>& sources);

/// Returns the stretch that has most of bytes [begin, end), the first of several, or −1.
int stretch_of(const std::vector<ChatStretch>& all, size_t begin, size_t end);

/// Returns bytes [begin, end) with the tags around them that enclose thinking.
std::pair<size_t, size_t> with_thinking_tags(std::string_view text, size_t begin, size_t end);

/// Marks what the messages' contents have between tags such as <think> and </think>, cutting stretches there.
void mark_thinking(RenderedChat& chat);

}  // namespace headlight
