// Example sentences, each with a head and cell to look at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace headlight {

struct Example {
    std::string text, why;
    bool translate, masks;     // for models that generate a target; that fill masks, each spelled [MASK] here
    bool others;               // for models that are not built in, which know more words
    std::string model;         // the built-in model that shows it, by name; "": none
    std::string head;          // as options spell it
    std::pair<int, int> cell;  // query, key
};

/// The rows of assets/sentences.json: add examples there.
const std::vector<Example>& examples();

/// Examples that suit a model, in order, those for others first; each [MASK] in the model's own spelling.
std::vector<Example> examples_for(const Model& model);

struct Session;

/// Shows at the first start: the first example, its head and cell, and heads ranked by that cell's weight.
void begin_with_story(Session& session);

}  // namespace headlight
