// Downloads one file of a repository into the cache.
#pragma once

#include <filesystem>
#include <string>

#include "hub/fetch.h"
#include "io/http.h"

namespace headlight {

struct HubTransfer {
    HttpClient& client;
    HubPlace place;
    std::string repository, commit;
    std::filesystem::path cache;
    FetchProgress& progress;
    const CancelFlag* cancel;
    int64_t received = 0;

    std::filesystem::path folder() const { return hub_folder(cache, repository); }
    std::filesystem::path blob(const HubFile& file) const { return folder() / "blobs" / file.hash; }
    std::filesystem::path link(const HubFile& file) const {
        return folder() / "snapshots" / commit / file.name;
    }
};

/// Explains a refusal of the hub and its remedy.
Error hub_refusal(const HttpAnswer& answer, const std::string& endpoint, const std::string& what,
                  const std::string& repository);

/// Requests the size and hash of a file that the list omitted.
Result<HubFile> request_file_info(HubTransfer& transfer, const HubFile& file);

/// Puts a file of known size and hash into the cache, unless it exists: its verified blob, and a link to it.
Status fetch_file(HubTransfer& transfer, const HubFile& file);

}  // namespace headlight
