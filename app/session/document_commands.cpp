// Models, texts and files.
#include <filesystem>

#include "session/commands.h"
#include "session/words.h"
#include "session/workspace.h"

namespace headlight {

namespace {

const char* kFile = "Files";

bool is_picture(const std::string& path) {
    const std::string end = lower_case(std::filesystem::path(path).extension().string());
    return end == ".png" || end == ".jpg" || end == ".jpeg";
}

/// A workspace is opened, a picture goes to the vision model that is open; everything else is a model: the
/// one that is shown, or, while that is what is chosen, the one it is compared with.
Status open_path(CommandContext& c, const std::string& path) {
    Session& s = c.session;
    if (path.empty()) {
        s.toggle(Sheet::models);
    } else if (is_workspace(path)) {
        c.host.open_workspace(path);
    } else if (is_picture(path)) {
        if (!c.model() || !c.model()->config.can.read_image)
            return Error{"An image needs a vision model: open a ViT first, then drop the image again."};
        c.host.set_text(TextName::sentence, path);
    } else if (s.shows(Sheet::compared_models)) {
        s.document.compare_with_model(path);
        s.sheet.reset();
    } else {
        choose_model(s, path);
        s.sheet.reset();
    }
    return success();
}

/// Goes back to the model that is open; or, where B's is being opened, to none.
Status cancel_opening(CommandContext& c, const std::string& words) {
    Comparison& compared = c.session.document.comparison;
    if (words == "b")
        compared.model.clear();
    else if (c.answer)
        choose_model(c.session, c.answer->model_path, c.answer->model_attempt);
    return success();
}

Command text_row(const char* name, const char* title, const char* help, TextName which) {
    return {.name = name,
            .words = "[TEXT]",
            .title = title,
            .group = "Edit",
            .help = help,
            .run = [which](CommandContext& c, const std::string& words) {
                c.host.set_text(which, words);
                c.host.focus_text(TextName::sentence);
                return success();
            }};
}

}  // namespace

std::vector<Command> document_commands() {
    return {
        {.name = "open",
         .words = "[PATH]",
         .title = "Open a model or workspace",
         .group = kFile,
         .keys = "Ctrl+O",
         .help = "open a model, trace or workspace",
         .run = open_path},
        {.name = "cancel opening",
         .words = "[b]",
         .title = "Cancel opening",
         .group = kFile,
         .help = "stay with the model that is open",
         .run = cancel_opening},
        {.name = "open left workspace",
         .title = "Open what was left",
         .group = kFile,
         .help = "open the workspace of a window that did not close properly",
         .when =
             [](const CommandContext& c) { return c.session.document.left_workspace.empty() ? "" : nullptr; },
         .run =
             [](CommandContext& c, const std::string&) {
                 c.host.open_workspace(std::string(c.session.document.left_workspace));
                 return success();
             }},
        {.name = "dismiss left workspace",
         .title = "Dismiss what was left",
         .group = kFile,
         .help = "forget the workspace of a window that did not close properly",
         .when =
             [](const CommandContext& c) { return c.session.document.left_workspace.empty() ? "" : nullptr; },
         .run =
             [](CommandContext& c, const std::string&) {
                 c.host.drop_left_workspace();
                 return success();
             }},
        text_row("text", "Set the text", "the sentence that is read", TextName::sentence),
        text_row("second", "Set the second text", "the second sentence, or the target", TextName::second)};
}

}  // namespace headlight
