// Commands for models, texts and files.
#include <utility>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "hub/adapted.h"
#include "hub/library.h"
#include "io/folder.h"
#include "io/mapped_file.h"
#include "io/text_file.h"
#include "model/heads.h"
#include "model/loading/adapter.h"
#include "session/adopt.h"
#include "session/commands/commands.h"
#include "session/conversation.h"
#include "session/dropped_text.h"
#include "session/examples.h"
#include "session/fetching.h"
#include "session/file_kind.h"
#include "session/lesson.h"
#include "session/samples.h"
#include "session/workspace.h"

namespace headlight {

namespace {

/// Gives an image to the open vision model, or to a view that takes one.
Status open_picture(CommandContext& c, const std::string& path) {
    const Capabilities can = c.model() ? c.model()->config.can : Capabilities{};
    if (can.read_image || can.add_image)
        c.host.set_text(TextName::picture, path);
    else if (!c.host.show_picture(path))
        return Error{
            "An image needs a vision model: open a ViT and drop it again, or drop it on Learn's “Beyond "
            "language”."};
    return success();
}

Status choose_image(CommandContext& c, const std::string& words) {
    if (sentence_locked(c.session)) return Error{kLockedByLesson};
    if (!words.empty()) return open_picture(c, expand_home(words).string());
    c.host.browse_image();
    return success();
}

const char* reads_images(const CommandContext& c) {
    if (!c.model()) return "No model is open yet.";
    const Capabilities& can = c.model()->config.can;
    return can.add_image || can.read_image ? nullptr : "This model reads no images.";
}

Status read_text_file(CommandContext& c, const std::string& path) {
    TRY(const auto file, MappedFile::open(path));
    TRY(const std::string_view read,
        text_of_file(beginning_of_text(file->text(), kLongestText), display_path(path)));
    std::string text(read);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    TRY_STATUS(file->check_unchanged());
    c.host.set_text(TextName::sentence, text);
    c.host.focus_text(TextName::sentence);
    return success();
}

Status open_chat(CommandContext& c, const std::string& path) {
    if (const char* why = needs_chat(c)) return Error{why};
    TRY(const auto file, MappedFile::open(path));
    TRY(const ChatDraft draft, read_draft(file->text(), display_path(path)));
    TRY_STATUS(file->check_unchanged());
    Document& d = c.session.document;
    const HistoryGroup one_step(d.history);
    d.chatting = true;
    put_draft(d, draft);
    c.host.set_text(TextName::sentence, "");
    return success();
}

/// Puts an adapter on the model that is open, in place of one that it has.
std::string on_open_model(const Session& s, const std::string& adapter) {
    const auto open = read_adapted(s.document.wanted.path);
    const std::string model = open && *open ? (**open).model : s.document.wanted.path;
    return AdaptedModel{.model = model, .adapter = adapter}.spelled();
}

/// Opens a model, or, when choosing B, as the compared one.
Status open_model(Session& s, const std::string& given) {
    const std::string path = is_adapter(given) ? on_open_model(s, given) : given;
    if (s.shows(Sheet::compared_models))
        s.document.compare_with_model(path);
    else
        choose_model(s, path);
    s.sheet.reset();
    return success();
}

/// Whether the lesson keeps a file of a kind from being opened; "" asks for the list of models.
bool locks_file(const Session& s, const std::string& path) {
    const FileKind kind = path.empty() ? FileKind::model : kind_of_file(path);
    const bool replaces_text = kind == FileKind::workspace || kind == FileKind::text ||
                               kind == FileKind::chat || kind == FileKind::picture;
    return (kind == FileKind::workspace || kind == FileKind::model ? model_locked(s) : false) ||
           (replaces_text && sentence_locked(s));
}

/// Opens a workspace or lesson, counts the parameters of a config.json, reads a corpus, or asks what a text
/// file is.
Status open_path(CommandContext& c, const std::string& typed) {
    const std::string path = expand_home(typed).string();
    if (locks_file(c.session, path)) return Error{kLockedByLesson};
    if (path.empty()) {
        c.session.toggle(Sheet::models);
        return success();
    }
    switch (kind_of_file(path)) {
        case FileKind::lesson:
            if (const char* why_not = outside_group(c)) return Error{why_not};
            return c.host.open_lesson(path);
        case FileKind::workspace:
            if (const char* why_not = outside_group(c)) return Error{why_not};
            c.host.open_workspace(path);
            return success();
        case FileKind::corpus:
            return c.host.show_corpus(path);
        case FileKind::config:
            return c.host.show_config(path);
        case FileKind::text:
            c.session.of<DroppedText>().path = path;
            c.session.sheet = Sheet::text_file;
            return success();
        case FileKind::chat:
            return open_chat(c, path);
        case FileKind::picture:
            return open_picture(c, path);
        case FileKind::model:
            return open_model(c.session, path);
    }
    return success();
}

/// Opens a model, unless it is open or being opened.
Status switch_model(CommandContext& c, const std::string& name) {
    const Document& d = c.session.document;
    const bool is_open = c.model() && c.model()->name == name && !d.awaits_model();
    if (!is_open && d.wanted.path != model_key(name)) choose_model(c.session, name);
    return success();
}

/// Returns to the current model; while B is being opened, to none.
Status cancel_opening(CommandContext& c, const std::string& words) {
    Comparison& compared = c.session.document.comparison;
    if (words == "b")
        compared.model.clear();
    else
        stay_with_open(c.session);
    return success();
}

/// Downloads a model from the Hugging Face hub, to offer it when done; in the sheet of compared models as B.
Status fetch_named(CommandContext& c, const std::string& words) {
    FetchState& state = c.session.of<FetchState>();
    if (state.going || state.request)
        return Error{"A model is already being downloaded; wait for it, or cancel it first."};
    TRY(const HubName name, parse_hub_name(words));
    state.request = FetchRequest{name, ""};
    state.to_compare = c.session.shows(Sheet::compared_models);
    state.fetched.clear();
    return success();
}

const char* fetches(const CommandContext& c) {
    const FetchState& state = c.session.of<FetchState>();
    return state.going || state.request ? nullptr : "";
}

void cancel_fetch(CommandContext& c) {
    FetchState& state = c.session.of<FetchState>();
    state.cancel = state.going != nullptr;
    state.request.reset();
}

const char* has_fetched(const CommandContext& c) {
    return c.session.of<FetchState>().fetched.empty() ? "" : nullptr;
}

/// Opens the downloaded model, as the current one or as B, whichever was requested.
void open_fetched(CommandContext& c) {
    FetchState& state = c.session.of<FetchState>();
    const std::string path = std::exchange(state.fetched, {});
    if (state.to_compare)
        c.session.document.compare_with_model(path);
    else
        choose_model(c.session, path);
    if (c.session.shows(Sheet::models) || c.session.shows(Sheet::compared_models)) c.session.sheet.reset();
}

void dismiss_fetched(CommandContext& c) { c.session.of<FetchState>().fetched.clear(); }

Command text_row(const CommandText& text, TextName which) {
    return row(text, [which](CommandContext& c, const std::string& words) {
        c.host.set_text(which, words);
        c.host.focus_text(TextName::sentence);
        return success();
    });
}

const char* reads_words(const CommandContext& c) {
    if (!c.model()) return "No model is open yet.";
    return c.model()->config.can.read_image ? "This model reads images, not text." : nullptr;
}

/// Puts an example into the field, and shows its head and cell in the open model.
Status start_example(CommandContext& c, const std::string& words) {
    const auto all = examples_for(*c.model());
    size_t number = all.size();
    if (!read_number(words, number) || number >= all.size())
        return Error{"There is no example " + in_quotes(words) + " for " + c.model()->name +
                     "; they are numbered 0 … " + std::to_string(all.size() - 1) + "."};
    const Example& example = all[number];
    Selection& selection = c.session.selection;
    const bool same_text = c.host.text(TextName::sentence) == example.text;
    c.host.set_text(TextName::sentence, example.text);
    c.host.focus_text(TextName::sentence);
    if (c.model()->name != example.model) return success();
    TRY(const AttentionHead head, parse_head(c.model()->config, example.head, "example"));
    selection.choose(head.block, head.head);
    if (same_text)
        selection.locked = example.cell;
    else
        selection.lock_in(c.host.text(TextName::sentence), example.cell);
    return success();
}

const char* needs_left(const CommandContext& c) {
    if (const char* why_not = outside_group(c)) return why_not;
    return c.session.document.left_workspace.empty() ? "" : nullptr;
}

void open_left(CommandContext& c) { c.host.open_workspace(std::string(c.session.document.left_workspace)); }
void dismiss_left(CommandContext& c) { c.host.drop_left_workspace(); }

void close_image(CommandContext& c) { c.host.set_text(TextName::picture, ""); }

std::vector<Command> image_commands() {
    return in_group(
        "Edit",
        {row({"image [PATH]", "Open an image",
              "the image that a vision model reads, alone or beside the text; alone: the desktop's dialog"},
             choose_image, reads_images),
         row({"close image", "Close the image", "read no image, or the text alone"}, close_image,
             reads_images)});
}

}  // namespace

std::vector<Command> document_commands() {
    const auto files = in_group(
        "Files",
        {also_called("load, checkpoint, GGUF, safetensors",
                     row({"open [PATH]", "Open a model, workspace or lesson",
                          "open a model, trace, workspace or lesson", "Ctrl+O"},
                         open_path)),
         row({"switch MODEL", "Switch to a model", "open a model unless it is already open"}, switch_model),
         row({"cancel opening [b]", "Cancel opening", "keep the current model"}, cancel_opening),
         row({"fetch NAME", "Download a model from the Hugging Face hub",
              "download a model by its hub ID, openai-community/gpt2; 'open fetched' opens it"},
             fetch_named),
         row({"open fetched", "Open the downloaded model", "open the model downloaded from the hub"},
             open_fetched, has_fetched),
         row({"dismiss fetched", "Dismiss the downloaded model", "not now; it stays in the list of models"},
             dismiss_fetched, has_fetched),
         row({"cancel fetch", "Cancel the download", "stop the download; it resumes from here next time"},
             cancel_fetch, fetches),
         row({"open left workspace", "Recover the workspace", "open the workspace of a window that crashed"},
             open_left, needs_left),
         row({"dismiss left workspace", "Discard the recovered workspace",
              "discard the workspace of a window that crashed"},
             dismiss_left, needs_left)});
    const auto texts = in_group(
        "Edit", {text_row({"text [TEXT]", "Set the text", "the sentence to read"}, TextName::sentence),
                 row({"read text FILE", "Read the text from a file",
                      "use the content of a text file as the sentence"},
                     read_text_file, reads_words),
                 row({"example NUMBER", "Start from an example",
                      "an example sentence for the open model, with its head and cell"},
                     start_example, reads_words),
                 text_row({"second [TEXT]", "Set the second text", "the second sentence, or the target"},
                          TextName::second)});
    return joined({files, texts, image_commands()});
}

}  // namespace headlight
