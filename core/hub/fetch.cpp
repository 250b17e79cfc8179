// Downloads models from the Hugging Face hub.
#include "hub/fetch.h"

#include <sys/statvfs.h>

#include <optional>

#include "base/memory.h"
#include "base/quoted.h"
#include "hub/blob.h"
#include "hub/library.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kLargestListing = 32 << 20, kMaxBytes = int64_t{1} << 42;

Result<HubListing> ask_for_files(HttpClient& client, const HubPlace& place, const HubName& name,
                                 const CancelFlag* cancel) {
    const std::string url = place.endpoint + "/api/models/" + name.repository + "/revision/" +
                            url_part(name.revision) + "?blobs=true";
    std::string body;
    TRY(const HttpAnswer answer,
        client.get_text({url, place.token, false, 0, kLargestListing, cancel}, body));
    if (!answer.cut.empty())
        return Error{place.endpoint + " does not answer (" + answer.cut +
                     "); check the network, and https_proxy where there is a proxy."};
    if (!answer.ok()) return hub_refusal(answer, place.endpoint, name.repository, name.repository);
    return parse_hub_listing(body, name.repository);
}

/// Lists pull requests that may offer the weights as safetensors. Ignores unreadable ones.
Result<HubConversions> ask_for_conversions(HttpClient& client, const HubPlace& place,
                                           const std::string& repository, const CancelFlag* cancel) {
    constexpr int kMaxPages = 5;
    HubConversions found;
    for (int page = 0; page < kMaxPages; ++page) {
        const std::string url = place.endpoint + "/api/models/" + repository +
                                "/discussions?type=pull_request&author=" + kHubConverter +
                                "&p=" + std::to_string(page);
        std::string body;
        TRY(const HttpAnswer answer,
            client.get_text({url, place.token, false, 0, kLargestListing, cancel}, body));
        if (!answer.cut.empty() || !answer.ok()) break;
        const Result<bool> more = add_hub_conversions(body, repository, found);
        if (!more || !*more) break;
    }
    return found;
}

struct ListedRevision {
    std::string revision;
    HubListing listing;
};

/// Finds the hub converter's safetensors of `main`; nothing if none is of the same pickles.
Result<std::optional<ListedRevision>> find_conversion(HttpClient& client, const HubPlace& place,
                                                      const std::string& repository, const HubListing& main,
                                                      const CancelFlag* cancel) {
    constexpr int kMaxTried = 4;
    TRY(const HubConversions offered, ask_for_conversions(client, place, repository, cancel));
    std::vector<int> numbers = offered.all();
    if (isize(numbers) > kMaxTried) numbers.resize(kMaxTried);
    for (const int number : numbers) {
        const HubName name{repository, "refs/pr/" + std::to_string(number)};
        Result<HubListing> listing = ask_for_files(client, place, name, cancel);
        if (!listing && listing.error().cancelled) return listing.error();
        if (listing && has_same_pickles(main, *listing) && choose_hub_files(*listing, "", repository))
            return std::optional(ListedRevision{name.revision, *std::move(listing)});
    }
    return std::optional<ListedRevision>();
}

int64_t missing_bytes(const HubTransfer& t, const HubFile& file) {
    std::error_code none, error;
    const fs::path blob = t.blob(file), part = blob.string() + ".incomplete";
    if (fs::is_regular_file(blob, none)) return 0;
    const auto have = fs::file_size(part, error);
    return error ? file.size : std::max<int64_t>(0, file.size - static_cast<int64_t>(have));
}

/// Fails in advance if the disk has too little space.
Status check_room(const HubTransfer& t, const std::vector<HubFile>& files) {
    int64_t needed = 0, all = 0;
    for (const HubFile& file : files) {
        needed += missing_bytes(t, file);
        all += file.size;
        if (all > kMaxBytes)
            return Error{t.repository + " is said to have more than " + short_bytes(kMaxBytes) +
                         ", which no model has; choose another one."};
    }
    struct statvfs disk {};
    std::error_code problem;
    fs::create_directories(t.folder(), problem);
    if (problem || statvfs(t.folder().c_str(), &disk) != 0) return success();  // writing will report it
    const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
    if (needed <= free) return success();
    return Error{t.repository + " needs " + short_bytes(needed) + ", and " + display_path(t.cache) + " has " +
                 short_bytes(free) + " free; free some space, or set HF_HUB_CACHE to another folder."};
}

/// Completes sizes and hashes, and checks disk space.
Status prepare(HubTransfer& t, std::vector<HubFile>& files) {
    for (HubFile& file : files)
        if (file.size < 0 || file.hash.empty()) {
            TRY(file, request_file_info(t, file));
        }
    TRY_STATUS(check_room(t, files));
    for (const HubFile& file : files) t.progress.total += file.size;
    return success();
}

/// Writes refs/main → the commit, so that the name finds the snapshot.
Status write_ref(const HubTransfer& t, const std::string& revision) {
    if (revision == t.commit) return success();
    const fs::path ref = t.folder() / "refs" / revision;
    std::error_code problem;
    fs::create_directories(ref.parent_path(), problem);
    if (problem)
        return Error{display_path(ref) + " cannot be written (" + problem.message() + "): check its folder."};
    return write_file(ref, t.commit);
}

Status fetch_all(HubTransfer& t, const HubListing& listing, std::vector<HubFile>& files) {
    TRY_STATUS(prepare(t, files));
    for (const HubFile& file : files) TRY_STATUS(fetch_file(t, file));
    const std::string index = files.back().name;
    if (!index.ends_with(".index.json")) return success();
    TRY(const auto text, MappedFile::open(t.link(files.back())));
    TRY(std::vector<HubFile> shards, choose_hub_shards(listing, index, text->text()));
    TRY_STATUS(prepare(t, shards));
    for (const HubFile& shard : shards) TRY_STATUS(fetch_file(t, shard));
    files.insert(files.end(), shards.begin(), shards.end());
    return success();
}

}  // namespace

Result<Fetched> fetch_model(const FetchRequest& request, FetchProgress& progress, const CancelFlag* cancel) {
    TRY(const HubPlace place, hub_place());
    TRY(const auto client, HttpClient::open());
    const std::string& repository = request.name.repository;
    progress.begin("asking the hub");
    ListedRevision from{request.name.revision, {}};
    TRY(from.listing, ask_for_files(*client, place, request.name, cancel));
    Fetched out;
    if (request.gguf.empty() && from.revision == "main" && is_only_pickled(from.listing)) {
        TRY(auto converted, find_conversion(*client, place, repository, from.listing, cancel));
        if (converted) {
            from = *std::move(converted);
            out.note = repository +
                       " holds its weights as a Python pickle; these are the safetensors that the hub's "
                       "converter made of it, revision " +
                       from.revision + ".";
        }
    }
    TRY(out.files, choose_hub_files(from.listing, request.gguf, repository));
    HubTransfer transfer{*client, place, repository, from.listing.commit, hub_cache(), progress, cancel};
    TRY_STATUS(fetch_all(transfer, from.listing, out.files));
    TRY_STATUS(write_ref(transfer, from.revision));
    out.path = out.files[0].name.ends_with(".gguf") ? transfer.link(out.files[0])
                                                    : transfer.folder() / "snapshots" / transfer.commit;
    out.revision = from.revision;
    out.commit = transfer.commit;
    out.received = transfer.received;
    return out;
}

}  // namespace headlight
