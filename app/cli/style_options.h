// Options that say how figures look: the fields of a style.
#pragma once

#include <map>
#include <string>

#include "figure/style.h"

namespace CLI {
class App;
}

namespace headlight {

/// The fields that were given, by name.
using GivenStyle = std::map<std::string, std::string>;

/// "--width-mm 85"; a flag where it can only be true or false: "--values", and "--no-labels" for what is
/// there by itself.
void add_style_option(CLI::App& app, GivenStyle& given, const StyleField& field);

Status set_given(FigureStyle& style, const GivenStyle& given);

}  // namespace headlight
