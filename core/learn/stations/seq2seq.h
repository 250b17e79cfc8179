// Station "Sequence to sequence without attention": the translator whose decoder may read one position of the
// source, the last, a window, or all.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct Seq2seqState {
    int half_width = 2, position = 0;
    std::string reference;  // the translation; empty: that of the held-out pairs, else what the model writes
    bool held_out = true;   // measure the sixty sentences too

    void visit(ControlVisitor& v);
};

Result<Page> seq2seq_page(const StationInput& input, const Seq2seqState& state, ThreadPool& pool);

}  // namespace headlight::learn
