// Says what is shown, and clamps questions to it.
#pragma once

#include <algorithm>

#include "base/cast.h"
#include "trace/trace.h"

namespace headlight {

/// Holds a run, and its head whose picture is shown.
struct Shown {
    const Trace* trace = nullptr;
    int block = 0, head = 0;

    int stack_of(int of_block) const { return trace->config().block(of_block).stack; }
    int stack() const { return stack_of(block); }
};

/// Clamps to 0 … count − 1.
inline int nearest(int value, int count) { return std::clamp(value, 0, std::max(0, count - 1)); }
/// Clamp to a trace's blocks, a block's heads, its stacks.
inline int nearest_block(const Trace& trace, int block) { return nearest(block, trace.config().blocks()); }
inline int nearest_head(const Trace& trace, int block, int head) {
    return nearest(head, trace.config().heads(block));
}
inline int nearest_stack(const Trace& trace, int stack) {
    return nearest(stack, isize(trace.config().stacks));
}

}  // namespace headlight
