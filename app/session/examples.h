// Sentences to start from, each with the head and the cell that answer it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace headlight {

struct Example {
    std::string text, why;
    bool translate, masks;     // for models that write a target; that fill masks, each spelled [MASK] here
    std::string model;         // the built-in model that shows it, by its name; "": none does
    std::string head;          // as options spell it
    std::pair<int, int> cell;  // query, key
};

/// The rows of assets/sentences.json: the only place to add one.
const std::vector<Example>& examples();

/// Those that a model can do something with, in their order, each [MASK] in the model's own spelling.
std::vector<Example> examples_for(const Model& model);

struct Session;

/// What a first start shows: the first example, its head and cell, and heads ranked by that cell's weight.
void begin_with_story(Session& session);

}  // namespace headlight
