#include "session/conversation.h"

#include <algorithm>

#include "base/utf8.h"
#include "io/json.h"
#include "io/text_file.h"
#include "session/session.h"

namespace headlight {

namespace {

constexpr const char* kMessages = "messages";
constexpr const char* kEdited = "edited";
constexpr const char* kNextRole = "next_role";

std::string text_of(const ChatJson& file) {
    return file.dump(-1, ' ', false, ChatJson::error_handler_t::replace);
}

/// Takes the field's place out of a spelling.
void take_place(ChatDraft& draft) {
    if (const auto edited = draft.file.find(kEdited); edited != draft.file.end()) {
        if (edited->is_number_integer() && edited->get<int64_t>() < draft.size())
            draft.edited = std::max(-1, edited->get<int>());
        draft.file.erase(kEdited);
    }
    if (const auto role = draft.file.find(kNextRole); role != draft.file.end()) {
        if (role->is_string()) draft.role = role->get<std::string>();
        draft.file.erase(kNextRole);
    }
}

ChatDraft without_messages() {
    ChatDraft out;
    out.file[kMessages] = ChatJson::array();
    return out;
}

bool has_messages(const ChatJson& file) {
    const auto found = file.is_object() ? file.find(kMessages) : file.end();
    if (!file.is_object() || found == file.end() || !found->is_array()) return false;
    return std::all_of(found->begin(), found->end(), [](const ChatJson& m) { return m.is_object(); });
}

}  // namespace

ChatJson chat_message(const std::string& role, const std::string& content) {
    return {{"role", role}, {"content", content}};
}

std::string ChatDraft::role_at(int i) const { return role_of_message(messages(), i); }

std::string ChatDraft::text_at(int i) const {
    const auto& of = messages()[size_t(i)];
    const auto content = of.find("content");
    return content != of.end() && content->is_string() ? content->get<std::string>() : "";
}

bool ChatDraft::awaits_answer() const { return size() > 0 && role_at(size() - 1) != "assistant"; }

ChatDraft draft_of(const Document& document) {
    ChatDraft out = without_messages();
    if (document.conversation.empty()) return out;
    auto file = parse_ordered_json(document.conversation, "The conversation");
    if (!file || !has_messages(*file)) return out;
    out.file = *std::move(file);
    take_place(out);
    return out;
}

std::string spelled(const ChatDraft& draft) {
    const bool empty = draft.size() == 0 && draft.file.size() == 1 && draft.role == "user";
    if (empty) return "";
    ChatJson file = draft.file;
    if (draft.edited >= 0) file[kEdited] = draft.edited;
    if (draft.role != "user") file[kNextRole] = draft.role;
    return text_of(file);
}

Result<ChatDraft> read_draft(std::string_view json, const std::string& name) {
    TRY_STATUS(parse_chat(json, name));
    TRY(ChatJson file, parse_ordered_json(json, name));
    ChatDraft out = without_messages();
    if (file.is_array())
        out.file[kMessages] = std::move(file);
    else
        out.file = std::move(file);
    return out;
}

bool is_chat_file(const std::filesystem::path& path) {
    const std::string begin = beginning_of(path, 4096);
    const size_t first = begin.find_first_not_of(" \t\r\n");
    const bool listed = first != std::string::npos && begin[first] == '[';
    return begin.find("\"role\"") != std::string::npos &&
           (listed || begin.find("\"messages\"") != std::string::npos);
}

namespace {

constexpr const char* kLineBreak = "⏎";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

}  // namespace

std::string to_field(const std::string& message) {
    return replaced(replaced(message, "\r\n", "\n"), "\n", kLineBreak);
}
std::string from_field(const std::string& text) { return replaced(text, kLineBreak, "\n"); }

std::string chat_read(const ChatDraft& draft, const std::string& text) {
    const std::string typed = from_field(text);
    ChatJson file = draft.file;
    ChatJson& messages = file[kMessages];
    if (draft.edited >= 0)
        messages[size_t(draft.edited)]["content"] = typed;
    else if (!typed.empty())
        messages.push_back(chat_message(draft.role, typed));
    return messages.empty() ? "" : text_of(file);
}

std::string chat_read(const Document& document) {
    return document.chatting ? chat_read(draft_of(document), document.text) : "";
}

std::string text_read(const Document& document) {
    return document.chatting ? chat_read(document) : document.text;
}

Status check_conversation(const std::string& spelled, const std::string& name) {
    if (spelled.empty()) return success();
    TRY(const ChatJson file, parse_ordered_json(spelled, name + ": its conversation"));
    if (!has_messages(file))
        return Error{name + ": its conversation is not an object with a list of messages; correct the file."};
    return success();
}

void put_draft(Document& document, const ChatDraft& draft) {
    document.put_text(TextName::conversation, spelled(draft));
}

bool keep_answer(Document& document, const SentenceResult& shown) {
    ChatDraft draft = draft_of(document);
    const bool of_this = shown.chat && shown.written && shown.trace && draft.edited < 0 &&
                         draft.awaits_answer() && shown.chat_asked == chat_read(draft, "");
    if (!of_this) return false;
    const std::vector<int>& ids = shown.trace->output().ids;
    std::string text;
    for (size_t i = size_t(shown.written->given); i < ids.size(); ++i)
        text += shown.model->target_tokenizer()->bytes(ids[i]);
    if (text.empty()) return false;
    draft.messages().push_back(chat_message("assistant", valid_utf8(text)));
    put_draft(document, draft);
    return true;
}

Change mask_of_range(std::pair<int, int> tokens, int turn_end) {
    Change out;
    out.kind = ChangeKind::mask;
    out.query = turn_end;
    out.queries = kToEnd;
    out.key = tokens.first;
    out.keys = tokens.second - tokens.first;
    return out;
}

std::vector<Change> mask_of_turn(const Conversation& conversation, int turn) {
    std::vector<Change> out;
    const int end = conversation.turns[size_t(turn)].end;
    for (const auto& tokens : conversation.contents(turn)) out.push_back(mask_of_range(tokens, end));
    return out;
}

bool is_turn_masked(const Intervention& intervention, const Conversation& conversation, int turn) {
    const std::vector<Change> masks = mask_of_turn(conversation, turn);
    const std::vector<Change>& active = intervention.changes;
    return !masks.empty() && std::all_of(masks.begin(), masks.end(), [&](const Change& mask) {
        return std::find(active.begin(), active.end(), mask) != active.end();
    });
}

void toggle_turn_mask(Document& document, const Conversation& conversation, int turn) {
    const bool masked = is_turn_masked(document.intervention, conversation, turn);
    Intervention next = document.intervention;
    for (const Change& mask : mask_of_turn(conversation, turn)) {
        std::erase(next.changes, mask);
        if (!masked) next.changes.push_back(mask);
    }
    document.intervene(std::move(next));
}

}  // namespace headlight
