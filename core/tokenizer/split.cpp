// Splits text at matches.
#include "tokenizer/split.h"

#include <algorithm>

namespace headlight {

namespace {

/// Keeps an empty match as a part too: the text on both sides of it does not join.
struct Part {
    size_t begin, end;
    bool matched;
};

/// Returns whether a part joins its neighbor; `other`: whether that was matched.
bool joins(const Part& part, bool other, Behavior behavior) {
    return behavior == Behavior::contiguous ? part.matched == other : part.matched && !other;
}

std::vector<Part> join_previous(const std::vector<Part>& parts, Behavior behavior) {
    std::vector<Part> out;
    bool before = false;
    for (const Part& p : parts) {
        if (!out.empty() && joins(p, before, behavior))
            out.back().end = p.end;
        else
            out.push_back(p);
        before = p.matched;
    }
    return out;
}

std::vector<Part> join_next(std::vector<Part> parts) {
    std::reverse(parts.begin(), parts.end());
    std::vector<Part> out;
    bool after = false;
    for (const Part& p : parts) {
        if (!out.empty() && joins(p, after, Behavior::merged_with_next))
            out.back().begin = p.begin;
        else
            out.push_back(p);
        after = p.matched;
    }
    std::reverse(out.begin(), out.end());
    return out;
}

/// Joins or drops the matched parts, depending on the behavior.
std::vector<Part> apply_behavior(std::vector<Part> parts, Behavior behavior) {
    switch (behavior) {
        case Behavior::isolated:
            return parts;
        case Behavior::removed:
            std::erase_if(parts, [](const Part& p) { return p.matched; });
            return parts;
        case Behavior::merged_with_next:
            return join_next(std::move(parts));
        case Behavior::merged_with_previous:
        case Behavior::contiguous:
            return join_previous(parts, behavior);
    }
    return parts;
}

}  // namespace

Status split(std::vector<AlignedText>& pieces, const Matcher& matcher, Behavior behavior, bool invert) {
    std::vector<AlignedText> out;
    for (const AlignedText& piece : pieces) {
        std::vector<Part> parts;
        size_t last = 0;
        TRY_STATUS(matcher(piece.bytes, [&](size_t begin, size_t end) {
            if (begin > last) parts.push_back({last, begin, invert});
            parts.push_back({begin, end, !invert});
            last = end;
        }));
        if (last < piece.bytes.size()) parts.push_back({last, piece.bytes.size(), invert});
        for (const Part& p : apply_behavior(std::move(parts), behavior))
            if (p.end > p.begin) out.push_back(piece.slice(p.begin, p.end));
    }
    pieces = std::move(out);
    return success();
}

}  // namespace headlight
