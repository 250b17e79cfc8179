// Opens models and answers for their configuration.
#include "model/model.h"

#include <algorithm>
#include <thread>

#include "base/memory.h"
#include "base/quoted.h"
#include "chat/files.h"
#include "io/gguf_parts.h"
#include "model/families.h"
#include "model/loading/config.h"
#include "model/loading/gguf_model.h"
#include "model/loading/quantized/quantization.h"
#include "model/loading/slots.h"
#include "model/mixers/disentangled.h"
#include "tokenizer/files.h"
#include "tokenizer/folder.h"
#include "tokenizer/gguf_tokenizer.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// Reports steps and stops between them.
class OpeningSteps {
public:
    OpeningSteps(const CancelFlag* cancel, OpeningProgress* progress)
        : cancel_(cancel), progress_(progress) {}
    Status begin(const char* what) {
        if (progress_) progress_->step.store(what, std::memory_order_relaxed);
        if (stopped(cancel_)) return cancelled();
        return success();
    }

private:
    const CancelFlag* cancel_;
    OpeningProgress* progress_;
};

/// Refuses a model that does not fit in memory: every pass reads all weights, and would read them from disk.
Status check_memory(const WeightStore& store, const fs::path& path) {
    const int64_t needed = store.bytes_in_use(), free = available_memory();
    if (free <= 0 || needed <= free) return success();
    return Error{display_path(path) + " needs " + short_bytes(needed) + " of memory, but only " +
                 short_bytes(free) +
                 " are free; close other programs, or use a smaller or more strongly quantized model."};
}

/// Finds the transformer of a sentence-transformers folder, which modules.json names.
Result<fs::path> model_folder(const fs::path& path) {
    std::error_code ignored;
    if (fs::exists(path / "config.json", ignored) || !fs::exists(path / "modules.json", ignored)) return path;
    TRY(const Json modules, read_json(path / "modules.json"));
    for (const Json& m : modules.is_array() ? modules : Json::array()) {
        const std::string sub =
            m.is_object() && m.contains("path") && m["path"].is_string() ? m["path"].get<std::string>() : "";
        if (sub.find("..") == std::string::npos && !fs::path(sub).is_absolute() &&
            fs::exists(path / sub / "config.json", ignored))
            return path / sub;
    }
    return path;
}

/// Returns the folder of a model's tokenizer: that of its weights; for a checkpoint of a training run
/// (checkpoint-500, as transformers names it) the run's folder, if only that has one.
fs::path tokenizer_folder(const fs::path& folder) {
    std::error_code ignored;
    const fs::path full = fs::weakly_canonical(folder, ignored), run = full.parent_path();
    const bool of_run = full.filename().string().starts_with("checkpoint-") &&
                        !fs::exists(full / "tokenizer_config.json", ignored) &&
                        fs::exists(run / "tokenizer_config.json", ignored);
    return of_run ? run : folder;
}

/// Corrects the configuration by what the file holds.
void say_what_is_stored(ModelConfig& config, const ModelWeights& weights) {
    if (weights.unembedding)
        config.tied_unembedding = weights.unembedding.weight == weights.stacks.back().token_embedding.weight;
    else
        config.mlm_head = config.plain_head = false;  // a base model of a family that has one
    config.shared_embedding &=
        weights.stacks.front().token_embedding.weight == weights.stacks.back().token_embedding.weight;
}

int mask_of(const Tokenizer& tokenizer) {
    for (const char* spelling : {"[MASK]", "<mask>"})
        if (const int id = tokenizer.id_of(spelling); id >= 0) return id;
    return -1;
}

/// Keeps a model's chat templates, or why they cannot be read.
void keep_chat(Model& model, Result<ChatTemplates> read) {
    if (read)
        model.chat = std::make_shared<const ChatTemplates>(*std::move(read));
    else
        model.chat = read.error();
}

Status fill_from_gguf(Model& model, const fs::path& path, OpeningSteps& steps) {
    const std::string name = display_path(path);
    TRY(GgufModel parts, open_gguf_model(path));
    TRY(model.config, gguf_config(parts.whole, name));
    TRY_STATUS(steps.begin("reading the tokenizer"));
    model.tokenizer = gguf_tokenizer(parts.whole, name);
    keep_chat(model, gguf_chat_templates(parts.whole, name));
    *model.store = WeightStore::of_files(std::move(parts.files), name, true);
    return success();
}

Status fill_from_folder(Model& model, const fs::path& folder, OpeningSteps& steps) {
    TRY(model.config, headlight::read_config(folder));
    if (!model.config.quantization.readable())
        return quantized_weights(display_path(folder), model.config.quantization.name);
    TRY_STATUS(steps.begin("mapping the weights"));
    TRY(*model.store, WeightStore::open(folder));
    if (model.config.can.read_image) return success();
    TRY_STATUS(steps.begin("reading the tokenizer"));
    const auto described = read_tokenizer_folder(tokenizer_folder(folder));
    if (!described) {
        model.tokenizer = described.error();
        model.chat = described.error();
        return success();
    }
    keep_chat(model, read_chat_templates(*described));
    auto files = open_tokenizer_files(*described);
    if (!files) {
        model.tokenizer = files.error();
        return success();
    }
    model.tokenizer = files->source;
    if (files->target) model.separate_target = files->target;
    return success();
}

std::string file_name(const fs::path& path) {
    std::error_code ignored;
    const fs::path full = fs::weakly_canonical(path, ignored);
    return full.extension() == ".gguf" ? gguf_name(full) : full.filename().string();
}

Status check_exists(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Error{display_path(path) + " does not exist; check the path."};
    if (!fs::is_directory(path, ignored) && !is_gguf(path))
        return Error{display_path(path) +
                     " is not a GGUF file; Headlight opens GGUF files and Hugging Face folders (config.json "
                     "and safetensors), so name one of these."};
    return success();
}

/// Keeps the adapter that the weights were bound with. Fails if it changes something else too, or a matrix
/// whose outputs or inputs were put in another order than the file's.
Status keep_adapter(Model& model, const std::shared_ptr<Adapter>& adapter) {
    if (!adapter) return success();
    TRY_STATUS(adapter->finish());
    model.adapter = adapter;
    if (model.config.shared_embedding && model.weights.stacks.size() > 1 &&
        model.weights.stacks[0].token_embedding.adapter)
        return Error{adapter->info().name +
                     " adapts an embedding that encoder and decoder share, which is not computed; in Python, "
                     "merge_and_unload() makes one model of both."};
    for (const Linear* w : matrices_of(model.weights, true))
        if (*w && w->adapter && !w->adapter->adds_to(*w))
            return Error{adapter->info().name + " adapts a matrix that " + model.config.family_name +
                         " holds in another order than its files, which is not computed; in Python, "
                         "merge_and_unload() makes one model of both."};
    return success();
}

std::string name_with_adapter(const Model& model) {
    if (!model.adapter) return model.base_name;
    const AdapterInfo info = model.adapter->info();
    return model.base_name + " + " + adapter_name(info.folder, info.strength);
}

/// Projects the vectors of distances that disentangled attention reads.
Status project_positions(Model& model) {
    if (!model.weights.stacks.front().relative_embedding) return success();
    return guarded([&]() -> Status {
        ThreadPool pool(int(std::max(1u, std::thread::hardware_concurrency())));
        project_distances(model, pool);
        return success();
    });
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::open(const fs::path& path, const CancelFlag* cancel,
                                                 OpeningProgress* progress, const std::string& name,
                                                 std::shared_ptr<Adapter> adapter) {
    OpeningSteps steps(cancel, progress);
    TRY_STATUS(check_exists(path));
    TRY_STATUS(steps.begin("reading the configuration"));
    std::error_code ignored;
    auto model = std::make_shared<Model>();
    model->path = path;
    if (fs::is_directory(path, ignored)) {
        TRY(const fs::path folder, model_folder(path));
        TRY_STATUS(fill_from_folder(*model, folder, steps));
    } else {
        TRY_STATUS(fill_from_gguf(*model, path, steps));
    }
    if (model->config.mask_id < 0 && model->tokenizer) model->config.mask_id = mask_of(**model->tokenizer);
    TRY_STATUS(check_memory(*model->store, path));
    model->store->stop_on(cancel);
    if (!model->store->is_gguf()) {
        TRY_STATUS(steps.begin("laying out quantized weights"));
        TRY_STATUS(guarded([&] { return model->store->lay_out(model->config.quantization); }));
    }
    TRY_STATUS(steps.begin("binding the weights"));
    if (adapter) model->store->adapt(adapter);
    auto bound = bind_weights(*model->store, model->config, find_family(model->config.family)->tensors);
    if (stopped(cancel)) return cancelled();
    model->store->stop_on(nullptr);
    TRY(model->weights, std::move(bound));
    say_what_is_stored(model->config, model->weights);
    TRY_STATUS(keep_adapter(*model, adapter));
    if (model->weights.stacks.front().relative_embedding) TRY_STATUS(steps.begin("projecting the positions"));
    TRY_STATUS(project_positions(*model));
    model->packed = std::make_shared<PackedWeights>(matrices_of(model->weights));
    TRY_STATUS(model->store->check_unchanged());
    model->base_name = printable(name.empty() ? file_name(path) : name);
    model->name = name_with_adapter(*model);
    return std::shared_ptr<const Model>(model);
}

Result<std::shared_ptr<const Model>> Model::at_strength(float strength) const {
    HEADLIGHT_CHECK(adapter);
    auto out = std::make_shared<Model>(*this);
    const std::shared_ptr<const Adapter> own = adapter->at_strength(strength);
    out->adapter = own;
    out->name = name_with_adapter(*out);
    const auto replace = [&](Linear& w) {
        if (w.adapter) w.adapter = own->in_place_of(*adapter, w.adapter);
    };
    for (Linear* w : matrices_of(out->weights, true)) replace(*w);
    TRY_STATUS(project_positions(*out));
    return std::shared_ptr<const Model>(out);
}

Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const fs::path& path) {
    TRY_STATUS(check_exists(path));
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        TRY(const Gguf file, open_gguf(gguf_part_paths(path)[0]));
        return gguf_tokenizer(file, display_path(path));
    }
    TRY(const fs::path folder, model_folder(path));
    TRY(const TokenizerPair files, open_tokenizer_files(tokenizer_folder(folder)));
    return files.source;
}

Result<ModelConfig> open_config(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && path.extension() == ".json") {
        if (path.filename() == "config.json") return headlight::read_config(path.parent_path());
        TRY(const Json root, read_json(path, JsonNumbers::any));
        return parse_config(root, display_path(path));
    }
    TRY_STATUS(check_exists(path));
    if (!fs::is_directory(path, ignored)) {
        TRY(const GgufModel parts, open_gguf_model(path));
        return gguf_config(parts.whole, display_path(path));
    }
    TRY(const fs::path folder, model_folder(path));
    return headlight::read_config(folder);
}

}  // namespace headlight
