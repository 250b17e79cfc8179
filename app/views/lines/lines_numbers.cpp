// Exports the patterns of the drawn heads.
#include "base/memory.h"
#include "parts/layer_heads.h"
#include "views/lines/lines.h"
#include "views/tables.h"

namespace headlight {

std::vector<NumberTable> layer_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    const Trace& trace = *s.sentence()->trace;
    const bool sinks = !trace.rule(s.block()).sinks.empty();
    check_fits(int64_t{s.queries()} * s.keys() * trace.config().heads(s.block()) * 4);
    for (int head = 0; head < trace.config().heads(s.block()); ++head)
        if (!s.of<LayerHeads>().hidden.count(head))
            out.push_back(
                pattern_table("pattern of head " + head_name(trace.config(), s.block(), head),
                              s.query_labels(), s.key_labels(), masked_pattern(trace, s.block(), head),
                              sinks ? sink_weights(trace, {s.block(), head}, 0, s.queries()) : Vector()));
    return out;
}

}  // namespace headlight
