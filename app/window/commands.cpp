#include "window/commands.h"

#include "base/cast.h"
#include "panels/lesson/lesson.h"
#include "panels/menus.h"
#include "panels/metric_menu.h"
#include "panels/present.h"
#include "panels/view_commands.h"
#include "parts/metric.h"
#include "parts/sheet_frame.h"
#include "session/commands/try_out.h"
#include "session/conversation.h"
#include "session/fetching.h"
#include "views/views.h"
#include "window/layout.h"

namespace headlight {

namespace {

/// Runs what Enter does in a sheet with a field.
Status accept(CommandContext& c, const std::string&) {
    Session& s = c.session;
    if (s.shows(Sheet::save)) {
        c.host.save();
    } else if (s.shows(Sheet::metric)) {
        accept_typed_token(c);
    } else if (s.shows(Sheet::label)) {
        const std::string label = s.of<LabelMenu>().typed;
        s.sheet.reset();
        return carry_out({&command_named(commands(), label.empty() ? "remove label" : "label"), label}, c);
    } else if (!s.of<ModelMenu>().path.empty()) {
        return carry_out({&command_named(commands(), "open"), s.of<ModelMenu>().path}, c);
    } else if (const std::string typed = s.of<FetchState>().typed; !typed.empty()) {
        return carry_out({&command_named(commands(), "fetch"), typed}, c);
    }
    return success();
}

const char* has_field(const CommandContext& c) {
    const Session& s = c.session;
    const bool field = s.shows(Sheet::save) || s.shows(Sheet::label) || s.shows(Sheet::models) ||
                       s.shows(Sheet::compared_models) || s.shows(Sheet::metric);
    return field ? nullptr : "";
}

/// Whether a control has the focus and no text field has the keyboard.
const char* has_focus(const CommandContext& c) {
    return c.host.has_focus() && (c.session.sheet || !c.host.typing()) ? nullptr : "";
}

/// Handles a click outside a sheet; does nothing if that click already closed it or opened another.
Status close(CommandContext& c, const std::string& name) {
    if (row_of(kSheetNames, *c.session.sheet) == name) c.session.sheet.reset();
    return success();
}

/// Closes the topmost thing first.
void escape(CommandContext& c) {
    Session& s = c.session;
    if (s.sheet)
        s.sheet.reset();
    else if (s.presenting)
        s.presenting = s.blank = false;
    else if (s.arranging)
        s.arranging = false;
    else if (s.selection.view && views()[*s.selection.view].fills_window())
        close_view(s);
    else if (c.host.has_focus())
        c.host.drop_focus();
    else if (s.document.chatting && draft_of(s.document).edited >= 0)
        stop_editing(c);
    else if (s.selection.locked)
        s.selection.unlock();
    else if (s.guide == Guide::hints)
        s.guide = Guide::tries;
    else
        c.host.leave_texts();
}

Command sheet_row(const CommandText& text, Sheet sheet) {
    return row(text, [sheet](CommandContext& c) { c.session.toggle(sheet); });
}

Command host_row(const CommandText& text, void (*act)(Host& host), CommandWhen when = nullptr) {
    return row(
        text, [act](CommandContext& c) { act(c.host); }, std::move(when));
}

std::vector<Command> focus_commands() {
    const char *goes = "move through all controls", *chooses = "choose in the focused control";
    return {host_row({"next control", "Next control", goes, "Tab"}, [](Host& h) { h.move_focus(1); }),
            host_row({"previous control", "Previous control", goes, "Shift+Tab"},
                     [](Host& h) { h.move_focus(-1); }),
            host_row(
                {"press", "Press", "press the focused control", "Enter, Space"},
                [](Host& h) { h.press_focus(); }, has_focus),
            host_row(
                {"choose up", "Previous choice", chooses, "↑"}, [](Host& h) { h.step_focus(-1); }, has_focus),
            host_row(
                {"choose down", "Next choice", chooses, "↓"}, [](Host& h) { h.step_focus(1); }, has_focus)};
}

std::vector<Command> sheet_commands() {
    return {
        sheet_row({"palette", "Command palette", "find any command by typing", "Ctrl+K"}, Sheet::palette),
        sheet_row({"keys", "Keys", "list the keys", "F1"}, Sheet::help),
        sheet_row({"settings", "Settings", "theme, text size, hints"}, Sheet::settings),
        row({"close models|compared models|settings|save|label|keys|palette|metric|token|text file|history",
             "Close", "close a sheet if it is open"},
            close, [](const CommandContext& c) { return c.session.sheet ? nullptr : ""; }),
        row({"escape", "Close, unlock, leave", "close, unlock, or leave the text field", "Esc"}, escape)};
}

/// Opens the menu; "here" anchors it to the chip that was clicked.
Status open_metric_menu(CommandContext& c, const std::string& words) {
    if (words.empty()) c.session.of<MetricMenu>() = {};
    c.session.toggle(Sheet::metric);
    return success();
}

/// Listed with the other metric commands.
Command metric_menu_row() {
    return row(
        {"metric menu [here]", "Choose the metric", "choose what to explain: kind, tokens, position", "F3"},
        open_metric_menu, needs_logits);
}

/// Runs commands one after the other, as --do does.
Status carry_out_all(CommandContext& c, const std::string& text) {
    TRY(const auto lines, parse_commands(commands(), text));
    for (const CommandLine& line : lines) TRY_STATUS(carry_out(line, c));
    return success();
}

Status try_all(CommandContext& c, const std::string& text) {
    TRY(const auto lines, parse_commands(commands(), text));
    return try_out(c, text, lines);
}

std::vector<Command> window_commands() {
    return {row({"do COMMANDS", "Run commands", "run commands separated by ;, as --do does"}, carry_out_all),
            row({"try COMMANDS", "Try out commands",
                 "run commands as one undo step; again, or another try, undoes it"},
                try_all, outside_group),
            switch_row({"inspector", "Inspector", "show the inspector in narrow windows", "Ctrl+I"},
                       of_state(&LayoutState::inspector_over)),
            host_row({"leave text", "Leave the text field",
                      "leave the text field, so arrow keys move heads and cells"},
                     [](Host& h) { h.leave_texts(); }),
            host_row({"quit", "Close the window", "close the window", "Ctrl+Q"},
                     [](Host& h) { h.close_window(); })};
}

std::vector<Command> export_commands() {
    const auto saves = [](const CommandContext& c) { return c.session.shows(Sheet::save) ? nullptr : ""; };
    return joined(
        {in_group("Files", {host_row(
                               {"browse", "Choose the file", "choose where to save in the desktop's dialog"},
                               [](Host& h) { h.browse(); }, saves)}),
         in_group("Edit", {host_row({"copy numbers", "Copy the view's numbers",
                                     "copy the text or the view's numbers", "Ctrl+C"},
                                    [](Host& h) { h.copy_numbers(); })})});
}

/// Has no group: the sheet itself shows what Enter does.
Command accept_row() {
    return row({"accept", "Accept", "confirm the open sheet", "Enter"}, accept, has_field);
}

}  // namespace

Status go_on(CommandContext& c) {
    TRY_STATUS(resume_presenting(c));
    if (!trial_can_resume(c)) return success();
    TRY(const auto lines, parse_commands(commands(), c.session.document.trial->commands));
    return resume_trial(c, lines);
}

std::span<const Command> commands() {
    static const std::vector<Command> table =
        joined({in_group("Window", focus_commands()),
                present_commands(),
                view_commands(),
                selection_commands(),
                label_commands(),
                intervention_commands(),
                in_group("Intervene", {metric_menu_row()}),
                metric_commands(),
                adapter_commands(),
                chat_commands(),
                comparison_commands(),
                generation_commands(),
                display_commands(),
                document_commands(),
                lesson_commands(),
                save_commands(),
                export_commands(),
                {accept_row()},
                in_group("Window", joined({sheet_commands(), window_commands()}))});
    return table;
}

}  // namespace headlight
