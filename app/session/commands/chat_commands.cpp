// Commands of a conversation: its messages, and masks of its turns.
#include <algorithm>

#include "base/quoted.h"
#include "session/commands/commands.h"
#include "session/conversation.h"

namespace headlight {

const char* needs_chat(const CommandContext& c) {
    if (const char* why = needs_model(c)) return why;
    return has_chat_template(*c.model()) ? nullptr : kNoChatTemplate;
}

void stop_editing(CommandContext& c) {
    Document& d = c.session.document;
    const HistoryGroup one_step(d.history);
    ChatDraft draft = draft_of(d);
    draft.edited = -1;
    put_draft(d, draft);
    c.host.set_text(TextName::sentence, "");
}

namespace {

constexpr int kLeastAnswer = 96;  // tokens

const char* chats(const CommandContext& c) {
    if (const char* why = needs_chat(c)) return why;
    return c.session.document.chatting ? nullptr : "Switch from Text to Chat first.";
}

/// Applies to Enter too: elsewhere the key does something else.
const char* writes_message(const CommandContext& c) {
    if (c.session.sheet || !c.session.document.chatting || !c.host.typing()) return "";
    return chats(c);
}

const char* edits_message(const CommandContext& c) {
    if (const char* why = chats(c)) return why;
    return draft_of(c.session.document).edited >= 0 ? nullptr : "";
}

const char* has_turns(const CommandContext& c) {
    if (const char* why = chats(c)) return why;
    return c.sentence() && c.sentence()->chat ? nullptr : "The conversation has no message yet.";
}

/// Parses the number of one of `count` things.
Result<int> number_of(const std::string& words, int count, const char* what) {
    const auto number = whole_of(words);
    if (number && *number >= 0 && *number < count) return int(*number);
    return Error{"There is no " + std::string(what) + " " + in_quotes(words) + "; they are numbered 0 … " +
                 std::to_string(count - 1) + "."};
}

/// Lets the model answer: opens the generation, long enough for a sentence or two.
void answer(Document& d) {
    d.generation.bar = true;
    d.generation.length = std::max(d.generation.length, kLeastAnswer);
    d.generation.step = -1;
}

/// Puts the field's text where it belongs, and empties the field.
Status send(CommandContext& c, const std::string&) {
    Document& d = c.session.document;
    const std::string typed = from_field(c.host.text(TextName::sentence));
    ChatDraft draft = draft_of(d);
    if (typed.empty() && draft.edited < 0) {
        if (!draft.awaits_answer()) return Error{"Write a message first."};
        answer(d);
        return success();
    }
    const HistoryGroup one_step(d.history);
    if (draft.edited >= 0)
        draft.messages()[size_t(draft.edited)]["content"] = typed;
    else
        draft.messages().push_back(chat_message(draft.role, typed));
    draft.edited = -1;
    draft.role = "user";
    put_draft(d, draft);
    c.host.set_text(TextName::sentence, "");
    if (draft.awaits_answer()) answer(d);
    return success();
}

Status let_answer(CommandContext& c, const std::string&) {
    if (!draft_of(c.session.document).awaits_answer())
        return Error{"The last message is the model’s own; write one that it can answer."};
    answer(c.session.document);
    return success();
}

const char* is_writing(const CommandContext& c) {
    if (const char* why = chats(c)) return why;
    if (!c.session.document.text.empty()) return "Send the message first.";
    return c.sentence() && c.sentence()->is_writing() ? nullptr : "No answer is being written.";
}

/// Ends an answer where it stands: kept, it is no longer awaited.
void stop_answer(CommandContext& c) { keep_answer(c.session.document, *c.sentence()); }

/// Puts a message into the field.
Status edit_message(CommandContext& c, const std::string& words) {
    Document& d = c.session.document;
    const HistoryGroup one_step(d.history);
    if (c.sentence()) keep_answer(d, *c.sentence());
    ChatDraft draft = draft_of(d);
    TRY(const int message, number_of(words, draft.size(), "message"));
    const auto content = draft.messages()[size_t(message)].find("content");
    if (content != draft.messages()[size_t(message)].end() && !content->is_string())
        return Error{"This message is no plain text; edit it in its file."};
    draft.edited = message;
    put_draft(d, draft);
    c.host.set_text(TextName::sentence, to_field(draft.text_at(message)));
    c.host.focus_text(TextName::sentence);
    return success();
}

Status remove_message(CommandContext& c, const std::string& words) {
    Document& d = c.session.document;
    const HistoryGroup one_step(d.history);
    if (c.sentence()) keep_answer(d, *c.sentence());
    ChatDraft draft = draft_of(d);
    TRY(const int message, number_of(words, draft.size(), "message"));
    draft.messages().erase(size_t(message));
    if (draft.edited == message) c.host.set_text(TextName::sentence, "");
    draft.edited = draft.edited == message ? -1 : draft.edited - (draft.edited > message ? 1 : 0);
    put_draft(d, draft);
    return success();
}

/// Says who speaks next; a system prompt goes to the beginning.
Status choose_role(CommandContext& c, const std::string& words) {
    ChatDraft draft = draft_of(c.session.document);
    if (words == "system") {
        if (draft.size() > 0 && draft.role_at(0) == "system") return edit_message(c, "0");
        const HistoryGroup one_step(c.session.document.history);
        draft.messages().insert(draft.messages().begin(), chat_message("system", ""));
        put_draft(c.session.document, draft);
        return edit_message(c, "0");
    }
    draft.role = words;
    put_draft(c.session.document, draft);
    return success();
}

void begin_anew(CommandContext& c) {
    Document& d = c.session.document;
    const HistoryGroup one_step(d.history);
    d.put_text(TextName::conversation, "");
    c.host.set_text(TextName::sentence, "");
    c.host.focus_text(TextName::sentence);
}

Status mask_turn(CommandContext& c, const std::string& words) {
    const Conversation& conversation = *c.sentence()->chat;
    TRY(const int turn, number_of(words, isize(conversation.turns), "turn"));
    if (conversation.contents(turn).empty())
        return Error{"This turn has nothing but the template’s tokens; mask those one by one."};
    toggle_turn_mask(c.session.document, conversation, turn);
    return success();
}

/// Masks all turns but one and the last, which looks at it.
Status only_turn(CommandContext& c, const std::string& words) {
    const Conversation& conversation = *c.sentence()->chat;
    TRY(const int turn, number_of(words, isize(conversation.turns), "turn"));
    Intervention next = c.session.document.intervention;
    for (int i = 0; i + 1 < isize(conversation.turns); ++i)
        for (const Change& mask : mask_of_turn(conversation, i)) {
            std::erase(next.changes, mask);
            if (i != turn) next.changes.push_back(mask);
        }
    c.session.document.intervene(std::move(next));
    return success();
}

}  // namespace

std::vector<Command> chat_commands() {
    return in_group(
        "Edit",
        {also_called("conversation, messages, roles, chat template, instruct",
                     switch_row(
                         {"chat", "Chat", "a conversation instead of a text"},
                         [](Session& s) -> bool& { return s.document.chatting; }, needs_chat)),
         row({"send", "Send", "add the message; the model answers", "Enter"}, send, writes_message),
         also_called("reply", row({"answer", "Let the model answer", "the model answers the last message"},
                                  let_answer, chats)),
         also_called("interrupt, cancel", row({"stop answer", "Stop the answer",
                                               "end the answer that is being written; what stands stays"},
                                              stop_answer, is_writing)),
         also_called("clear the conversation",
                     row({"new chat", "New conversation", "remove all messages"}, begin_anew, chats)),
         row({"edit message NUMBER", "Edit a message", "put a message into the field: edit message 0"},
             edit_message, chats),
         row({"stop editing", "Stop editing", "leave the message as it was"}, stop_editing, edits_message),
         row({"remove message NUMBER", "Remove a message", "remove a message: remove message 1"},
             remove_message, chats),
         also_called("system prompt",
                     row({"next role user|assistant|system|tool", "Who speaks next",
                          "whose message the field writes; 'system' edits the system prompt"},
                         choose_role, chats)),
         also_called("hide a message, ignore", row({"mask turn NUMBER", "Mask a turn",
                                                    "hide a turn’s words from all later tokens: mask turn 0"},
                                                   mask_turn, has_turns)),
         row({"only turn NUMBER", "Only this turn", "mask all earlier turns but one: only turn 1"}, only_turn,
             has_turns)});
}

}  // namespace headlight
