// How it is shown.
#include "session/commands.h"

namespace headlight {

namespace {

const char* kDisplay = "Display";

Command colormap_row() {
    std::vector<std::pair<std::string, std::string>> values;
    for (const char* name : colormap_names()) values.emplace_back(name, name);
    return choice_row<std::string>({.name = "colormap",
                                    .title = "Color map",
                                    .group = kDisplay,
                                    .keys = "Ctrl+Shift+K",
                                    .help = "next color map"},
                                   std::move(values),
                                   [](Session& s) -> std::string& { return s.preferences.colormap; });
}

}  // namespace

std::vector<Command> display_commands() {
    return {
        colormap_row(),
        choice_row<Scale>({.name = "scale",
                           .title = "Color scale",
                           .group = kDisplay,
                           .keys = "Ctrl+L",
                           .help = "next color scale: linear, log, per row"},
                          {{"linear", Scale::linear}, {"log", Scale::log}, {"row", Scale::row}},
                          [](Session& s) -> Scale& { return s.preferences.scale; }),
        choice_row<Axis>({.name = "queries",
                          .title = "Queries as",
                          .group = kDisplay,
                          .keys = "Ctrl+T",
                          .help = "queries as rows or as columns"},
                         {{"rows", Axis::rows}, {"columns", Axis::columns}},
                         [](Session& s) -> Axis& { return s.preferences.queries; }),
        choice_row<Marks>({.name = "marks",
                           .title = "Draw cells as",
                           .group = kDisplay,
                           .help = "cells as squares or as dots"},
                          {{"squares", Marks::squares}, {"dots", Marks::dots}},
                          [](Session& s) -> Marks& { return s.preferences.marks; }),
        switch_row({.name = "drop sink",
                    .title = "Leave out the first key",
                    .group = kDisplay,
                    .help = "heat maps leave the first key out"},
                   [](Session& s) -> bool& { return s.preferences.drop_sink; }),
        choice_row<bool>(
            {.name = "theme", .title = "Theme", .group = kDisplay, .keys = "Ctrl+D", .help = "dark or light"},
            {{"dark", true}, {"light", false}}, [](Session& s) -> bool& { return s.preferences.dark; }),
        choice_row<float>({.name = "text size",
                           .title = "Text size",
                           .group = kDisplay,
                           .help = "size of the window's text in percent"},
                          {{"100", 1.0f}, {"125", 1.25f}, {"150", 1.5f}},
                          [](Session& s) -> float& { return s.preferences.text_size; }),
        {.name = "hints",
         .title = "Show the hints again",
         .group = kDisplay,
         .help = "show the hints of the first start",
         .run =
             [](CommandContext& c, const std::string&) {
                 c.session.preferences.hints_seen = false;
                 c.session.sheet.reset();
                 return success();
             }},
    };
}

}  // namespace headlight
