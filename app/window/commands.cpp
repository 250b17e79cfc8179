#include "window/commands.h"

#include "base/cast.h"
#include "views/commands.h"
#include "views/menus.h"
#include "views/sheet_frame.h"
#include "views/views.h"
#include "window/layout.h"

namespace headlight {

namespace {

const char* kWindow = "Window";

/// What Enter does in a sheet with a field.
Status accept(CommandContext& c, const std::string&) {
    Session& s = c.session;
    if (s.shows(Sheet::save)) {
        c.host.save();
    } else if (s.shows(Sheet::label)) {
        const std::string label = s.of<LabelMenu>().typed;
        s.sheet.reset();
        return carry_out({&command_named(commands(), label.empty() ? "remove label" : "label"), label}, c);
    } else if (!s.of<ModelMenu>().path.empty()) {
        return carry_out({&command_named(commands(), "open"), s.of<ModelMenu>().path}, c);
    }
    return success();
}

const char* has_field(const CommandContext& c) {
    const Session& s = c.session;
    const bool field = s.shows(Sheet::save) || s.shows(Sheet::label) || s.shows(Sheet::models) ||
                       s.shows(Sheet::compared_models);
    return field ? nullptr : "";
}

/// A control has the focus, and no text of the window has the keyboard.
const char* has_focus(const CommandContext& c) {
    return c.host.has_focus() && (c.session.sheet || !c.host.typing()) ? nullptr : "";
}

/// What a click beside a sheet does: where that click has closed it already, or opened another one, nothing.
Status close(CommandContext& c, const std::string& name) {
    if (row_of(kSheetNames, *c.session.sheet) == name) c.session.sheet.reset();
    return success();
}

/// From what lies on top to what lies below.
Status escape(CommandContext& c, const std::string&) {
    Session& s = c.session;
    if (s.sheet)
        s.sheet.reset();
    else if (s.selection.view && views()[*s.selection.view].fills_window)
        close_view(s);
    else if (c.host.has_focus())
        c.host.drop_focus();
    else if (s.selection.locked)
        s.selection.locked.reset();
    else
        c.host.leave_texts();
    return success();
}

Command sheet_row(const char* name, const char* title, const char* keys, const char* help, Sheet sheet) {
    return {.name = name,
            .title = title,
            .group = kWindow,
            .keys = keys,
            .help = help,
            .run = [sheet](CommandContext& c, const std::string&) {
                c.session.toggle(sheet);
                return success();
            }};
}

Command host_row(const char* name, const char* title, const char* group, const char* keys, const char* help,
                 void (*act)(Host& host)) {
    return {.name = name,
            .title = title,
            .group = group,
            .keys = keys,
            .help = help,
            .run = [act](CommandContext& c, const std::string&) {
                act(c.host);
                return success();
            }};
}

Command focus_row(const char* name, const char* title, const char* keys, const char* help,
                  void (*act)(Host& host)) {
    Command row = host_row(name, title, kWindow, keys, help, act);
    row.when = has_focus;
    return row;
}

std::vector<Command> focus_commands() {
    const char *goes = "move through all controls", *chooses = "choose in the focused control";
    return {host_row("next control", "Next control", kWindow, "Tab", goes, [](Host& h) { h.move_focus(1); }),
            host_row("previous control", "Previous control", kWindow, "Shift+Tab", goes,
                     [](Host& h) { h.move_focus(-1); }),
            focus_row("press", "Press", "Enter, Space", "press the focused control",
                      [](Host& h) { h.press_focus(); }),
            focus_row("choose up", "Choose above", "↑", chooses, [](Host& h) { h.step_focus(-1); }),
            focus_row("choose down", "Choose below", "↓", chooses, [](Host& h) { h.step_focus(1); })};
}

std::vector<Command> sheet_commands() {
    return {sheet_row("palette", "Command palette", "Ctrl+K", "find any command by typing", Sheet::palette),
            sheet_row("keys", "Keys", "F1", "this list", Sheet::help),
            sheet_row("settings", "Settings", "", "theme, text size, hints", Sheet::settings),
            {.name = "close",
             .words = "models|compared models|settings|save|label|keys|palette",
             .title = "Close",
             .group = kWindow,
             .help = "close a sheet where it is the one that is open",
             .when = [](const CommandContext& c) { return c.session.sheet ? nullptr : ""; },
             .run = close},
            {.name = "accept",
             .title = "Accept",
             .group = "",
             .keys = "Enter",
             .help = "do what the open sheet asks for",
             .when = has_field,
             .run = accept},
            {.name = "escape",
             .title = "Close, unlock, leave",
             .group = kWindow,
             .keys = "Esc",
             .help = "close a sheet; unlock the cell; leave the text field",
             .run = escape}};
}

/// Commands as --do takes them, one after the other.
Status carry_out_all(CommandContext& c, const std::string& text) {
    TRY(const auto lines, parse_commands(commands(), text));
    for (const CommandLine& line : lines) TRY_STATUS(carry_out(line, c));
    return success();
}

std::vector<Command> window_commands() {
    return {{.name = "do",
             .words = "COMMANDS",
             .title = "Carry out commands",
             .group = kWindow,
             .help = "carry out commands with ; between them, as --do does",
             .run = carry_out_all},
            switch_row({.name = "inspector",
                        .title = "Inspector",
                        .group = kWindow,
                        .keys = "Ctrl+I",
                        .help = "inspector, in narrow windows"},
                       [](Session& s) -> bool& { return s.of<LayoutState>().inspector_over; }),
            host_row("leave text", "Leave the text field", kWindow, "", "give the arrows to heads and cells",
                     [](Host& h) { h.leave_texts(); }),
            host_row("quit", "Close the window", kWindow, "Ctrl+Q", "close the window",
                     [](Host& h) { h.close_window(); })};
}

std::vector<Command> export_commands() {
    Command browse = host_row("browse", "Choose the file", "Files", "",
                              "ask where to save with the desktop's dialog", [](Host& h) { h.browse(); });
    browse.when = [](const CommandContext& c) { return c.session.shows(Sheet::save) ? nullptr : ""; };
    return {browse, host_row("copy numbers", "Copy the view's numbers", "Edit", "Ctrl+C",
                             "copy the selected text, or else the view's numbers",
                             [](Host& h) { h.copy_numbers(); })};
}

}  // namespace

std::span<const Command> commands() {
    static const std::vector<Command> table = [] {
        std::vector<Command> all;
        for (const auto& rows :
             {focus_commands(), view_commands(), selection_commands(), label_commands(),
              intervention_commands(), comparison_commands(), generation_commands(), display_commands(),
              document_commands(), save_commands(), export_commands(), sheet_commands(), window_commands()})
            all.insert(all.end(), rows.begin(), rows.end());
        return all;
    }();
    return table;
}

}  // namespace headlight
