// Spells a model with an adapter on it: MODEL+ADAPTER=STRENGTH, "gpt2+/home/me/poems=0.5".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace headlight {

/// Bounds the strength of an adapter: 0 leaves the model as it is, 1 is as trained.
inline constexpr float kLeastStrength = -8, kLargestStrength = 8;

struct AdaptedModel {
    std::string model;  // path or name; "": the one that the adapter names
    std::filesystem::path adapter;
    float strength = 1;
    std::string spelled() const;
};

/// Reads MODEL+ADAPTER=STRENGTH, ADAPTER=STRENGTH or ADAPTER, a folder; nothing: it is no adapted model.
/// Fails if the strength is none.
Result<std::optional<AdaptedModel>> read_adapted(const std::string& spelled);

/// Splits a spelling of `spelled()` into what stands before the strength, and the strength; nothing: it ends
/// in none. Never reads the disk.
std::optional<std::pair<std::string, float>> split_strength(const std::string& spelled);
/// "0.5", "-1": as spellings and commands have it.
std::string strength_text(float strength);
/// Spells the same model and adapter at another strength, likewise.
std::string at_strength(const std::string& spelled, float strength);
/// Returns whether two spellings name the same adapter on the same model.
bool only_strength_differs(const std::string& spelled, const std::string& other);

/// Reads FOLDER or FOLDER=STRENGTH, as the command line takes it.
Result<AdaptedModel> read_adapter(const std::string& spelled);

/// Spells a model with an adapter on it, as read_adapter takes it; the model alone if there is none.
Result<std::string> with_adapter(const std::string& model, const std::string& adapter);

}  // namespace headlight
