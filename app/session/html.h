// Parts of the page of a dossier, and of the report. They work without scripts; with scripts, columns sort.
#pragma once

#include <string>

#include "model/model.h"

namespace headlight {

/// Everything up to the title, which is the page's heading, and the end of the page.
std::string page_head(const std::string& title);
std::string page_end();
/// "stories · GPT-2 · 4 layers · 8 heads · d_model 256".
std::string model_line(const Model& model);
/// A table cell with a sort key; empty for NaN.
std::string number_cell(float value, int digits);

}  // namespace headlight
