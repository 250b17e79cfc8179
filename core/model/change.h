// What a person changes in a forward pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/config.h"

namespace headlight {

enum class ChangeKind { zero, mean, uniform, hard, temperature, forbid, allow, score, freeze, skip_attention, skip_mlp };

/// One change. Unset places mean all: site −1 every self-attention block, head −1 every head.
struct Change {
    ChangeKind kind = ChangeKind::zero;
    int site = -1, head = -1;
    int query = -1, key = -1;  // of forbid, allow and score
    float value = 0;           // temperature (0: hard, infinite: uniform), or the score
    std::shared_ptr<const Matrix> pattern;  // freeze: [queries, keys]

    bool operator==(const Change&) const = default;
    bool concerns(const ModelConfig& config, int of_site, int of_head) const;
};

/// A row of the table of changes to a head.
struct ChangeRow {
    ChangeKind kind;
    const char* name;  // behind the colon of --ablate
    const char* help;
};
std::span<const ChangeRow> ablations();

/// "3.5", "3.5:mean", "cross.0.2:hard": a head and how it is ablated (zero where nothing is said).
Result<Change> parse_ablation(const ModelConfig& config, const std::string& text);

/// Everything else of --change: "temperature:0.5", "temperature:0@3.5", "forbid:16>10", "forbid:16>10@2.0", "allow:3>9",
/// "score:16>10@2.0=4.5", "skip-attention:3", "skip-mlp:3".
Result<Change> parse_change(const ModelConfig& config, const std::string& text);

/// As parse_ablation and parse_change read it; a frozen pattern has no spelling.
std::string change_name(const ModelConfig& config, const Change& change);

}  // namespace headlight
