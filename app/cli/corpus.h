// The sheet of every head over many texts: what `headlight heads --corpus` writes.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace headlight {

struct CorpusOptions {
    InputOptions input;        // the model and what is changed in it
    std::string file;          // a text a line; "-": standard input; .jsonl and "-.jsonl": JSON a line
    int first_line = 1;        // what its first line counts as
    int strongest = 12;        // pairs of tokens of each head
    bool model_named = false;  // else a dossier's heads are known by itself
    bool json = false;
    bool sums = false;   // in JSON, what the means are made of
    std::string output;  // .json, .csv or .html; "": standard output
};

/// Reads the texts one after another. An error names the line it is about.
Status write_corpus(const CorpusOptions& options);

}  // namespace headlight
