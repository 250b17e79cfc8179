// Writes the dossier of every head over many texts, `headlight heads --corpus`.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace headlight {

struct CorpusOptions {
    InputOptions input;        // the model and the interventions
    std::string file;          // one text per line; "-": standard input; .jsonl and "-.jsonl": JSON lines
    int first_line = 1;        // number of its first line
    int strongest = 12;        // number of token pairs of each head
    bool model_named = false;  // else a dossier names its heads
    bool json = false;
    bool sums = false;   // in JSON: also the exact sums behind the means
    std::string output;  // .json, .csv or .html; "": standard output
};

/// Reads the texts one by one; an error names its line.
Status write_corpus(const CorpusOptions& options);

}  // namespace headlight
