// Chooses the position of a metric that has none.
#pragma once

#include <string>

#include "trace/trace.h"

namespace headlight {

struct MetricPlace {
    int position = 0;    // in the output sequence
    int token = -1;      // the most probable one there; −1: the model predicts none
    std::string reason;  // why it is not where the model predicts; "" if it is
    bool operator==(const MetricPlace&) const = default;
};

/// Returns where the model predicts: behind a decoder's last token, at a mask token, at an image's class
/// token. Where a decoder predicts an end or padding, as behind a whole translation: the last position whose
/// predicted token is a word. Of an encoder without a mask token: its last word.
/// `next`: the most probable token at the first place where it predicts, if that is known already; else −1.
MetricPlace default_place(const Trace& unchanged, ThreadPool& pool, int next = -1);

}  // namespace headlight
