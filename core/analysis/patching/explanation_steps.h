// Tells the circuit of a prediction step by step, from what its heads measurably do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/attention/head_tags.h"
#include "analysis/patching/explanation.h"

namespace headlight {

struct ExplanationStep {
    struct Word {
        int stack = 0, token = 0;
        bool operator==(const Word&) const = default;
    };
    std::string name, text;
    std::vector<AttentionHead> heads;
    std::vector<Word> words;  // that it reads
    bool writes = false;      // the answer
    bool holds(AttentionHead head) const;
    /// Whether a path begins and ends in the step, or leads from an earlier one into it.
    bool holds(const PathEdge& edge) const;
};

using TagsOf = std::function<std::vector<HeadTag>(AttentionHead)>;

/// Mark, Find, Copy where heads tagged "previous" send into the keys of heads that write the answer; else a
/// step for each depth of the circuit (the longest chain of solid paths that ends at a head), named by what
/// most of its heads are tagged with. None before the heads of the circuit are known.
std::vector<ExplanationStep> explanation_steps(const Explanation& explanation, const Trace& clean,
                                               const TagsOf& tags);

/// "0.0 hands “ball” the word before it; 1.1 finds “red” there and copies “ball”.": the strongest path
/// through two heads, else through one; "" before it is measured.
std::string strongest_path_text(const Explanation& explanation, const Trace& clean, const TagsOf& tags);

}  // namespace headlight
