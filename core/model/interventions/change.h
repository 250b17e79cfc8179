// What a person changes in a forward pass.
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

/// In the order of the table of changes (change.cpp).
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
    positions,
    patch_resid,
    patch_attention,
    patch_mlp,
    patch_head,
    noise
};

/// What a kind of change acts on: a head's rule, cells painted onto its mask, a whole part of a layer,
/// where a stack's tokens stand, or rows of what a layer computes.
enum class ChangeTarget { head, cells, attention, mlp, positions, rows };

/// Which attention blocks a change concerns that names no single one. usual: a temperature every block;
/// anything else every self-attention block, because its cells are those of one text.
enum class Blocks { usual, encoder, decoder, cross, all };

/// As many rows or columns as there are, and will be as a text is written.
inline constexpr int kToEnd = 1 << 24;

/// Scores and temperatures within these never overflow together: |score| at most, and the least that is not
/// 0, hard.
inline constexpr float kLargestScore = 1e30f, kMinTemperature = 1e-6f;

/// The value of a change that switches positions off, and the largest seed that shuffles them.
inline constexpr float kNoPositions = -1, kLargestSeed = 1 << 20;

/// One change. Unset places mean several: block −1 the blocks that `blocks` says, head −1 every head.
struct Change {
    ChangeKind kind = ChangeKind::zero;
    int block = -1, head = -1;
    int query = -1, key = -1;  // of mask, unmask and score; query: of patches and noise, the first position
    float value = 0;  // temperature (0: hard, infinite: uniform), the score, or the seed of an order of
                      // positions (kNoPositions: none) or of noise
    std::shared_ptr<const Matrix> pattern;  // freeze: [queries, keys]; patches and noise: [positions, width];
                                            // none: what is computed stays
    std::string from;           // freeze, patches: the text that it is of; patches, empty: the unchanged run
    int queries = 1, keys = 1;  // of mask and unmask: rows and columns of the rectangle that begins at
                                // query, key; queries: of patches and noise; kToEnd: all from there on
    Blocks blocks = Blocks::usual;

    bool operator==(const Change&) const = default;
    bool concerns(const ModelConfig& config, int of_block) const;
    bool concerns(const ModelConfig& config, int of_block, int of_head) const;
    bool paints() const;  // cells, onto masks
};

/// What people read in place of numbers: the labels of the block's queries and keys.
struct ChangeTokens {
    const std::vector<std::string>&queries, &keys;
};

/// A row of the table of changes: the only place to add one.
struct ChangeRow {
    ChangeKind kind;
    ChangeTarget target;
    const char* name;   // before the colon of --change; of an ablation behind "ablate:L.H:"
    const char* alias;  // an older spelling; null: none
    const char* help;   // what it does, for people
    bool ablates;       // a head is ablated: --ablate reads it too
    /// What stands behind the colon; `text` is the whole, for errors.
    Result<Change> (*parse)(const ModelConfig& config, const std::string& text, const std::string& rest);
    /// The inverse.
    std::string (*spell)(const ModelConfig& config, const Change& change);
    /// For people: "cat 3 → The 0 in 2.0".
    std::string (*label)(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);
    /// What it does to the rule of a head that it concerns; null where the target is no head.
    void (*apply)(const Change& change, const MaskPlan& mask, HeadRule& head);
    /// Whether every query then rests on all others, also on later ones: trace/reuse keeps no row of it.
    bool rests_on_every_query;
};
std::span<const ChangeRow> change_rows();
const ChangeRow& change_row(ChangeKind kind);
/// The rows that ablate a head.
std::span<const ChangeRow> ablations();

/// "3.5", "3.5:mean", "cross.0.2:hard", "3.5:keep": a head and how it is ablated (zero where nothing is
/// said).
Result<Change> parse_ablation(const ModelConfig& config, const std::string& text);

/// A number from kMinTemperature up to kLargestScore, 0 (hard) or "inf" (uniform).
Result<float> parse_temperature(const std::string& text);

/// Everything else of --change: "temperature:0.5", "mask:16>10", "unmask:3-5>9-12", "score:16>10=4.5",
/// "freeze:2.0=TEXT", "skip-attention:3", "skip-mlp:3", "positions:off@encoder", "positions:shuffle:7",
/// "patch-resid:16@3=TEXT", "patch-head:*@2.0" (of the unchanged run), "noise:3-5=SEED".
/// Behind the first four (before the =) a place may
/// stand: "@2.0" a head, "@2" a layer,
/// "@encoder", "@decoder", "@cross" all layers of a kind, "@*" everywhere. Rows and columns of mask and
/// unmask: "16", "3-5", "16.." (and later), "*" (all). "forbid" and "allow" are read as mask and unmask.
/// Values whose use would overflow are refused.
Result<Change> parse_change(const ModelConfig& config, const std::string& text);

/// As parse_change reads it; a frozen pattern that comes from no text has no spelling.
std::string change_name(const ModelConfig& config, const Change& change);
/// As people read it.
std::string change_label(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);

}  // namespace headlight
