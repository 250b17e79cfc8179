// Adapters in PEFT's files: adapter_config.json and adapter_model.safetensors, which say what a person has
// trained on top of a model (LoRA: Hu et al. 2021; DoRA: Liu et al. 2024). Format: huggingface.co/docs/peft.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
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
    int64_t rank_of(const std::string& module) const;
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

/// Locates a matrix of an expert in the parameter of all `count` experts of a layer, where each has `outputs`
/// rows, of which the matrix is those from `first` on.
struct ExpertParameter {
    const char* name;  // as modules call it: "gate_up_proj"
    int layer = 0, expert = 0, count = 1;
    int64_t first = 0, outputs = 0;
};

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
    /// Adds what is trained for the matrix NAME.weight, if anything is; of an embedding, to a table whose
    /// rows are outputs. Again, of the same name: in place of the first. Fails if shapes differ.
    Status attach(const std::string& name, Linear& w);
    /// Adds what is trained for a parameter that holds the matrices of all experts of a layer, if anything is
    /// (target_parameters).
    Status attach_expert(const ExpertParameter& of, Linear& w);
    /// Fails if it changes something that was never attached.
    Status finish() const;

    Adapter(Adapter&&) = default;
    Adapter& operator=(Adapter&&) = default;

private:
    Adapter() = default;
    struct Module {
        const StoredTensor *a = nullptr, *b = nullptr, *magnitude = nullptr;
        bool embedding = false;                                // a [rank, rows], b [width, rank]: of a table
        std::optional<size_t> number;                          // of what it adds; of the last, of experts
        const float *expert_a = nullptr, *expert_b = nullptr;  // [experts][rank, in], [experts][out, rank]
    };
    using NamedModule = std::pair<const std::string, Module>;
    Status read_module(const std::string& name, const StoredTensor& tensor);
    Status read_factors(const std::string& name, const Module& own, int64_t rank, LowRank& into);
    NamedModule* experts_module(const ExpertParameter& of, const Linear& w);
    Status read_experts(NamedModule& module, const ExpertParameter& of, const Linear& w, int64_t rank);
    void add(Module& own, LowRank added, const std::string& name, const Linear& w);
    Result<const float*> values(const StoredTensor& tensor, const std::vector<int64_t>& shape,
                                const std::string& name);
    /// [columns, rows] of values [rows, columns], kept as they are.
    const float* transposed(const float* values, int64_t rows, int64_t columns);
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
