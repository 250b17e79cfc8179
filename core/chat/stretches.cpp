#include "chat/stretches.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

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

/// Lists what models write around their thinking: Qwen and DeepSeek, Mistral, gpt-oss, Gemma, Cohere,
/// Seed-OSS.
struct ThinkingTags {
    std::string_view open, close;
};
constexpr ThinkingTags kThinkingTags[] = {{"<think>", "</think>"},
                                          {"[THINK]", "[/THINK]"},
                                          {"<|channel|>analysis<|message|>", "<|end|>"},
                                          {"<|channel>thought", "<channel|>"},
                                          {"<|START_THINKING|>", "<|END_THINKING|>"},
                                          {"<seed:think>", "</seed:think>"}};

/// Is bytes [begin, end) between tags.
struct Thinking {
    size_t begin, end;
};

/// Finds the first tag that opens in bytes [begin, end), and where it closes: at the latest at the text's
/// end.
std::optional<Thinking> first_thinking(std::string_view text, size_t begin, size_t end) {
    std::optional<Thinking> out;
    size_t first = end;
    for (const ThinkingTags& tags : kThinkingTags) {
        const size_t at =
            text.substr(0, std::min(text.size(), end + tags.open.size())).find(tags.open, begin);
        if (at >= first) continue;
        first = at;
        const size_t from = at + tags.open.size();
        out = Thinking{from, std::min(text.find(tags.close, from), text.size())};
    }
    return out;
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

int stretch_of(const std::vector<ChatStretch>& all, size_t begin, size_t end) {
    auto s = std::upper_bound(all.begin(), all.end(), begin,
                              [](size_t at, const ChatStretch& stretch) { return at < stretch.end; });
    int best = -1;
    size_t most = 0;
    for (; s != all.end() && s->begin < end; ++s) {
        const size_t shared = std::min(end, s->end) - std::max(begin, s->begin);
        if (shared > most) best = static_cast<int>(s - all.begin());
        most = std::max(most, shared);
    }
    return best;
}

std::pair<size_t, size_t> with_thinking_tags(std::string_view text, size_t begin, size_t end) {
    for (const ThinkingTags& tags : kThinkingTags) {
        if (!text.substr(0, begin).ends_with(tags.open)) continue;
        return {begin - tags.open.size(),
                end + (text.substr(end).starts_with(tags.close) ? tags.close.size() : 0)};
    }
    return {begin, end};
}

void mark_thinking(RenderedChat& chat) {
    std::vector<ChatStretch> out;
    int message = -1;
    std::optional<Thinking> of;  // the first of this message
    for (const ChatStretch& s : chat.stretches) {
        if (s.message != message) of.reset();
        message = s.message;
        if (!of) of = first_thinking(chat.text, s.begin, s.end);
        const bool cuts = s.field == "content" && of;
        const size_t begin = cuts ? std::clamp(of->begin, s.begin, s.end) : s.end;
        const size_t end = cuts ? std::clamp(of->end, begin, s.end) : s.end;
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
