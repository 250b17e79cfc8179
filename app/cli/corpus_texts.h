// The texts of a corpus, read one after another.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/corpus.h"

namespace headlight {

/// Calls each(number, text) for every text of the file that is not empty, in order. A line is a text or,
/// where the file's name ends in .jsonl, JSON: a string, or an object with a string "text". Numbers of lines
/// begin with options.first_line. `begin` is told before how many texts there are.
Status visit_texts(const CorpusOptions& options, const std::function<void(int)>& begin,
                   const std::function<Status(int, const std::string&)>& each);

/// What is wrong with the text of a line.
Error in_line(const CorpusOptions& options, int line, const std::string& why);

}  // namespace headlight
