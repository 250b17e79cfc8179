// Chooses where a metric is taken if nobody says where.
#pragma once

#include <string>

#include "trace/trace.h"

namespace headlight {

struct MetricPlace {
    int position = 0;    // in the output sequence
    std::string reason;  // why it is not where the model predicts; "" if it is
    bool operator==(const MetricPlace&) const = default;
};

/// Returns where the model predicts: behind a decoder's last token, at a mask token, at an image's class
/// token. Where a decoder predicts an end or padding, as behind a whole translation: the last position whose
/// predicted token is a word. Of an encoder without a mask token: its last word.
MetricPlace default_place(const Trace& unchanged, ThreadPool& pool);

}  // namespace headlight
