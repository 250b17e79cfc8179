// Opens a training run with checkpoints: models/formation, written by its train.py.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "model/model.h"

namespace headlight::learn {

struct FormationRun {
    /// Holds train.py's measurements at a step. Losses in nats per token; scores of each head in the order of
    /// ModelConfig::head_index, on held-out stories (previous) and on 48 random tokens repeated once
    /// (induction).
    struct Measured {
        int step = 0;
        float loss = 0;             // on held-out stories
        float once = 0, again = 0;  // on the random tokens, first and second time
        std::vector<float> previous, induction;
    };
    std::vector<Measured> curve;
    std::vector<int> steps;  // checkpoints, ascending, and the model at each
    std::vector<std::shared_ptr<const Model>> models;

    /// Returns the head with the largest final score, one of the two of Measured.
    AttentionHead strongest(std::vector<float> Measured::*score) const;
    /// Returns the step at which the strongest induction head is halfway from its first score to its largest.
    int appearance() const;
};

/// Opens run.json, and the model of each step: the last in the folder itself, others in checkpoint-STEP.
Result<std::shared_ptr<const FormationRun>> open_formation_run(const std::filesystem::path& folder);

/// Returns the built-in run, opened once.
Result<std::shared_ptr<const FormationRun>> formation_run();

/// Returns the index of the first score at least halfway from the first to the largest.
int half_way(std::span<const float> scores);

}  // namespace headlight::learn
