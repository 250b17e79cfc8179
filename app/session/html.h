// What self-contained HTML pages have in common. They are read without scripts; with them columns sort.
#pragma once

#include <string>

#include "model/model.h"

namespace headlight {

/// Text for the inside of a page or of an attribute.
std::string escaped(const std::string& text);
/// Everything up to the title, which is the page's heading, and what stands at its end.
std::string page_head(const std::string& title);
std::string page_end();
/// "stories · GPT-2 · 4 layers · 8 heads · d_model 256".
std::string model_line(const Model& model);
/// A cell of a table by which it can be sorted; empty for NaN.
std::string number_cell(float value, int digits);

}  // namespace headlight
