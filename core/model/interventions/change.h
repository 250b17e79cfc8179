// Defines the changes that a user makes to a forward pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/heads.h"

namespace headlight {

struct HeadRule;  // model/attention.h
struct MaskPlan;

/// Follows the order of the table of changes (change.cpp).
enum class ChangeKind {
    zero,
    mean,
    uniform,
    hard,
    keep,
    temperature,
    mask,
    unmask,
    score,
    freeze,
    skip_attention,
    skip_mlp,
    ablate_expert,
    positions,
    patch_resid,
    patch_attention,
    patch_mlp,
    patch_head,
    noise
};

/// Says which part of the model a kind of change acts on: a head's rule, cells painted onto its mask, a whole
/// block of a layer, one of its experts, the positions of a stack, or rows of an activation.
enum class ChangeTarget { head, cells, attention, mlp, expert, positions, rows };

/// Says which attention blocks a change applies to if it names none. usual: every block for a temperature,
/// every self-attention block otherwise, because cells belong to one text.
enum class Blocks { usual, encoder, decoder, cross, all };

/// Means "to the end", also as the text grows.
inline constexpr int kToEnd = 1 << 24;

/// Bounds scores and temperatures against overflow: |score|, and the smallest temperature above 0 (hard).
inline constexpr float kLargestScore = 1e30f, kMinTemperature = 1e-6f;

/// kNoPositions: the value that switches positions off; kLargestSeed bounds the seed that shuffles them.
inline constexpr float kNoPositions = -1, kLargestSeed = 1 << 20;

/// Describes one change. Block −1 means all blocks in `blocks`, head −1 every head.
struct Change {
    ChangeKind kind = ChangeKind::zero;
    int block = -1, head = -1;
    int query = -1, key = -1;  // mask, unmask, score; patches, noise: query is the first position
    /// temperature (0: hard, infinite: uniform); score; seed of positions (kNoPositions: none) or noise;
    /// number of an expert
    float value = 0;
    /// freeze: [queries, keys]; patches, noise: [positions, width]; null: no effect
    std::shared_ptr<const Matrix> pattern;
    std::string from;  // freeze, patches: source text; patches, empty: the unchanged run
    /// mask, unmask: size of the rectangle from (query, key) on; patches, noise: queries counts positions;
    /// kToEnd: to the end
    int queries = 1, keys = 1;
    Blocks blocks = Blocks::usual;

    bool operator==(const Change&) const = default;
    bool concerns(const ModelConfig& config, int of_block) const;
    bool concerns(const ModelConfig& config, int of_block, int of_head) const;
    bool paints() const;  // whether it paints cells onto masks
};

/// Holds the labels of a block's queries and keys, which users read in place of numbers.
struct ChangeTokens {
    const std::vector<std::string>&queries, &keys;
};

/// Defines a row of the table of changes: the only place to add one.
struct ChangeRow {
    ChangeKind kind;
    ChangeTarget target;
    const char* name;  // before the colon of --change; of an ablation after "ablate:L.H:"
    const char* help;  // effect, as shown to users
    bool ablates;      // ablates a head: --ablate reads it too
    /// Parses `rest`, the text after the colon; errors quote `text`, the whole.
    Result<Change> (*parse)(const ModelConfig& config, const std::string& text, const std::string& rest);
    /// Spells the change as `parse` reads it.
    std::string (*spell)(const ModelConfig& config, const Change& change);
    /// Labels it for users: "cat 3 → The 0 in 2.0".
    std::string (*label)(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);
    /// Changes the rule of a head that it applies to; null if the target is not a head.
    void (*apply)(const Change& change, const MaskPlan& mask, HeadRule& head);
    /// Whether every query then depends on all others, later ones too: trace/reuse keeps no row of it.
    bool depends_on_every_query;
};
std::span<const ChangeRow> change_rows();
const ChangeRow& change_row(ChangeKind kind);
/// Returns the rows that ablate a head.
std::span<const ChangeRow> ablations();

/// Parses "3.5", "3.5:mean", "cross.0.2:hard" or "3.5:keep": a head and its ablation (default: zero).
Result<Change> parse_ablation(const ModelConfig& config, const std::string& text);

/// Parses a number from kMinTemperature to kLargestScore, 0 (hard) or "inf" (uniform).
Result<float> parse_temperature(const std::string& text);

/// Parses every spelling of --change: "temperature:0.5", "mask:16>10", "unmask:3-5>9-12", "score:16>10=4.5",
/// "freeze:2.0=TEXT", "skip-attention:3", "skip-mlp:3", "ablate-expert:3.5", "positions:off@encoder",
/// "positions:shuffle:7", "patch-resid:16@3=TEXT", "patch-head:*@2.0" (of the unchanged run),
/// "noise:3-5=SEED". The first four take an optional place (before the =): "@2.0" a head, "@2" a layer,
/// "@encoder", "@decoder", "@cross" all layers of a kind, "@*" everywhere. mask and unmask take rows and
/// columns "16", "3-5", "16.." (to the end), "*" (all). Refuses values that would overflow.
Result<Change> parse_change(const ModelConfig& config, const std::string& text);

/// Spells a change as parse_change reads it; a frozen pattern without a source text has no spelling.
std::string change_name(const ModelConfig& config, const Change& change);
std::string change_label(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);

}  // namespace headlight
