// What is on show, and where a question about it can point.
#pragma once

#include <algorithm>

#include "base/cast.h"
#include "trace/trace.h"

namespace headlight {

/// A run, and the head of it whose picture is shown.
struct Shown {
    const Trace* trace = nullptr;
    int block = 0, head = 0;

    int stack_of(int of_block) const { return trace->config().block(of_block).stack; }
    int stack() const { return stack_of(block); }
};

/// The nearest of `count` places.
inline int nearest(int value, int count) { return std::clamp(value, 0, std::max(0, count - 1)); }
/// … of a trace's blocks, of a block's heads, of its stacks.
inline int nearest_block(const Trace& trace, int block) { return nearest(block, trace.config().blocks()); }
inline int nearest_head(const Trace& trace, int block, int head) {
    return nearest(head, trace.config().heads(block));
}
inline int nearest_stack(const Trace& trace, int stack) {
    return nearest(stack, isize(trace.config().stacks));
}

}  // namespace headlight
