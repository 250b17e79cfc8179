#include "views/viewport_commands.h"

#include "views/turn_pair.h"
#include "views/views.h"

namespace headlight {

namespace {

Viewport* viewport(const CommandContext& c) {
    const View& view = shown_view(c.session, *c.model());
    return view.seen ? &view.seen(c.session.views) : nullptr;
}

const char* when_scrolls(const CommandContext& c) {
    if (!c.model()) return "No model is open yet.";
    if (behind_sheet(c)) return "";
    return viewport(c) ? nullptr : "This view does not scroll.";
}

const char* when_zooms(const CommandContext& c) {
    if (const char* reason = when_scrolls(c)) return reason;
    return viewport(c)->zooms() ? nullptr : "This view does not zoom; the heat map and All heads do.";
}

/// Multiplies the zoom; a factor of 0 shows all.
Command zooms(const CommandText& text, float factor) {
    const auto zoom = [factor](CommandContext& c) {
        Viewport& seen = *viewport(c);
        seen.zoom_to(factor > 0 ? seen.zoom * factor : 1);
    };
    return row(text, zoom, when_zooms);
}

Command scrolls(const CommandText& text, float right, float below) {
    return row(
        text, [right, below](CommandContext& c) { viewport(c)->scroll(right, below); }, when_scrolls);
}

const char* shows_one_pair(const CommandContext& c) {
    return c.session.views.of<ChosenTurns>().attended >= 0 ? nullptr : "All turns are shown.";
}

/// Lets go of the pair of turns that Chat's map of turns chose.
void show_all_turns(CommandContext& c) {
    c.session.views.of<ChosenTurns>().attended = -1;
    find_view("head")->seen(c.session.views).wanted = Viewport::Part();
}

}  // namespace

Command pages(const CommandText& text, float right, float below, CommandWhen when) {
    return row(
        text, [right, below](CommandContext& c) { viewport(c)->page(right, below); },
        when ? std::move(when) : CommandWhen(when_scrolls));
}

std::vector<Command> viewport_commands() {
    const char *size = "zoom the heat map or thumbnails", *step = "scroll the view by one step",
               *page = "scroll the view by one page";
    return {zooms({"zoom in", "Zoom in", size, "Ctrl++"}, kEnlargedByStep),
            zooms({"zoom out", "Zoom out", size, "Ctrl+-"}, 1 / kEnlargedByStep),
            zooms({"zoom fit", "Zoom: show all", "fit the whole heat map or all heads in the view"}, 0),
            scrolls({"scroll up", "Scroll up", step}, 0, -1),
            scrolls({"scroll down", "Scroll down", step}, 0, 1),
            scrolls({"scroll left", "Scroll left", step}, -1, 0),
            scrolls({"scroll right", "Scroll right", step}, 1, 0),
            also_called("conversation",
                        row({"all turns", "Show all turns", "of a conversation, not the chosen pair alone"},
                            show_all_turns, shows_one_pair)),
            pages({"page up", "Page up", page, "Shift+PgUp"}, 0, -1),
            pages({"page down", "Page down", page, "Shift+PgDn"}, 0, 1),
            pages({"page left", "Page left", page}, -1, 0),
            pages({"page right", "Page right", page}, 1, 0)};
}

}  // namespace headlight
