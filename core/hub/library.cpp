// Finds models on this computer, one row per place. Places yield names and paths; models describe themselves.
#include "hub/library.h"

#include <algorithm>

#include "base/quoted.h"
#include "hub/adapted.h"
#include "hub/hub.h"
#include "io/engine_address.h"
#include "io/folder.h"
#include "io/gguf_parts.h"
#include "io/json.h"
#include "model/loading/adapter.h"
#include "model/loading/quantized/quantization.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxModels = 2000;

fs::path variable(const char* name) { return environment_text(name); }

fs::path home() { return variable("HOME"); }

using Found = std::vector<FoundModel>;

FoundModel found(std::string name, fs::path path, std::string place) {
    return {std::move(name), std::move(path), std::move(place), "", 0, ""};
}

std::vector<fs::path> entries(const fs::path& folder) { return folder_entries(folder, kMaxModels); }

/// Adds a model in parts once, by its first existing part.
void add_gguf(Found& out, const fs::path& file, const std::string& place) {
    if (file.extension() != ".gguf" || out.size() >= kMaxModels) return;
    for (const fs::path& part : gguf_part_paths(file)) {
        std::error_code ignored;
        if (part == file) return out.push_back(found(gguf_name(file), file, place));
        if (fs::exists(part, ignored)) return;
    }
}

void find_hugging_face(Found& out) {
    for (const fs::path& folder : entries(hub_cache())) {
        if (!folder.filename().string().starts_with("models--")) continue;
        const fs::path snapshot = hub_snapshot(folder);
        const std::string name = hub_repository(folder.filename().string());
        std::error_code ignored;
        const bool is_model =
            fs::exists(snapshot / "config.json", ignored) || fs::exists(snapshot / "modules.json", ignored);
        if (is_model || is_adapter(snapshot)) out.push_back(found(name, snapshot, "Hugging Face cache"));
        for (const fs::path& file : entries(snapshot)) add_gguf(out, file, "Hugging Face cache");
    }
}

void find_lm_studio(Found& out) {
    for (const fs::path& root : {home() / ".lmstudio/models", cache_folder() / "lm-studio/models"})
        for (const fs::path& publisher : entries(root))
            for (const fs::path& repository : entries(publisher))
                for (const fs::path& file : entries(repository)) add_gguf(out, file, "LM Studio");
}

/// Reads a manifest, which names layers by digest; the model is the layer of that media type.
void add_ollama(Found& out, const fs::path& root, const fs::path& manifest, const std::string& name) {
    const auto json = read_json(manifest);
    if (!json || !json->is_object() || !json->contains("layers") || !(*json)["layers"].is_array()) return;
    for (const Json& layer : (*json)["layers"]) {
        if (!layer.is_object() || layer.value("mediaType", Json()) != "application/vnd.ollama.image.model")
            continue;
        std::string digest =
            layer.contains("digest") && layer["digest"].is_string() ? layer["digest"].get<std::string>() : "";
        std::replace(digest.begin(), digest.end(), ':', '-');
        if (!digest.empty() && digest.find('/') == std::string::npos)
            out.push_back(found(name, root / "blobs" / digest, "Ollama"));
    }
}

void find_ollama(Found& out) {
    std::vector<fs::path> roots{variable("OLLAMA_MODELS"), home() / ".ollama/models",
                                "/usr/share/ollama/.ollama/models"};
    if (!roots[0].empty()) roots.resize(1);
    for (const fs::path& root : roots) {
        if (root.empty()) continue;
        std::error_code error;
        const fs::path manifests = root / "manifests";
        for (auto it = fs::recursive_directory_iterator(manifests,
                                                        fs::directory_options::skip_permission_denied, error);
             !error && it != fs::recursive_directory_iterator() && out.size() < kMaxModels;
             it.increment(error)) {
            if (!it->is_regular_file(error)) continue;
            const fs::path owner = it->path().parent_path().parent_path().filename();
            const std::string model =
                it->path().parent_path().filename().string() + ":" + it->path().filename().string();
            add_ollama(out, root, it->path(), owner == "library" ? model : owner.string() + "/" + model);
        }
    }
}

void find_llama_cpp(Found& out) {
    const fs::path root =
        variable("LLAMA_CACHE").empty() ? cache_folder() / "llama.cpp" : variable("LLAMA_CACHE");
    for (const fs::path& file : entries(root)) add_gguf(out, file, "llama.cpp cache");
}

std::vector<fs::path> built_in_places() {
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {program / "models", program.parent_path() / "models",
            program.parent_path() / "share/headlight/models", fs::path(HEADLIGHT_SOURCE_DIR) / "models"};
}

void find_built_in(Found& out) {
    for (const fs::path& place : built_in_places()) {
        const size_t before = out.size();
        for (const fs::path& folder : entries(place)) {
            std::error_code ignored;
            if (fs::exists(folder / "config.json", ignored))
                out.push_back(found(folder.filename().string(), folder, "built in"));
        }
        if (out.size() > before) return;
    }
}

using Find = void (*)(Found&);
constexpr Find kPlaces[] = {find_built_in, find_hugging_face, find_lm_studio, find_ollama, find_llama_cpp};

/// Finds the Python processes that serve a model here. They say what it is once one connects.
void find_engines(Found& out) {
    for (const std::string& address : engines_on_computer())
        out.push_back(found(name_in_path(address), address, "Python process"));
}

/// Returns 0 if it cannot be read, for example a dangling link.
int64_t size_of(const fs::path& file) {
    std::error_code error;
    const uintmax_t bytes = fs::file_size(file, error);
    return error ? 0 : static_cast<int64_t>(bytes);
}

/// Returns the bytes of a file, or of all weights in a folder; 0 if any is missing.
int64_t weight_bytes(const fs::path& given) {
    const fs::path path = out_of_hub_cache(given);
    std::error_code error;
    const bool folder = fs::is_directory(path, error);
    int64_t bytes = 0;
    for (const fs::path& file : folder ? entries(path) : gguf_part_paths(path)) {
        if (folder && file.extension() != ".safetensors") continue;
        const int64_t own = size_of(file);
        if (own == 0) return 0;
        bytes += own;
    }
    return bytes;
}

/// Fills in family, size, and why it cannot be opened.
void examine(FoundModel& m) {
    std::error_code ignored;
    const auto config = open_config(out_of_hub_cache(m.path));
    if (!fs::exists(m.path, ignored))
        m.problem = "the file is gone";
    else if (!config)
        m.problem = config.error().message;
    else if (!config->quantization.readable())
        m.problem = quantized_weights(display_path(m.path), config->quantization.name).message;
    if (config) m.family = config->family_name;
    m.bytes = fs::exists(m.path, ignored) ? weight_bytes(m.path) : 0;
    if (m.problem.empty() && fs::is_directory(m.path, ignored) && m.bytes == 0)
        m.problem = fs::exists(m.path / "pytorch_model.bin", ignored)
                        ? "its weights are a Python pickle; save them as safetensors"
                        : "its weights are not here";
}

/// The same of an adapter, which opens on the base that it names.
void examine_adapter(FoundModel& m) {
    const fs::path folder = m.path;
    m.family = "adapter";
    m.bytes = weight_bytes(folder);
    const auto root = read_json(folder / "adapter_config.json");
    const Result<AdapterConfig> config =
        root ? parse_adapter_config(*root, display_path(folder)) : root.error();
    if (!config) {
        m.problem = config.error().message;
        return;
    }
    m.family += " of " + config->base;
    m.path = AdaptedModel{.model = config->base, .adapter = folder}.spelled();
    if (!find_model(config->base))
        m.problem = "its base " + in_quotes(config->base) + " is not on this computer";
}

/// Suggests how to download a missing path that looks like a model on the hub, owner/name.
Error absent(const fs::path& path) {
    const std::string name = path.string();
    const bool is_file = path.extension() == ".gguf" || path.extension() == ".safetensors";
    const bool may_be_named =
        !is_file && std::count(name.begin(), name.end(), '/') == 1 && parse_hub_name(name);
    return {display_path(path) + " does not exist; check the path, or " +
            (may_be_named
                 ? "get the model of that name from the Hugging Face hub: headlight fetch " + name + "."
                 : "use the built-in model stories (headlight models lists what is on this computer, "
                   "headlight fetch OWNER/NAME gets a model from the Hugging Face hub).")};
}

}  // namespace

FoundModel examine_model(const fs::path& path, const std::string& name, const std::string& place) {
    FoundModel m = found(name, path, place);
    examine(m);
    return m;
}

std::vector<FoundModel> models_on_computer() {
    Found out;
    for (const Find find : kPlaces) find(out);
    for (FoundModel& m : out) is_adapter(m.path) ? examine_adapter(m) : examine(m);
    find_engines(out);
    return out;
}

namespace {

/// Returns the built-in model of that name; empty if there is none.
fs::path built_in(const std::string& name) {
    std::error_code ignored;
    if (name.find('/') == std::string::npos)
        for (const auto& place : built_in_places())
            if (fs::exists(place / name / "config.json", ignored)) return place / name;
    return {};
}

/// Returns whether a path leads to a model, even if a built-in one has that name.
bool leads_to_model(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path / "config.json", ignored) || fs::is_regular_file(path, ignored);
}

}  // namespace

fs::path built_in_folder(const std::string& name) {
    std::error_code ignored;
    for (const fs::path& place : built_in_places())
        if (fs::is_directory(place / name, ignored)) return place / name;
    return built_in_places().back() / name;
}

std::string model_key(const std::string& path_or_name) {
    std::error_code ignored;
    if (is_engine_address(path_or_name)) return keep_token(path_or_name);
    if (const auto adapted = read_adapted(path_or_name); adapted && *adapted) {
        AdaptedModel out = **adapted;
        if (!out.model.empty()) out.model = model_key(out.model);
        out.adapter = fs::weakly_canonical(absolute_path(out.adapter), ignored);
        return out.spelled();
    }
    const fs::path given = expand_home(path_or_name);
    const bool is_path = given.is_absolute() || leads_to_model(given) ||
                         (built_in(path_or_name).empty() && fs::exists(given, ignored));
    if (given.empty() || !is_path) return path_or_name;
    fs::path full = absolute_path(given);
    if (fs::is_directory(full, ignored)) return fs::weakly_canonical(full, ignored).string();
    if (!fs::exists(full, ignored)) full = full.lexically_normal();
    if (!full.has_filename()) full = full.parent_path();
    const fs::path folder = fs::weakly_canonical(full.parent_path(), ignored);
    return ((ignored ? full.parent_path() : folder) / full.filename()).string();
}

Result<fs::path> find_model(const std::string& path_or_name) {
    std::error_code ignored;
    const fs::path given = expand_home(path_or_name);
    if (leads_to_model(given)) return given;
    if (const fs::path there = built_in(path_or_name); !there.empty()) return there;
    if (!path_or_name.empty() && fs::exists(given, ignored)) return out_of_hub_cache(given);
    if (const auto named = parse_hub_name(path_or_name); named)
        if (const fs::path there =
                hub_model(hub_snapshot(hub_folder(hub_cache(), named->repository), named->revision));
            !there.empty())
            return there;
    Found out;
    for (const Find find : kPlaces) find(out);
    for (const FoundModel& m : out)
        if (m.name == path_or_name && !is_adapter(m.path)) return m.path;
    return absent(given);
}

namespace {

Result<std::shared_ptr<const Model>> open_adapted(const AdaptedModel& wanted, const CancelFlag* cancel,
                                                  OpeningProgress* progress,
                                                  const std::shared_ptr<const Model>& open) {
    TRY(Adapter adapter, Adapter::open(wanted.adapter, wanted.strength));
    const std::string base = wanted.model.empty() ? adapter.config().base : wanted.model;
    const auto path = find_model(base);
    if (!path && wanted.model.empty())
        return Error{display_path(wanted.adapter) + " changes the model " + in_quotes(base) +
                     ", which is not on this computer; get it, or name a folder that holds it with --model."};
    if (!path) return path.error();
    const bool same =
        open && open->adapter && open->path == *path && open->adapter->info().folder == wanted.adapter;
    if (same && open->adapter->unchanged() && open->store->check_unchanged())
        return open->at_strength(wanted.strength);
    return Model::open(*path, cancel, progress, model_name(*path),
                       std::make_shared<Adapter>(std::move(adapter)));
}

}  // namespace

Result<std::shared_ptr<const Model>> open_model(const std::string& path_or_name, const CancelFlag* cancel,
                                                OpeningProgress* progress,
                                                const std::shared_ptr<const Model>& open) {
    TRY(const auto adapted, read_adapted(path_or_name));
    if (adapted) return open_adapted(*adapted, cancel, progress, open);
    TRY(const fs::path path, find_model(path_or_name));
    return Model::open(path, cancel, progress, model_name(path));
}

namespace {

/// Returns the repository of a path in a cache of the hub; "" for any other path.
std::string repository_in(const fs::path& path) {
    for (const fs::path& part : path)
        if (part.string().starts_with("models--")) return hub_repository(part.string());
    return "";
}

}  // namespace

std::string name_in_path(const fs::path& path) {
    if (const std::string address = path.string(); is_engine_address(address)) return engine_name(address);
    if (const auto adapted = read_adapted(path.string()); adapted && *adapted) {
        const auto& [model, adapter, strength] = **adapted;
        return (model.empty() ? "" : name_in_path(model) + " + ") + adapter_name(adapter, strength);
    }
    if (std::string named = repository_in(path); !named.empty()) return named;
    const fs::path itself = path.has_filename() ? path : path.parent_path();
    return itself.extension() == ".gguf" ? gguf_name(itself) : itself.filename().string();
}

std::string model_name(const fs::path& path) {
    std::error_code ignored;
    if (const auto adapted = read_adapted(path.string()); adapted && *adapted) return name_in_path(path);
    const fs::path typed = fs::absolute(path, ignored).lexically_normal();
    if (std::string named = repository_in(typed); !named.empty()) return named;
    if (path.filename().string().starts_with("sha256-")) {
        Found out;
        find_ollama(out);
        for (const FoundModel& m : out)
            if (m.path == path) return m.name;
    }
    return name_in_path(fs::weakly_canonical(path, ignored));
}

}  // namespace headlight
