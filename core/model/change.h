// What a person changes in a forward pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/config.h"

namespace headlight {

enum class ChangeKind { zero, mean, uniform, hard, keep, temperature, forbid, allow, score, freeze, skip_attention, skip_mlp };

/// One change. Unset places mean all: site −1 every self-attention block, head −1 every head.
struct Change {
    ChangeKind kind = ChangeKind::zero;
    int site = -1, head = -1;
    int query = -1, key = -1;  // of forbid, allow and score
    float value = 0;           // temperature (0: hard, infinite: uniform), or the score
    std::shared_ptr<const Matrix> pattern;  // freeze: [queries, keys]; none: the head is left as it is
    std::string from;              // freeze: the text whose pattern it is, where it comes from one
    int queries = 1, keys = 1;     // of forbid and allow: rows and columns of the rectangle that begins at query, key

    bool operator==(const Change&) const = default;
    bool concerns(const ModelConfig& config, int of_site) const;
    bool concerns(const ModelConfig& config, int of_site, int of_head) const;
    bool paints() const { return kind == ChangeKind::forbid || kind == ChangeKind::allow; }
};

/// A row of the table of changes to a head.
struct ChangeRow {
    ChangeKind kind;
    const char* name;  // behind the colon of --ablate
    const char* help;
};
std::span<const ChangeRow> ablations();

/// "3.5", "3.5:mean", "cross.0.2:hard", "3.5:keep": a head and how it is ablated (zero where nothing is said).
Result<Change> parse_ablation(const ModelConfig& config, const std::string& text);

/// Everything else of --change: "temperature:0.5", "temperature:0@3.5", "forbid:16>10", "forbid:16>10@2.0", "allow:3-5>9-12",
/// "score:16>10@2.0=4.5", "freeze:2.0=TEXT", "skip-attention:3", "skip-mlp:3".
Result<Change> parse_change(const ModelConfig& config, const std::string& text);

/// As parse_change reads it; a frozen pattern that comes from no text has no spelling.
std::string change_name(const ModelConfig& config, const Change& change);

}  // namespace headlight
