// Parses and spells changes that replace rows of activations.
#pragma once

#include <string>

#include "model/interventions/change.h"
#include "model/interventions/given_rows.h"

namespace headlight {

/// Returns whether a change copies values from another run: patch_resid … patch_head.
bool is_patch(ChangeKind kind);

/// Parses "16@3=TEXT" or "*@2.0": positions, the layer (for patch_head the head), and the source text;
/// without one, the source is the unchanged run.
Result<Change> parse_patch(ChangeKind kind, const ModelConfig& config, const std::string& text,
                           const std::string& rest);
std::string spell_patch(const ModelConfig& config, const Change& change);
std::string label_patch(ChangeKind kind, const ModelConfig& config, const Change& change,
                        const ChangeTokens& tokens);

/// Instantiates parse_patch for the table of changes.
template <ChangeKind kind>
Result<Change> parse_patch(const ModelConfig& config, const std::string& text, const std::string& rest) {
    return parse_patch(kind, config, text, rest);
}
template <ChangeKind kind>
std::string label_patch(const ModelConfig& config, const Change& change, const ChangeTokens& tokens) {
    return label_patch(kind, config, change, tokens);
}

/// Parses "3-5=7" or "3": tokens of the text, and a seed (default 0).
Result<Change> parse_noise(const ModelConfig& config, const std::string& text, const std::string& rest);
std::string spell_noise(const ModelConfig& config, const Change& change);
std::string label_noise(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);

/// Returns the rows that such a change gives; none until its values are known.
GivenRows::Part given_part(const Change& change);

}  // namespace headlight
