// Adapters in PEFT's files: adapter_config.json and adapter_model.safetensors, which say what a person has
// trained on top of a model (LoRA: Hu et al. 2021; DoRA: Liu et al. 2024). Format: huggingface.co/docs/peft.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>

#include "io/json.h"
#include "io/tensor.h"
#include "model/low_rank.h"

namespace headlight {

/// Holds what adapter_config.json says.
struct AdapterConfig {
    std::string base;                             // name of the model that it changes
    int64_t rank = 8;                             // of its matrices,
    double alpha = 8;                             // by whose share of it they are multiplied,
    bool root = false;                            // or by α / √rank (Kalajdzievski 2023)
    bool magnitudes = false;                      // DoRA
    std::map<std::string, double> ranks, alphas;  // of modules whose names end so
};
Result<AdapterConfig> parse_adapter_config(const Json& root, const std::string& file);

/// Names an adapter for users and answers.
struct AdapterInfo {
    std::filesystem::path folder;
    std::string name, base;
    float strength = 1;    // 0: the base alone; 1: as trained
    int64_t matrices = 0;  // that it changes
    int64_t rank = 0;      // the largest
};

/// "poems", or "poems × 0.5" at another strength than 1.
std::string adapter_name(const std::filesystem::path& folder, float strength);

/// Returns whether a folder holds an adapter and no model of its own.
bool is_adapter(const std::filesystem::path& folder);

/// Adds an adapter to the matrices of a model. Keeps its files mapped, and what `attach` points to.
class Adapter {
public:
    static Result<Adapter> open(const std::filesystem::path& folder, float strength);

    const AdapterConfig& config() const { return config_; }
    AdapterInfo info() const;
    /// Returns whether its file is as it was when it was opened.
    bool unchanged() const { return !file_ || file_->check_unchanged(); }
    /// Returns the same adapter at another strength, once it is attached; and what it adds to a matrix in
    /// place of what another strength adds to it.
    std::shared_ptr<Adapter> at_strength(float strength) const;
    const LowRank* in_place_of(const Adapter& other, const LowRank* of) const;
    /// Hands over the tensors that take the place of the model's (modules_to_save, biases), under the names
    /// of the model's files.
    std::map<std::string, StoredTensor> take_replacing();
    const std::shared_ptr<const MappedFile>& file() const { return file_; }
    /// Adds what is trained for the matrix NAME.weight, if anything is. Fails if shapes differ.
    Status attach(const std::string& name, Linear& w);
    /// Fails if it changes something that was never attached.
    Status finish() const;

    Adapter(Adapter&&) = default;
    Adapter& operator=(Adapter&&) = default;

private:
    Adapter() = default;
    struct Module {
        const StoredTensor *a = nullptr, *b = nullptr, *magnitude = nullptr;
        bool used = false;
    };
    Result<const float*> values(const StoredTensor& tensor, const std::vector<int64_t>& shape,
                                const std::string& name);
    void set_factors(size_t i);
    Error does_not_fit(const std::string& module, const std::string& why) const;

    std::filesystem::path folder_;
    AdapterConfig config_;
    float strength_ = 1;
    std::shared_ptr<const MappedFile> file_;
    std::map<std::string, StoredTensor> tensors_;
    std::map<std::string, Module> modules_;  // by the name of the matrix
    std::deque<LowRank> added_;
    std::deque<Linear> matrices_;  // to which they are added
    std::deque<double> shares_;    // α / rank of each, or α / √rank
    using Vectors = std::deque<std::vector<float>>;
    std::shared_ptr<Vectors> values_ = std::make_shared<Vectors>();  // A, B, magnitudes: of all strengths
    Vectors factors_;                                                // of this one
};

}  // namespace headlight
