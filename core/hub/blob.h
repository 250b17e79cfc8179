// One file of a repository on its way into the cache.
#pragma once

#include <filesystem>
#include <string>

#include "hub/fetch.h"
#include "io/http.h"

namespace headlight {

/// What the files of one fetch share.
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

/// Why the hub did not give something: a sentence that says what helps.
Error hub_refusal(const HttpAnswer& answer, const std::string& endpoint, const std::string& what,
                  const std::string& repository);

/// Asks for the size and the hash of a file of which the list said neither.
Result<HubFile> ask_of_file(HubTransfer& transfer, const HubFile& file);

/// Puts the file into the cache, unless it is there: its blob, checked, and the snapshot's link to it. Its
/// size and hash are known.
Status fetch_file(HubTransfer& transfer, const HubFile& file);

}  // namespace headlight
