// Makes a model without weights of what a server says about its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/frame.h"
#include "model/model.h"

namespace headlight {

/// Holds how a server's block turns q and k into scores (docs/engine.md). `says` false: something else acts
/// on them, and patterns themselves must be asked for.
struct EngineRule {
    bool says = false, causal = true;
    int window = 0;
    float scale = 1, cap = 0;
    bool operator==(const EngineRule&) const = default;
};

/// Reads a rule from an answer.
Result<EngineRule> read_engine_rule(const Json& rule);

/// Bounds the numbers by which a server tells weights of a model from later ones.
inline constexpr int64_t kMaxVersion = int64_t{1} << 32;

/// Says whether a model's weights can be fetched for questions that need them.
struct OfferedWeights {
    ModelConfig read;      // what Headlight reads of it
    int64_t bytes = 0;     // of all weights
    int64_t version = 0;   // differs once they are others
    std::string withheld;  // why they do not come, in a sentence, or ""
};

/// Holds what a server says once: the model, the rule of each of its blocks, and its weights.
struct EngineDescription {
    std::shared_ptr<Model> model;
    std::vector<EngineRule> rules;
    bool reuses = false;  // rows of an earlier pass serve
    OfferedWeights weights;
};

/// Returns whether two configurations have the same blocks, heads and widths.
bool are_alike(const ModelConfig& a, const ModelConfig& b);

/// Reads the answer to "describe". Fails if its blocks make no stacks of layers.
Result<EngineDescription> read_description(const Frame& described);

}  // namespace headlight
