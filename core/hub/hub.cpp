// Resolves names, environment and cache of the hub.
#include "hub/hub.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "base/quoted.h"
#include "io/folder.h"
#include "io/gguf_parts.h"
#include "io/http.h"
#include "io/regular_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestHubName = 200, kLongestToken = 4096;

/// Accepts 1, ON, YES and TRUE, in upper or lower case.
bool is_on(const char* name) {
    std::string value = environment_text(name);
    for (char& c : value) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

/// Expands a leading ~, $NAME and ${NAME} as a shell does; keeps the names of unset variables.
fs::path expanded(const std::string& text) {
    std::string out;
    size_t i = 0;
    if (text == "~" || text.starts_with("~/")) {
        out = environment_text("HOME");
        i = 1;
    }
    while (i < text.size()) {
        const bool braces = text.compare(i, 2, "${") == 0;
        const size_t begin = i + (braces ? 2 : 1);
        size_t end = begin;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
            ++end;
        const std::string name = text.substr(std::min(begin, text.size()), end - begin);
        const char* value = text[i] == '$' && !name.empty() ? std::getenv(name.c_str()) : nullptr;
        if (!value || (braces && (end == text.size() || text[end] != '}'))) {
            out += text[i++];
            continue;
        }
        out += value;
        i = end + (braces ? 1 : 0);
    }
    return out;
}

fs::path hugging_face_home() {
    if (const std::string home = environment_text("HF_HOME"); !home.empty()) return expanded(home);
    const std::string caches = environment_text("XDG_CACHE_HOME");
    return expanded(caches.empty() ? "~/.cache" : caches) / "huggingface";
}

bool is_name_part(std::string_view part) {
    const auto allowed = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
    };
    return !part.empty() && part.front() != '.' && part.front() != '-' &&
           part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos &&
           std::all_of(part.begin(), part.end(), allowed);
}

bool is_revision(std::string_view text) {
    const auto plain = [](char c) { return c > ' ' && c < 0x7f && c != '\\'; };
    const bool leaves = ("/" + std::string(text) + "/").find("/../") != std::string::npos;
    return !text.empty() && text.size() <= kLongestHubName && text.front() != '/' && text.back() != '/' &&
           !leaves && text.find("//") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), plain);
}

/// Removes the hub's address from a model's, and "/tree/REVISION" from its end.
std::string without_address(std::string text, std::string& revision) {
    const size_t scheme = text.find("://");
    if (scheme == std::string::npos) return text;
    const size_t path = text.find('/', scheme + 3);
    text = path == std::string::npos ? "" : text.substr(path + 1);
    text = text.substr(0, text.find_first_of("?#"));
    if (const size_t tree = text.find("/tree/"); tree != std::string::npos) {
        revision = text.substr(tree + 6);
        text.resize(tree);
    }
    while (!text.empty() && text.back() == '/') text.pop_back();
    return text;
}

}  // namespace

Result<HubName> parse_hub_name(const std::string& given, const std::string& revision) {
    HubName out;
    const size_t begin = given.find_first_not_of(" \t\n"), end = given.find_last_not_of(" \t\n");
    const std::string text = begin == std::string::npos ? "" : given.substr(begin, end + 1 - begin);
    std::string name = without_address(text, out.revision);
    if (const size_t at = name.find('@'); at != std::string::npos) {
        out.revision = name.substr(at + 1);
        name.resize(at);
    }
    if (!revision.empty()) out.revision = revision;
    const size_t slash = name.find('/');
    const std::string_view owner = std::string_view(name).substr(0, std::min(slash, name.size()));
    const bool named = name.size() <= kLongestHubName && is_name_part(owner) &&
                       (slash == std::string::npos || is_name_part(std::string_view(name).substr(slash + 1)));
    if (!named)
        return Error{in_quotes(shortened(text)) +
                     " is not the name of a model on the Hugging Face hub; write it as on its page, "
                     "openai-community/gpt2 for example."};
    if (!is_revision(out.revision))
        return Error{in_quotes(shortened(out.revision)) +
                     " is not a revision; give a branch, a tag or a commit, main for example."};
    out.repository = name;
    return out;
}

namespace {

/// Strips the line end from the token's file or variable.
std::string clean_token(std::string text) {
    std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
    const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

std::string given_token() {
    if (is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return "";
    for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
        if (std::string token = clean_token(environment_text(name)); !token.empty()) return token;
    const std::string path = environment_text("HF_TOKEN_PATH");
    return clean_token(
        beginning_of(path.empty() ? hugging_face_home() / "token" : expanded(path), kLongestToken + 1));
}

}  // namespace

Result<HubPlace> hub_place() {
    for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
        if (is_on(name))
            return Error{std::string(name) +
                         " is set, which forbids to ask the hub; unset it to fetch a model."};
    HubPlace out;
    out.endpoint = environment_text("HF_ENDPOINT");
    if (out.endpoint.empty()) out.endpoint = "https://huggingface.co";
    while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
    if (http_origin(out.endpoint).empty())
        return Error{"HF_ENDPOINT is " + in_quotes(shortened(out.endpoint)) +
                     ", which is not an address; write https://huggingface.co or unset it."};
    out.token = given_token();
    const auto plain = [](char c) { return c > ' ' && c < 0x7f; };
    if (out.token.size() > kLongestToken || !std::all_of(out.token.begin(), out.token.end(), plain))
        return Error{
            "The token (HF_TOKEN, or the file that huggingface_hub keeps) has characters that no token "
            "has; correct it, or unset it."};
    return out;
}

fs::path hub_cache() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
        if (const std::string path = environment_text(name); !path.empty()) return expanded(path);
    return hugging_face_home() / "hub";
}

fs::path hub_folder(const fs::path& cache, const std::string& repository) {
    std::string name = "models--" + repository;
    if (const size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
    return cache / name;
}

std::string hub_repository(std::string folder) {
    folder.erase(0, std::string("models--").size());
    const size_t between = folder.find("--");
    return between == std::string::npos ? folder : folder.replace(between, 2, "/");
}

namespace {

bool has_safetensors(const fs::path& snapshot) {
    std::error_code ignored;
    return fs::exists(snapshot / "model.safetensors", ignored) ||
           fs::exists(snapshot / "model.safetensors.index.json", ignored);
}

/// Returns the snapshot of exactly this revision. Empty: none.
fs::path named_snapshot(const fs::path& folder, const std::string& revision) {
    constexpr size_t kLongestRef = 256;
    std::istringstream ref(beginning_of(folder / "refs" / revision, kLongestRef));
    std::string commit;
    ref >> commit;
    std::error_code ignored;
    for (const std::string& name : {commit, revision})
        if (!name.empty() && fs::is_directory(folder / "snapshots" / name, ignored))
            return folder / "snapshots" / name;
    return {};
}

/// Returns the hub converter's snapshot of a pickle (fetch_model). Empty: none.
fs::path converted_snapshot(const fs::path& folder) {
    for (const fs::path& ref : folder_entries(folder / "refs/refs/pr"))
        if (fs::path found = named_snapshot(folder, "refs/pr/" + ref.filename().string());
            has_safetensors(found))
            return found;
    return {};
}

}  // namespace

fs::path hub_snapshot(const fs::path& folder, const std::string& revision) {
    const fs::path named = named_snapshot(folder, revision);
    if (revision != "main" || has_safetensors(named)) return named;
    if (const fs::path converted = converted_snapshot(folder); !converted.empty()) return converted;
    if (!named.empty()) return named;
    const auto snapshots = folder_entries(folder / "snapshots");
    const auto last = std::find_if(snapshots.rbegin(), snapshots.rend(),
                                   [](const fs::path& snapshot) { return !hub_model(snapshot).empty(); });
    return last != snapshots.rend() ? *last : snapshots.empty() ? fs::path() : snapshots.back();
}

fs::path hub_model(const fs::path& snapshot) {
    if (snapshot.empty()) return {};
    std::error_code ignored;
    for (const char* name : {"config.json", "modules.json"})
        if (fs::exists(snapshot / name, ignored)) return snapshot;
    std::vector<fs::path> files = folder_entries(snapshot);
    std::erase_if(files, [](const fs::path& file) {
        return file.extension() != ".gguf" || gguf_part_paths(file)[0] != file;
    });
    return files.size() == 1 ? files[0] : fs::path();
}

fs::path out_of_hub_cache(const fs::path& path) {
    std::error_code ignored;
    for (const char* own : {"config.json", "modules.json"})
        if (fs::exists(path / own, ignored)) return path;
    const fs::path model = fs::is_directory(path / "snapshots", ignored) ? hub_model(hub_snapshot(path)) : "";
    return model.empty() ? path : model;
}

const std::vector<HubSuggestion>& hub_suggestions() {
    static const std::vector<HubSuggestion> table{
        {"openai-community/gpt2", "GPT-2: 12 layers of 12 heads", 550'000'000},
        {"EleutherAI/pythia-70m", "Pythia 70M: the smallest of a series", 168'000'000},
        {"HuggingFaceTB/SmolLM2-135M", "SmolLM2 135M: a small Llama", 271'000'000},
        {"Qwen/Qwen3-0.6B", "Qwen3 0.6B: shared key/value heads", 1'515'000'000},
        {"sentence-transformers/all-MiniLM-L6-v2", "MiniLM: an encoder for sentences", 91'500'000},
        {"Helsinki-NLP/opus-mt-en-de", "opus-mt: English to German", 301'000'000}};
    return table;
}

}  // namespace headlight
