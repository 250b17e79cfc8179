// A training run of which some steps were kept: models/formation, written by its train.py.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "model/model.h"

namespace headlight::learn {

struct FormationRun {
    /// What train.py measured at a step. Losses in nats per token; scores of each head in the order of
    /// ModelConfig::head_index, on held-out stories (previous) and on 48 random tokens said twice
    /// (induction).
    struct Measured {
        int step = 0;
        float loss = 0;             // of held-out stories
        float once = 0, again = 0;  // of the random tokens, the first and the second time
        std::vector<float> previous, induction;
    };
    std::vector<Measured> curve;
    std::vector<int> steps;  // those that were kept, ascending, and the model at each
    std::vector<std::shared_ptr<const Model>> models;

    /// The head whose score, one of the two of Measured, is the largest at the end.
    AttentionHead strongest(std::vector<float> Measured::*score) const;
    /// The step at which the strongest induction head is half way from its first score to its largest.
    int appearance() const;
};

/// Opens run.json, and the model of each step: of the last one in the folder itself, of the others in
/// folders checkpoint-STEP.
Result<std::shared_ptr<const FormationRun>> open_formation_run(const std::filesystem::path& folder);

/// The built-in run; opened once.
Result<std::shared_ptr<const FormationRun>> formation_run();

/// The first of some scores that is at least half way from the first to the largest: its place.
int half_way(std::span<const float> scores);

}  // namespace headlight::learn
