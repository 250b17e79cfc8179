// Chooses the files of a repository that a model needs.
#include "hub/files.h"

#include <algorithm>

#include "base/memory.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/gguf_parts.h"
#include "io/json.h"
#include "model/loading/weights.h"

namespace headlight {

namespace {

constexpr size_t kMaxFiles = 20'000, kLongestFileName = 500;
constexpr int64_t kLargestFile = int64_t{1} << 40;

/// Requires that a name stays within the repository's folder, whatever the server says.
bool is_safe(const std::string& name) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '\\'; };
    if (name.empty() || name.size() > kLongestFileName || name.front() == '/' || name.back() == '/' ||
        !is_valid_utf8(name) || std::any_of(name.begin(), name.end(), control))
        return false;
    const std::string within = "/" + name + "/";
    for (const char* part : {"/../", "/./", "//"})
        if (within.find(part) != std::string::npos) return false;
    return true;
}

/// Reads a file of the list; large files (LFS) are identified by their SHA-256.
Result<HubFile> read_hub_file(const Json& json, const std::string& from) {
    HubFile out;
    if (!json.is_object()) return Error{from + " lists a file that is not an object; try again later."};
    TRY(out.name, json_string(json, "rfilename", "", from));
    if (!is_safe(out.name))
        return Error{from + " lists a file called " + in_quotes(shortened(out.name)) +
                     ", which would lie outside its folder; do not use this repository."};
    TRY(const Json lfs, json_object(json, or_null("lfs"), from));
    const Json& of_size = lfs.contains("size") ? lfs : json;
    TRY(out.size, json_integer(of_size, or_null("size"), -1, 0, kLargestFile, from));
    TRY(const std::string blob, json_string(json, or_null("blobId"), "", from));
    TRY(out.hash, json_string(lfs, or_null("sha256"), lfs.empty() ? blob : "", from));
    if (!out.hash.empty() && !is_hub_hash(out.hash))
        return Error{from + " gives " + in_quotes(shortened(out.hash)) + " as the hash of " +
                     in_quotes(shortened(out.name)) + ", which is none; try again later."};
    return out;
}

bool is_gguf_file(const HubFile& file) { return file.name.ends_with(".gguf"); }

/// Returns "a-Q4_K_M.gguf (4.9 GB), a-Q8_0.gguf (8.5 GB)", as many as fit a message.
std::string names_of(const std::vector<HubFile>& files) {
    constexpr size_t kMax = 6;
    std::string out;
    for (size_t i = 0; i < std::min(files.size(), kMax); ++i)
        out += (i ? ", " : "") + shortened(files[i].name, 60) +
               (files[i].size < 0 ? "" : " (" + short_bytes(files[i].size) + ")");
    return out + (files.size() > kMax ? " and " + std::to_string(files.size() - kMax) + " more" : "");
}

/// Returns a file with the other parts of its model.
Result<std::vector<HubFile>> gguf_with_parts(const HubListing& listing, const HubFile& file) {
    const auto part = parse_gguf_part(file.name);
    if (!part) return std::vector{file};
    std::vector<HubFile> out;
    for (int i = 1; i <= part->count; ++i) {
        const HubFile* one = listing.find(part->sibling(i));
        if (!one)
            return Error{shortened(file.name) + " is one of " + std::to_string(part->count) +
                         " parts, of which the repository lacks " + in_quotes(shortened(part->sibling(i))) +
                         "; choose another file."};
        out.push_back(*one);
    }
    return out;
}

/// Returns the GGUF file meant: the only one, or the one whose name contains this; of parts the first.
Result<std::vector<HubFile>> choose_gguf(const HubListing& listing, const std::string& part,
                                         const std::string& repository) {
    std::vector<HubFile> all, meant;
    for (const HubFile& file : listing.files) {
        if (!is_gguf_file(file)) continue;
        if (file.name == part) return gguf_with_parts(listing, file);
        if (const auto piece = parse_gguf_part(file.name); piece && piece->number > 1) continue;
        all.push_back(file);
        if (lower_case(file.name).find(lower_case(part)) != std::string::npos) meant.push_back(file);
    }
    if (all.empty())
        return Error{repository + " has no GGUF file; leave --gguf out to fetch its safetensors."};
    if (meant.size() == 1) return gguf_with_parts(listing, meant[0]);
    return Error{repository +
                 (meant.empty() ? " has no GGUF file with " + in_quotes(shortened(part)) + " in its name"
                                : " has several GGUF files") +
                 "; choose one with --gguf: " + names_of(meant.empty() ? all : meant) + "."};
}

/// Returns the folder of config.json and weights: the top, or the transformer's folder of an older
/// sentence-transformers model, "0_Transformer/".
std::string folder_of_model(const HubListing& listing) {
    if (listing.find("config.json") || !listing.find("modules.json")) return "";
    for (const HubFile& file : listing.files) {
        const size_t slash = file.name.find('/');
        if (slash == std::string::npos || file.name.substr(slash + 1) != "config.json") continue;
        const std::string folder = file.name.substr(0, slash + 1);
        for (const char* weights : {"model.safetensors", "model.safetensors.index.json"})
            if (listing.find(folder + weights)) return folder;
    }
    return "";
}

/// Adds the first complete set of tokenizer files, in the order in which they are tried.
void add_tokenizer(const HubListing& listing, const std::string& folder, std::vector<HubFile>& out) {
    static const std::vector<std::vector<std::string>> sets{{"tokenizer.json"},
                                                            {"source.spm", "target.spm", "vocab.json"},
                                                            {"tokenizer.model"},
                                                            {"spiece.model"},
                                                            {"sentencepiece.bpe.model"},
                                                            {"vocab.json", "merges.txt"},
                                                            {"vocab.txt"}};
    for (const auto& set : sets) {
        const auto there = [&](const std::string& name) { return listing.find(folder + name) != nullptr; };
        if (!std::all_of(set.begin(), set.end(), there)) continue;
        for (const std::string& name : set) out.push_back(*listing.find(folder + name));
        return;
    }
}

bool has_pickle(const HubListing& listing, const std::string& folder) {
    return listing.find(folder + "pytorch_model.bin") ||
           listing.find(folder + "pytorch_model.bin.index.json");
}

bool has_safetensors(const HubListing& listing, const std::string& folder) {
    return listing.find(folder + "model.safetensors") ||
           listing.find(folder + "model.safetensors.index.json");
}

Error no_weights(const HubListing& listing, const std::string& folder, const std::string& repository) {
    if (has_pickle(listing, folder))
        return Error{repository +
                     " holds its weights as a Python pickle, which Headlight does not read, and no "
                     "safetensors of the same were found; its page may name a revision that has them "
                     "(--revision refs/pr/1 for example)."};
    return Error{repository +
                 " has no model.safetensors, no index of shards and no GGUF file at this revision, so "
                 "Headlight cannot open it; choose another model."};
}

}  // namespace

const HubFile* HubListing::find(std::string_view name) const {
    const auto it =
        std::find_if(files.begin(), files.end(), [&](const HubFile& f) { return f.name == name; });
    return it == files.end() ? nullptr : &*it;
}

bool is_hub_hash(std::string_view text) {
    const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return (text.size() == 40 || text.size() == 64) && std::all_of(text.begin(), text.end(), digit);
}

Result<HubListing> parse_hub_listing(std::string_view json, const std::string& repository) {
    const std::string from = "The hub's answer about " + repository;
    TRY(const Json root, parse_json(json, from));
    if (!root.is_object()) return Error{from + " is not an object; check HF_ENDPOINT, or try again later."};
    HubListing out;
    TRY(out.commit, json_string(root, "sha", "", from));
    if (out.commit.size() != 40 || !is_hub_hash(out.commit))
        return Error{from + " names no commit; check HF_ENDPOINT, or try again later."};
    TRY(const Json files, json_list(root, "siblings", from));
    if (files.size() > kMaxFiles)
        return Error{from + " lists more than " + std::to_string(kMaxFiles) +
                     " files; choose another model."};
    for (const Json& file : files) {
        TRY(HubFile read, read_hub_file(file, from));
        out.files.push_back(std::move(read));
    }
    return out;
}

Result<std::vector<HubFile>> choose_hub_files(const HubListing& listing, const std::string& gguf,
                                              const std::string& repository) {
    if (!gguf.empty()) return choose_gguf(listing, gguf, repository);
    const std::string folder = folder_of_model(listing);
    const HubFile *whole = listing.find(folder + "model.safetensors"),
                  *index = listing.find(folder + "model.safetensors.index.json"),
                  *config = listing.find(folder + "config.json");
    if (!config || (!whole && !index)) {
        if (std::any_of(listing.files.begin(), listing.files.end(), is_gguf_file))
            return choose_gguf(listing, "", repository);
        return no_weights(listing, folder, repository);
    }
    std::vector<HubFile> out{*config};
    for (const char* name : {"generation_config.json", "preprocessor_config.json", "tokenizer_config.json",
                             "special_tokens_map.json", "added_tokens.json"})
        if (const HubFile* file = listing.find(folder + name)) out.push_back(*file);
    if (!folder.empty()) out.push_back(*listing.find("modules.json"));
    add_tokenizer(listing, folder, out);
    out.push_back(whole ? *whole : *index);
    return out;
}

Result<std::vector<HubFile>> choose_hub_shards(const HubListing& listing, const std::string& index,
                                               std::string_view text) {
    const std::string folder = index.substr(0, index.find_last_of('/') + 1);
    TRY(const std::vector<std::string> names, shard_names(text, index));
    std::vector<HubFile> out;
    for (const std::string& name : names) {
        const HubFile* file = listing.find(folder + name);
        if (!file)
            return Error{index + " names the shard " + in_quotes(shortened(name)) +
                         ", which the repository does not have; choose another revision."};
        out.push_back(*file);
    }
    return out;
}

bool is_only_pickled(const HubListing& listing) {
    const std::string folder = folder_of_model(listing);
    return has_pickle(listing, folder) && !has_safetensors(listing, folder) &&
           std::none_of(listing.files.begin(), listing.files.end(), is_gguf_file);
}

bool has_same_pickles(const HubListing& a, const HubListing& b) {
    return std::all_of(a.files.begin(), a.files.end(), [&](const HubFile& file) {
        const size_t begin = file.name.find_last_of('/') + 1;
        if (file.name.compare(begin, 13, "pytorch_model") != 0) return true;
        const HubFile* other = b.find(file.name);
        return other && (file.hash.empty() || other->hash.empty() || file.hash == other->hash);
    });
}

std::vector<int> HubConversions::all() const {
    std::vector<int> out = open;
    out.insert(out.end(), closed.begin(), closed.end());
    return out;
}

Result<bool> add_hub_conversions(std::string_view json, const std::string& repository,
                                 HubConversions& found) {
    constexpr int64_t kMax = 1'000'000;
    const std::string from = "The hub's answer about the pull requests of " + repository;
    TRY(const Json root, parse_json(json, from));
    if (!root.is_object()) return Error{from + " is not an object; try again later."};
    TRY(const Json page, json_list(root, "discussions", from));
    for (const Json& one : page) {
        if (!one.is_object()) return Error{from + " lists one that is not an object; try again later."};
        TRY(const Json author, json_object(one, or_null("author"), from));
        TRY(const std::string name, json_string(author, or_null("name"), "", from));
        TRY(const std::string title, json_string(one, or_null("title"), "", from));
        TRY(const std::string status, json_string(one, or_null("status"), "", from));
        TRY(const bool is_pull, json_boolean(one, or_null("isPullRequest"), false, from));
        TRY(const int64_t number, json_integer(one, "num", 0, 0, kMax, from));
        if (!is_pull || number == 0 || name != kHubConverter || title != kHubConversion) continue;
        if (status == "open" || status == "closed")
            (status == "open" ? found.open : found.closed).push_back(static_cast<int>(number));
    }
    TRY(const int64_t count, json_integer(root, "count", 0, 0, kMax, from));
    TRY(const int64_t start, json_integer(root, "start", 0, 0, kMax, from));
    return !page.empty() && start + std::ssize(page) < count;
}

}  // namespace headlight
