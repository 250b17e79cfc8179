#include "chat/stretches.h"

#include <algorithm>

namespace headlight {

namespace {

bool is_content(const ChatStretch& s) { return s.message >= 0 && !s.is_template(); }

/// Joins a stretch to the one before it if only their bytes differ.
void push_stretch(std::vector<ChatStretch>& out, ChatStretch next) {
    if (next.begin >= next.end) return;
    ChatStretch same = out.empty() ? ChatStretch{} : out.back();
    same.begin = next.begin;
    same.end = next.end;
    if (!out.empty() && same == next)
        out.back().end = next.end;
    else
        out.push_back(std::move(next));
}

/// Tests whether a template wrote a message's content outside its loop: no template bytes are the message's.
bool written_apart(const std::vector<ChatStretch>& all, int message) {
    return std::none_of(all.begin(), all.end(),
                        [&](const ChatStretch& s) { return s.message == message && s.is_template(); });
}

void attach_template(std::vector<ChatStretch>& all) {
    const std::vector<ChatStretch> before = all;
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].message >= 0 || !all[i].is_template()) continue;
        const bool next = i + 1 < all.size() && is_content(before[i + 1]);
        const bool last = i > 0 && is_content(before[i - 1]);
        if (next && written_apart(before, before[i + 1].message))
            all[i].message = before[i + 1].message;
        else if (last && written_apart(before, before[i - 1].message))
            all[i].message = before[i - 1].message;
    }
}

}  // namespace

std::vector<ChatStretch> chat_stretches(size_t size, const std::vector<jinja::Run>& runs,
                                        const std::vector<ChatSource>& sources) {
    std::vector<ChatStretch> all, out;
    size_t begin = 0;
    const auto push = [&](size_t end, jinja::Origin origin) {
        const ChatSource& source = sources[static_cast<size_t>(origin)];
        push_stretch(all, {begin, end, source.message, source.field, source.field == "reasoning_content"});
        begin = end;
    };
    for (const jinja::Run& run : runs) push(run.end, run.origin);
    push(size, 0);
    attach_template(all);
    for (ChatStretch& s : all) push_stretch(out, std::move(s));
    return out;
}

void mark_thinking(RenderedChat& chat) {
    constexpr std::string_view open = "<think>", close = "</think>";
    const std::string_view text = chat.text;
    std::vector<ChatStretch> out;
    int message = -1;
    size_t from = text.npos, to = 0;  // of the thinking of this message
    for (const ChatStretch& s : chat.stretches) {
        if (s.message != message) {
            message = s.message;
            from = text.npos;
            to = 0;
        }
        for (size_t at = text.find(open, s.begin); at < s.end && from == text.npos; at = text.npos) {
            from = at + open.size();
            to = std::min(text.find(close, from), text.size());
        }
        const bool cuts = s.field == "content" && from != text.npos;
        const size_t begin = cuts ? std::clamp(from, s.begin, s.end) : s.end;
        const size_t end = cuts ? std::clamp(to, begin, s.end) : s.end;
        for (const auto& [first, last, thinks] :
             {std::tuple{s.begin, begin, false}, {begin, end, true}, {end, s.end, false}}) {
            ChatStretch part = s;
            part.begin = first;
            part.end = last;
            part.thinking = s.thinking || thinks;
            push_stretch(out, std::move(part));
        }
    }
    chat.stretches = std::move(out);
}

}  // namespace headlight
