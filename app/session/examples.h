// Sentences to start from, each with the head and the cell that answer it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headlight {

struct Example {
    std::string text, why;
    bool translate = false;             // for models that write a target
    std::string model;                  // the built-in model that shows it, by its name; "": any
    std::string head;                   // as options spell it; "": none is pointed at
    std::pair<int, int> cell = {0, 0};  // query, key
};

/// The rows of assets/sentences.json: the only place to add one.
const std::vector<Example>& examples();

}  // namespace headlight
