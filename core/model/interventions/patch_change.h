// Changes that put rows of activations in place of what a pass computes: how they are spelled and read.
#pragma once

#include <string>

#include "model/interventions/change.h"
#include "model/interventions/given_rows.h"

namespace headlight {

/// Whether a change puts values of another run in place: patch_resid … patch_head.
bool is_patch(ChangeKind kind);

/// "16@3=TEXT", "*@2.0": positions, the layer (of patch_head the head), and the text that the values are of;
/// none: those of the unchanged run.
Result<Change> parse_patch(ChangeKind kind, const ModelConfig& config, const std::string& text,
                           const std::string& rest);
std::string spell_patch(const ModelConfig& config, const Change& change);
std::string label_patch(ChangeKind kind, const ModelConfig& config, const Change& change,
                        const ChangeTokens& tokens);

/// The same as rows of the table of changes.
template <ChangeKind kind>
Result<Change> parse_patch(const ModelConfig& config, const std::string& text, const std::string& rest) {
    return parse_patch(kind, config, text, rest);
}
template <ChangeKind kind>
std::string label_patch(const ModelConfig& config, const Change& change, const ChangeTokens& tokens) {
    return label_patch(kind, config, change, tokens);
}

/// "3-5=7", "3": tokens of the text, and a seed (0).
Result<Change> parse_noise(const ModelConfig& config, const std::string& text, const std::string& rest);
std::string spell_noise(const ModelConfig& config, const Change& change);
std::string label_noise(const ModelConfig& config, const Change& change, const ChangeTokens& tokens);

/// What such a change gives: nothing as long as its values are not there.
GivenRows::Part given_part(const Change& change);

}  // namespace headlight
