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

/// Marks what the messages' contents have between <think> and </think>, cutting stretches there.
void mark_thinking(RenderedChat& chat);

}  // namespace headlight
