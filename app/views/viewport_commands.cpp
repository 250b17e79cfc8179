// The rows of the table of commands that enlarge and scroll what a view shows.
#include "views/viewport_commands.h"

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
    return viewport(c) ? nullptr : "This view shows all of itself; nothing of it is scrolled.";
}

const char* when_zooms(const CommandContext& c) {
    if (const char* reason = when_scrolls(c)) return reason;
    return viewport(c)->zooms() ? nullptr : "This view cannot be enlarged; the heat map and All heads can.";
}

/// A factor of the zoom; 0: to what fits.
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

}  // namespace

Command pages(const CommandText& text, float right, float below, CommandWhen when) {
    return row(
        text, [right, below](CommandContext& c) { viewport(c)->page(right, below); },
        when ? std::move(when) : CommandWhen(when_scrolls));
}

std::vector<Command> viewport_commands() {
    const char *size = "enlarge or shrink the heat map or thumbnails", *step = "scroll the view by a step",
               *page = "scroll the view by what is seen of it";
    return {zooms({"zoom in", "Zoom in", size, "Ctrl++"}, kEnlargedByStep),
            zooms({"zoom out", "Zoom out", size, "Ctrl+-"}, 1 / kEnlargedByStep),
            zooms({"zoom fit", "Zoom: show all", "show all of the heat map, all heads at once"}, 0),
            scrolls({"scroll up", "Scroll up", step}, 0, -1),
            scrolls({"scroll down", "Scroll down", step}, 0, 1),
            scrolls({"scroll left", "Scroll left", step}, -1, 0),
            scrolls({"scroll right", "Scroll right", step}, 1, 0),
            pages({"page up", "Page up", page, "Shift+PgUp"}, 0, -1),
            pages({"page down", "Page down", page, "Shift+PgDn"}, 0, 1),
            pages({"page left", "Page left", page}, -1, 0),
            pages({"page right", "Page right", page}, 1, 0)};
}

}  // namespace headlight
