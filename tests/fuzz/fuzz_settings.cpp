#include "session/adopt.h"
#include "session/conversation.h"
#include "session/workspace.h"

namespace {

/// A conversation reads as it is spelled, and its field's place is one of its messages.
void read_conversation(headlight::Document& document) {
    using namespace headlight;
    const ChatDraft draft = draft_of(document);
    if (draft.edited >= draft.size()) __builtin_trap();
    document.conversation = spelled(draft);
    if (spelled(draft_of(document)) != document.conversation) __builtin_trap();
    (void)chat_read(draft, document.text);
    if (draft.edited >= 0) (void)to_field(draft.text_at(draft.edited));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const headlight::ModelConfig config = [] {
        headlight::ModelConfig c;
        headlight::LayerSpec layer;
        layer.attention.heads = layer.attention.kv_heads = 4;
        c.stacks[0].layers.assign(4, layer);
        c.number_blocks();
        return c;
    }();
    if (const auto root = headlight::parse_json(text, "input"); root && root->is_object()) {
        (void)headlight::read_settings(*root, "input");
        (void)headlight::labels_in(*root);
        (void)headlight::merged(*root, *root, *headlight::settings_fields({}), headlight::workspace_fields());
    }
    auto workspace = headlight::parse_workspace(text, "input", {});
    if (workspace) read_conversation(workspace->document);
    (void)headlight::read_draft(text, "input");
    std::string notice;
    if (workspace && workspace->document.changes().mask.rfind("file:", 0) != 0)
        (void)headlight::intervention_of(workspace->document.changes(), config, notice);
    return 0;
}
