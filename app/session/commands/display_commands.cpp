// Commands of the display.
#include "session/commands/commands.h"

namespace headlight {

namespace {

Command colormap_row() {
    std::vector<std::pair<std::string, std::string>> values;
    for (const char* name : colormap_names()) values.emplace_back(name, name);
    return choice_row({"colormap", "Color map", "next color map", "Ctrl+Shift+K"}, std::move(values),
                      preference(&Preferences::colormap));
}

Command contrast_choice() {
    std::vector<std::pair<std::string, Contrast>> values;
    for (size_t i = 0; i < contrasts().size(); ++i)
        values.emplace_back(contrasts()[i].name, static_cast<Contrast>(i));
    return choice_row({"contrast", "Contrast", "next contrast: how weights map to colors", "Ctrl+L"},
                      std::move(values), preference(&Preferences::contrast));
}

void show_hints(CommandContext& c) {
    c.session.guide = Guide::hints;
    c.session.sheet.reset();
}

/// Shows them, or hides them where they are shown.
Status show_tries(CommandContext& c, const std::string& words) {
    Guide& guide = c.session.guide;
    const bool off = words.empty() ? guide == Guide::tries : words == "off";
    guide = off ? Guide::none : Guide::tries;
    return success();
}

}  // namespace

std::vector<Command> display_commands() {
    return in_group(
        "Display",
        {colormap_row(), contrast_choice(),
         choice_row({"queries", "Queries as", "queries as rows or as columns", "Ctrl+T"},
                    {{"rows", Axis::rows}, {"columns", Axis::columns}}, preference(&Preferences::queries)),
         choice_row({"marks", "Draw cells as", "cells as squares or as dots"},
                    {{"squares", Marks::squares}, {"dots", Marks::dots}}, preference(&Preferences::marks)),
         also_called("attention sink",
                     switch_row({"drop sink", "Hide the first token", "hide the first token in heat maps"},
                                preference(&Preferences::drop_sink))),
         also_called("dark mode, light mode, appearance",
                     choice_row({"theme", "Theme", "dark or light", "Ctrl+D"},
                                {{"dark", true}, {"light", false}}, preference(&Preferences::dark))),
         also_called(
             "font, zoom, projector",
             choice_row({"text size", "Text size", "size of the window's text in percent"},
                        {{"100", 1.0f}, {"125", 1.25f}, {"150", 1.5f}}, preference(&Preferences::text_size))),
         also_called("animation, reduced motion",
                     switch_row({"motion", "Blend pictures", "blend a picture into the next one"},
                                preference(&Preferences::motion))),
         row({"hints", "Show the hints again", "show the first-run hints"}, show_hints),
         also_called("experiments, examples, tutorial",
                     row({"guide [on|off]", "Things to try", "experiments below the views, each one click"},
                         show_tries))});
}

}  // namespace headlight
