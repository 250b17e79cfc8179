// Declares the options of a figure's style.
#pragma once

#include <map>
#include <string>

#include "figure/style.h"

namespace CLI {
class App;
}

namespace headlight {

/// Maps the names of given fields to their values.
using GivenStyle = std::map<std::string, std::string>;

/// Adds "--width-mm 85"; for a boolean a flag: "--values", or "--no-labels" if it is on by default.
void add_style_option(CLI::App& app, GivenStyle& given, const StyleField& field);

Status set_given(FigureStyle& style, const GivenStyle& given);

}  // namespace headlight
