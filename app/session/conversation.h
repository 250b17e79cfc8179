// The document's conversation: messages, and the one that the field writes.
#pragma once

#include <string>

#include "chat/encode.h"
#include "questions/answering.h"

namespace headlight {

struct Document;
struct Session;

/// An object with "role" and "content".
ChatJson chat_message(const std::string& role, const std::string& content);

/// A conversation being written. Its spelling is a file of --chat, with the keys "edited" and "next_role".
struct ChatDraft {
    ChatJson file = ChatJson::object();  // "messages", "tools", …
    int edited = -1;                     // the message that the field edits; −1: it writes the next one
    std::string role = "user";           // of the next one

    ChatJson& messages() { return file["messages"]; }
    const ChatJson& messages() const { return file["messages"]; }
    int size() const { return isize(messages()); }
    std::string role_at(int message) const;
    /// The text of a message's content; "" if it is no text.
    std::string text_at(int message) const;
    /// Whether the model may answer: the last message is not its own.
    bool awaits_answer() const;
};

/// Parses the document's spelling; an empty one, or a broken one, is a conversation without messages.
ChatDraft draft_of(const Document& document);
std::string spelled(const ChatDraft& draft);

/// Reads a file of messages as a draft; fails as parse_chat does.
Result<ChatDraft> read_draft(std::string_view json, const std::string& name);
/// Whether a .json file looks like one: it has "role" and "content" near its beginning.
bool is_chat_file(const std::filesystem::path& path);

/// A message in the field, which holds one line: "⏎" for its line breaks.
std::string to_field(const std::string& message);
std::string from_field(const std::string& text);

/// Spells what the model reads: the messages with the field's text in its place, as a file of --chat; "" if
/// there is nothing to read.
std::string chat_read(const ChatDraft& draft, const std::string& text);
/// The same for the document; "" while it is a plain text.
std::string chat_read(const Document& document);

/// The text that the model reads, by which forced tokens know theirs: the conversation, or the sentence.
std::string text_read(const Document& document);

/// Checks a workspace's conversation; "" is none.
Status check_conversation(const std::string& spelled, const std::string& name);

/// Replaces the conversation as an undo step.
void put_draft(Document& document, const ChatDraft& draft);

/// Adds a shown answer to the conversation; false if there is none to add.
bool keep_answer(Document& document, const SentenceResult& shown);

/// The change that hides content from all later tokens of a text.
Change mask_of_range(std::pair<int, int> tokens, int turn_end);
/// The changes that mask a turn.
std::vector<Change> mask_of_turn(const Conversation& conversation, int turn);
/// Whether all of them are active.
bool is_turn_masked(const Intervention& intervention, const Conversation& conversation, int turn);
/// Masks a turn, or removes its mask, as one undo step.
void toggle_turn_mask(Document& document, const Conversation& conversation, int turn);

}  // namespace headlight
