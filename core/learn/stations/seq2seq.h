// Station "Sequence to sequence without attention": the translator whose decoder may read one position of the
// source, the last, a window, or all.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct Seq2seqState {
    int half_width = 2, position = 0;
    std::string reference;  // the translation; empty: the held-out pair's, else the model's
    bool held_out = true;   // also measures the sixty sentences
    bool long_one = true;   // the recurrent networks repeat the article's sentence, not the typed one

    void visit(ControlVisitor& v);
};

Result<Page> seq2seq_page(const StationInput& input, const Seq2seqState& state, ThreadPool& pool);

}  // namespace headlight::learn
