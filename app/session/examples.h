// Sentences to start from, each with the head and the cell that answer it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headlight {

struct Example {
    std::string text, why;
    bool translate;            // for models that write a target
    std::string model;         // the built-in model that shows it, by its name
    std::string head;          // as options spell it
    std::pair<int, int> cell;  // query, key
};

/// The rows of assets/sentences.json: the only place to add one.
const std::vector<Example>& examples();

struct Session;

/// What a first start shows: the first example, its head and cell, and heads ranked by that cell's weight.
void begin_with_story(Session& session);

}  // namespace headlight
