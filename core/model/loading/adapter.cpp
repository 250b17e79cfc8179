// Reads adapters and adds them to matrices.
#include "model/loading/adapter.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/quoted.h"
#include "io/safetensors.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMaxRank = 1 << 14;

/// Returns a number of each module by the end of its name.
Result<std::map<std::string, double>> read_pattern(const Json& root, const char* key,
                                                   const std::string& file) {
    std::map<std::string, double> out;
    const Json* const found = json_find(root, or_null(key));
    if (!found) return out;
    const Error wrong{file + ": \"" + key + "\" must map names of modules to positive numbers; save the " +
                      "adapter with a current peft."};
    if (!found->is_object()) return wrong;
    for (const auto& [name, value] : found->items()) {
        if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > 1e9) return wrong;
        const std::string plain = name.starts_with("^") ? name.substr(1) : name;
        if (plain.find_first_of("*+?()[]{}|^$\\") != std::string::npos)
            return Error{file + ": \"" + key + "\" selects modules by the pattern " + in_quotes(name) +
                         ", which is not read; save the adapter with their names, or merge it with " +
                         "merge_and_unload()."};
        out[plain] = value.get<double>();
    }
    return out;
}

/// Returns the value of the module, or the usual one.
double of_module(const std::map<std::string, double>& pattern, const std::string& module, double usual) {
    for (const auto& [name, value] : pattern)
        if (module == name || module.ends_with("." + name)) return value;
    return usual;
}

Result<double> positive_number(const Json& root, const char* key, double usual, const std::string& file) {
    const Json* const found = json_find(root, or_null(key));
    if (!found) return usual;
    if (found->is_number() && std::isfinite(found->get<double>()) && found->get<double>() > 0)
        return found->get<double>();
    return Error{file + ": \"" + key + "\" must be a positive number; correct the file."};
}

/// Fails if a key says what no pass computes.
Status check_neutral(const Json& root, const std::string& file) {
    for (const char* key :
         {"layer_replication", "alora_invocation_tokens", "arrow_config", "use_qalora", "lora_bias"}) {
        const Json* const found = json_find(root, or_null(key));
        if (!found || *found == false || found->empty()) continue;
        return Error{file + ": \"" + key + "\" changes the model in a way that is not computed; in Python, " +
                     "merge_and_unload() makes one model of both."};
    }
    return success();
}

/// Cuts an ending off; false: the name does not end so.
bool cut(std::string& name, const std::string& ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
}

/// [out]: the lengths of what makes each output, of W and the adapter together.
std::vector<float> lengths(const Linear& w) {
    std::vector<double> squares(static_cast<size_t>(w.out));
    const bool of_outputs = w.layout == WeightLayout::out_in;
    Vector row(of_outputs ? w.in : w.out);
    for (int64_t i = 0; i < (of_outputs ? w.out : w.in); ++i) {
        w.read(i, 0, row.size(), row.data());
        if (of_outputs) squares[size_t(i)] = row.cast<double>().squaredNorm();
        for (int64_t o = 0; !of_outputs && o < w.out; ++o) squares[size_t(o)] += double(row[o]) * row[o];
    }
    std::vector<float> out;
    for (const double square : squares) out.push_back(float(std::sqrt(square)));
    return out;
}

}  // namespace

int64_t AdapterConfig::rank_of(const std::string& module) const {
    return int64_t(of_module(ranks, module, double(rank)));
}

Result<AdapterConfig> parse_adapter_config(const Json& root, const std::string& file) {
    if (!root.is_object()) return Error{file + " is no JSON object; save the adapter again."};
    TRY(const std::string type, json_string(root, or_null("peft_type"), "", file));
    if (type != "LORA")
        return Error{file + ": adapters of the type " + in_quotes(type) +
                     " are not computed, only LORA; in Python, merge_and_unload() makes one model of both, " +
                     "where the type can."};
    TRY_STATUS(check_neutral(root, file));
    AdapterConfig out;
    TRY(out.base, json_string(root, or_null("base_model_name_or_path"), "", file));
    TRY(const double rank, positive_number(root, "r", 8, file));
    if (rank != std::floor(rank) || rank > double(kMaxRank))
        return Error{file + ": \"r\" must be a whole number up to " + std::to_string(kMaxRank) +
                     "; correct the file."};
    out.rank = int64_t(rank);
    TRY(out.alpha, positive_number(root, "lora_alpha", 8, file));
    TRY(out.root, json_boolean(root, or_null("use_rslora"), false, file));
    TRY(out.magnitudes, json_boolean(root, or_null("use_dora"), false, file));
    TRY(out.ranks, read_pattern(root, "rank_pattern", file));
    TRY(out.alphas, read_pattern(root, "alpha_pattern", file));
    return out;
}

namespace {

/// The folder's name; of a snapshot in the hub's cache, models--OWNER--NAME/snapshots/…, NAME.
std::string own_name(const fs::path& folder) {
    const fs::path snapshots = folder.parent_path();
    if (snapshots.filename() != "snapshots") return printable(folder.filename().string());
    const std::string repository = snapshots.parent_path().filename().string();
    const size_t at = repository.rfind("--");
    return printable(at == std::string::npos ? repository : repository.substr(at + 2));
}

}  // namespace

std::string adapter_name(const fs::path& folder, float strength) {
    const std::string name = own_name(folder);
    return strength == 1 ? name : name + " × " + decimals(strength, 2);
}

bool is_adapter(const fs::path& folder) {
    std::error_code ignored;
    const auto has = [&](const char* file) { return fs::exists(folder / file, ignored); };
    return has("adapter_config.json") && !has("model.safetensors") && !has("model.safetensors.index.json");
}

Result<Adapter> Adapter::open(const fs::path& folder, float strength) {
    Adapter out;
    out.folder_ = folder;
    out.strength_ = strength;
    TRY(const Json root, read_json(folder / "adapter_config.json"));
    TRY(out.config_, parse_adapter_config(root, display_path(folder / "adapter_config.json")));
    std::error_code ignored;
    if (!fs::exists(folder / "adapter_model.safetensors", ignored))
        return Error{display_path(folder) +
                     " has no adapter_model.safetensors; save the adapter with a current peft."};
    TRY(Safetensors file, open_safetensors(folder / "adapter_model.safetensors"));
    out.file_ = file.file;
    for (auto& [stored, tensor] : file.tensors) {
        constexpr std::string_view kPrefix = "base_model.model.";
        out.tensors_[stored.starts_with(kPrefix) ? stored.substr(kPrefix.size()) : stored] = tensor;
    }
    for (const auto& [name, tensor] : out.tensors_) TRY_STATUS(out.read_module(name, tensor));
    for (const auto& [module, own] : out.modules_)
        if (!own.a || !own.b || bool(own.magnitude) != out.config_.magnitudes)
            return out.does_not_fit(module, "lacks one of its matrices");
    return out;
}

/// Notes a tensor by the module that it is trained for; others take the place of the model's.
Status Adapter::read_module(const std::string& name, const StoredTensor& tensor) {
    std::string module = name;
    cut(module, ".weight");
    cut(module, ".default");
    if (cut(module, ".lora_A")) {
        modules_[module].a = &tensor;
    } else if (cut(module, ".lora_B")) {
        modules_[module].b = &tensor;
    } else if (cut(module, ".lora_embedding_A")) {
        modules_[module].a = &tensor;
        modules_[module].embedding = true;
    } else if (cut(module, ".lora_embedding_B")) {
        modules_[module].b = &tensor;
    } else if (cut(module, ".lora_magnitude_vector")) {
        modules_[module].magnitude = &tensor;
    } else if (module.find(".lora_") != std::string::npos) {
        return does_not_fit(name, "is a kind of adapter that is not computed");
    }
    return success();
}

AdapterInfo Adapter::info() const {
    AdapterInfo out{folder_, own_name(folder_), config_.base, strength_, 0, 0};
    for (const LowRank& own : added_) out.rank = std::max(out.rank, own.rank);
    out.matrices = isize(added_);
    return out;
}

std::map<std::string, StoredTensor> Adapter::take_replacing() {
    std::map<std::string, StoredTensor> out;
    constexpr std::string_view kWrapped = ".base_layer.";  // a whole embedding, saved beside what it adds
    for (const auto& [name, tensor] : tensors_) {
        if (name.find(".lora_") != std::string::npos) continue;
        const size_t at = name.find(kWrapped);
        out[at == std::string::npos ? name : name.substr(0, at) + "." + name.substr(at + kWrapped.size())] =
            tensor;
    }
    return out;
}

Error Adapter::does_not_fit(const std::string& module, const std::string& why) const {
    return {display_path(folder_) + ": " + shortened(module) + " " + why +
            "; use the adapter with the model that it was trained on" +
            (config_.base.empty() ? "" : ", " + in_quotes(config_.base)) + "."};
}

const float* Adapter::transposed(const float* values, int64_t rows, int64_t columns) {
    std::vector<float>& out = values_->emplace_back(size_t(rows * columns));
    Eigen::Map<Matrix>(out.data(), columns, rows) = ConstMatrixMap(values, rows, columns).transpose();
    return out.data();
}

Result<const float*> Adapter::values(const StoredTensor& tensor, const std::vector<int64_t>& shape,
                                     const std::string& name) {
    if (tensor.shape != shape)
        return does_not_fit(name, "has the shape " + shape_text(tensor.shape) + " where " +
                                      shape_text(shape) + " is called for");
    if (!tensor.dtype->holds_weights()) return does_not_fit(name, "is not stored as weights");
    std::vector<float>& out = values_->emplace_back(size_t(element_count(shape)));
    const std::vector<std::byte> aligned(tensor.bytes.begin(), tensor.bytes.end());
    tensor.dtype->decode(aligned.data(), std::ssize(out), out.data());
    return out.data();
}

Status Adapter::read_factors(const std::string& name, const Module& own, int64_t rank, LowRank& into) {
    if (!own.embedding) {
        TRY(into.a, values(*own.a, {rank, into.in}, name + ".lora_A"));
        TRY(into.b, values(*own.b, {into.out, rank}, name + ".lora_B"));
        return success();
    }
    if (own.magnitude)
        return does_not_fit(name, "has lengths of an embedding (DoRA), which are not computed");
    TRY(const float* rows, values(*own.a, {rank, into.out}, name + ".lora_embedding_A"));
    TRY(const float* columns, values(*own.b, {into.in, rank}, name + ".lora_embedding_B"));
    into.a = transposed(columns, into.in, rank);
    into.b = transposed(rows, rank, into.out);
    return success();
}

/// Keeps what is added to a matrix, or puts it in place of what the module adds already.
void Adapter::add(Module& own, LowRank added, const std::string& name, const Linear& w) {
    const double alpha = of_module(config_.alphas, name, config_.alpha), root = std::sqrt(double(added.rank));
    const bool of_outputs = w.layout == WeightLayout::out_in;
    added.base = w.weight;
    added.stride = of_outputs ? w.stride : w.dtype->size(1);
    if (!own.number) {
        own.number = added_.size();
        shares_.push_back(alpha / (config_.root ? root : double(added.rank)));
        matrices_.push_back(w);
        added_.push_back(added);
    }
    const size_t i = *own.number;
    matrices_[i] = w;
    added_[i] = added;
    added_[i].strength = float(strength_ * shares_[i]);
    set_factors(i);
}

Status Adapter::attach(const std::string& name, Linear& w) {
    const auto found = modules_.find(name);
    if (found == modules_.end()) return success();
    Module& own = found->second;
    const int64_t rank = own.a->shape.empty() ? 0 : own.a->shape[0], said = config_.rank_of(name);
    if (rank != said || rank <= 0 || rank > kMaxRank)
        return does_not_fit(name, "has the rank " + std::to_string(rank) +
                                      " where adapter_config.json says " + std::to_string(said));
    LowRank added{.in = w.in, .out = w.out, .rank = rank};
    if (own.number) {
        added = added_[*own.number];
        if (added.in != w.in || added.out != w.out)
            return does_not_fit(name, "is a matrix of two shapes in this model");
    } else {
        TRY_STATUS(read_factors(name, own, rank, added));
        if (own.magnitude) {
            TRY(added.magnitudes, values(*own.magnitude, {w.out}, name + ".lora_magnitude_vector"));
        }
    }
    add(own, added, name, w);
    w.adapter = &added_[*own.number];
    return success();
}

/// f = magnitude / length of (W + strength · B A), of each output.
void Adapter::set_factors(size_t i) {
    LowRank& added = added_[i];
    added.factors = nullptr;
    if (!added.magnitudes || added.strength == 0) return;
    Linear w = matrices_[i];
    w.adapter = &added;
    std::vector<float> factors = lengths(w);
    for (int64_t o = 0; o < w.out; ++o)
        factors[size_t(o)] = factors[size_t(o)] > 0 ? added.magnitudes[o] / factors[size_t(o)] : 0;
    added.factors = factors_.emplace_back(std::move(factors)).data();
}

std::shared_ptr<Adapter> Adapter::at_strength(float strength) const {
    std::shared_ptr<Adapter> out(new Adapter);
    out->folder_ = folder_;
    out->config_ = config_;
    out->strength_ = strength;
    out->file_ = file_;
    out->added_ = added_;
    out->matrices_ = matrices_;
    out->shares_ = shares_;
    out->values_ = values_;
    for (size_t i = 0; i < added_.size(); ++i) {
        out->added_[i].strength = float(strength * shares_[i]);
        out->set_factors(i);
    }
    return out;
}

const LowRank* Adapter::in_place_of(const Adapter& other, const LowRank* of) const {
    size_t i = 0;
    while (i < other.added_.size() && &other.added_[i] != of) ++i;
    HEADLIGHT_CHECK(i < added_.size());
    return &added_[i];
}

Status Adapter::finish() const {
    for (const auto& [module, own] : modules_)
        if (!own.number) return does_not_fit(module, "is no matrix of this model that can be adapted");
    return success();
}

}  // namespace headlight
